import { LRUCache } from 'lru-cache';
import type { PoolPair } from '../../domain/pool-pair.ts';
import { type Context, createContext } from '../context.ts';
import { createPartStore, type Part, type PartStore } from './part-store.ts';
import type { ObjectPlan, Written } from './plan.ts';

/**
 * The texts of pools, those of the heights that were asked for last: a pool stands on many pages and in many updates, and
 * by one plan it is written the same each time.
 */
export type Parts = {
  /**
   * The text of an object, written now or before.
   *
   * @param write writes it for a context; `undefined` where something is wrong with it or has to be waited for
   * @returns `undefined` for an object that has to be written as it stands
   */
  write(
    plan: ObjectPlan,
    source: object,
    context: Context,
    write: (context: Context) => string | undefined,
  ): Written | undefined;
};

/** Of how many heights texts are kept: one is the newest, and who goes through the pages of another stays there for a while. */
const MAX_HEIGHTS = 3;

/** How much is kept of one height, in characters: some ten thousand pools with all their fields. */
const MAX_CHARACTERS = 6_000_000;

/** What is kept of one height. */
type PartsOfHeight = {
  readonly kept: PartStore;
  /** Plans of which an object could not be kept: they are not tried again at the same height. */
  readonly unfit: Set<ObjectPlan>;
};

/** Makes the keeper of parts. */
export function createParts(): Parts {
  const heights = new LRUCache<string, PartsOfHeight>({ max: MAX_HEIGHTS });
  let last: { readonly pool: PoolPair; readonly parts: PartsOfHeight } | undefined;

  /** The parts of the height of a pool. Nearly always it is that of the pool before. */
  function partsOf(pool: PoolPair): PartsOfHeight {
    if (last?.pool.beaconHeight === pool.beaconHeight && last.pool.isPinned === pool.isPinned) return last.parts;
    const name = `${pool.beaconHeight}${pool.isPinned ? '@' : ''}`;
    const parts = heights.get(name) ?? { kept: createPartStore(MAX_CHARACTERS), unfit: new Set() };
    heights.set(name, parts);
    last = { pool, parts };
    return parts;
  }

  return {
    write(plan, source, context, write) {
      const pool = source as PoolPair;
      const parts = partsOf(pool);
      const before = parts.kept.get(plan, pool);
      if (before?.isFinal) return before.text;

      const { sources, now } = context.service;
      const newest = sources.head.current();
      if (newest === undefined || parts.unfit.has(plan)) return undefined;
      if (before?.dependencies.areCurrent(now())) return isTaken(before, context) ? before.text : undefined;

      // With loaders of its own, which learn all that it rests on, and not only what the answer has not asked for before.
      const own = createContext(context.service, { head: newest });
      const text = write(own);
      if (text === undefined) {
        parts.unfit.add(plan);
        return undefined;
      }
      const { dependencies, head } = own.loaders;
      const part = { text: toFlat(text), dependencies, isFinal: dependencies.areImmutable(), usesHead: head.isUsed() };
      if (dependencies.areCurrent(now())) parts.kept.set(plan, pool, part);
      return isTaken(part, context) ? text : undefined;
    },
  };
}

/** The same text in one piece: as it was put together, all its pieces would be kept with it. */
function toFlat(text: string): string {
  return Buffer.from(text).toString();
}

/**
 * Makes an answer rest on what a part rests on.
 *
 * @returns whether it may be part of the answer: what the answer has read before must still be what the part was made from
 */
function isTaken({ isFinal, usesHead }: Part, { loaders, service }: Context): boolean {
  if (isFinal) return true;
  if (usesHead) loaders.head.current();
  loaders.market.pairs.current();
  loaders.market.tickers.current();
  return loaders.dependencies.areCurrent(service.now());
}
