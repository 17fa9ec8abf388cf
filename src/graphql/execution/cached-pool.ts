import type { PoolPair } from '../../domain/pool-pair.ts';
import { type Context, createContext } from '../context.ts';
import type { Shape } from './shapes.ts';

/** Maximum length of the cached JSON of a pool. With all its fields, a pool has about 600 characters. */
const MAX_CACHED_LENGTH = 8_192;

/**
 * The JSON of a pool, from the cache beside its state or written now. A pool is on many pages and in many updates, and one
 * shape of selections is the same text in all of them.
 *
 * @param write writes the pool for a context; `undefined` if there is an error or a promise in it
 * @returns `undefined` if the pool has to be written for this response only
 */
export function writeCachedPool(
  shape: Shape,
  source: object,
  context: Context,
  write: (context: Context) => string | undefined,
): string | undefined {
  const pool = source as PoolPair;
  const { loaders, service } = context;
  const { sources } = service;
  // Each text belongs to the token list that is served. A response with an earlier one writes its pools itself.
  if (sources.tokens.service !== undefined && !loaders.tokens.isCurrent()) return undefined;
  const cache = sources.pools.jsonOf(pool);
  const cached = cache?.get(shape, pool);
  if (cached !== undefined && (cached.validity === undefined || loaders.canInclude(cached.validity)))
    return cached.text;

  const newest = sources.head.current();
  if (cache === undefined || newest === undefined) return undefined;
  const { reads } = sources.historyCache;
  if (cache.uncacheable.get(shape) === reads()) return undefined;

  // With loaders of its own, which note everything that the text depends on, and not only what this response has not read yet.
  const own = createContext(service, { head: newest });
  if (cached?.validity !== undefined && own.loaders.canInclude(cached.validity)) return undefined;
  const text = write(own);
  if (text === undefined || text.length > MAX_CACHED_LENGTH || !own.loaders.isTextCacheable()) {
    cache.uncacheable.set(shape, reads());
    return undefined;
  }
  const validity = own.loaders.textValidity();
  cache.set(shape, pool, { text: toFlat(text), validity });
  return validity === undefined || loaders.canInclude(validity) ? text : undefined;
}

/** The same text as one flat string. A concatenated string references all its parts in V8. */
function toFlat(text: string): string {
  return Buffer.from(text).toString();
}
