import type { PoolPair } from '../../domain/pool-pair.ts';
import type { JsonValidity } from '../../loaders/pool-cache.ts';
import { type Context, createContext } from '../context.ts';
import type { ObjectPlan } from './plan.ts';

/** Maximum length of the cached JSON of a pool. With all its fields, a pool has about 600 characters. */
const MAX_CACHED_LENGTH = 8_192;

/**
 * The JSON of a pool, from the cache beside its state or written now. A pool is on many pages and in many updates, and one
 * plan writes it the same for all of them.
 *
 * @param write writes the pool for a context; `undefined` if there is an error or a promise in it
 * @returns `undefined` if the pool has to be written for this response only
 */
export function writeCachedPool(
  plan: ObjectPlan,
  source: object,
  context: Context,
  write: (context: Context) => string | undefined,
): string | undefined {
  const pool = source as PoolPair;
  const { sources, now } = context.service;
  const cache = sources.pools.jsonOf(pool);
  const cached = cache?.get(plan, pool);
  if (cached !== undefined && cached.validity === undefined) return cached.text;

  const newest = sources.head.current();
  if (cache === undefined || newest === undefined || cache.uncacheable.has(plan)) return undefined;
  if (cached?.validity?.dependencies.areCurrent(now())) return fits(cached.validity, context) ? cached.text : undefined;

  // With loaders of its own, which note everything that the text depends on, and not only what this response has not read yet.
  const own = createContext(context.service, { head: newest });
  const text = write(own);
  if (text === undefined || text.length > MAX_CACHED_LENGTH) {
    cache.uncacheable.add(plan);
    return undefined;
  }
  const { dependencies, head } = own.loaders;
  const validity = dependencies.areImmutable() ? undefined : { dependencies, usesHead: head.isUsed() };
  if (dependencies.areCurrent(now())) cache.set(plan, pool, { text: toFlat(text), validity });
  return validity === undefined || fits(validity, context) ? text : undefined;
}

/** The same text as one flat string. A concatenated string references all its parts in V8. */
function toFlat(text: string): string {
  return Buffer.from(text).toString();
}

/**
 * Adds what the text depends on to what the response depends on.
 *
 * @returns whether the text may be part of the response: what the response has read must be what the text was written from
 */
function fits({ usesHead }: JsonValidity, { loaders, service }: Context): boolean {
  if (usesHead) loaders.head.current();
  loaders.market.pairs.current();
  loaders.market.tickers.current();
  return loaders.dependencies.areCurrent(service.now());
}
