import type { PoolPair } from '../../domain/pool-pair.ts';
import type { Head } from '../../live/head.ts';
import type { Basis } from '../../loaders/basis.ts';
import { type Context, createContext } from '../context.ts';
import type { ObjectPlan, Written } from './plan.ts';

/**
 * The texts of pools, for as long as their head is the newest: a pool stands on many pages and in many updates, and by one
 * plan it is written the same each time.
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

/** A text, and what it rests on beside the head that its pool is of. */
type Part = { readonly text: string; readonly basis: Basis };

/** How much is kept of one head, in characters: some twenty thousand pools with all their fields. */
const MAX_CHARACTERS = 8_000_000;

/** Makes the keeper of parts. */
export function createParts(): Parts {
  let head: Head | undefined;
  let parts = new Map<ObjectPlan, Map<PoolPair, Part>>();
  /** Plans of which an object could not be kept: they are not tried again under the same head. */
  let unfit = new Set<ObjectPlan>();
  let characters = 0;

  /** The parts of a plan; those of an earlier head are let go. */
  function partsOf(plan: ObjectPlan, newest: Head): Map<PoolPair, Part> {
    if (head !== newest) {
      head = newest;
      parts = new Map();
      unfit = new Set();
      characters = 0;
    }
    const known = parts.get(plan) ?? new Map<PoolPair, Part>();
    parts.set(plan, known);
    return known;
  }

  return {
    write(plan, source, context, write) {
      const { sources, now } = context.service;
      const newest = sources.head.current();
      const pool = source as PoolPair & { readonly isPinned?: true };
      if (newest === undefined || pool.beaconHeight !== newest.beaconHeight || pool.isPinned) return undefined;

      const known = partsOf(plan, newest);
      if (unfit.has(plan)) return undefined;
      const before = known.get(pool);
      if (before?.basis.holds(now())) return isTaken(before, context) ? before.text : undefined;

      // With loaders of its own, which learn all that it rests on, and not only what the answer has not asked for before.
      const own = createContext(context.service, { head: newest });
      const text = write(own);
      if (text === undefined) {
        unfit.add(plan);
        return undefined;
      }
      const part = { text, basis: own.loaders.basis };
      const size = text.length - (before?.text.length ?? 0);
      if (part.basis.holds(now()) && characters + size <= MAX_CHARACTERS) {
        known.set(pool, part);
        characters += size;
      }
      return isTaken(part, context) ? text : undefined;
    },
  };
}

/**
 * Makes an answer rest on what a part rests on.
 *
 * @returns whether it may be part of the answer: what the answer has read before must still be what the part was made from
 */
function isTaken({ basis }: Part, { loaders, service }: Context): boolean {
  if (basis.isFinal()) return true;
  loaders.market.pairs.current();
  loaders.market.tickers.current();
  return loaders.basis.holds(service.now());
}
