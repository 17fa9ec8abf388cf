import { type CacheExchangeOpts, cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';

const isEmbedded = () => null;

/**
 * The keys of objects whose key is not their `id`: a name for those of which there is one, null for those that belong to the
 * object that they were read from. All other objects are found by their `id`.
 */
export const KEYS = {
  Service: () => 'service',
  Limits: () => 'limits',
  History: () => 'history',
  Fleet: () => 'fleet',
  UpstreamStatus: ({ upstream }) => (typeof upstream === 'string' ? upstream : null),
  MarketDataReading: isEmbedded,
  BeaconBlock: isEmbedded,
  ValidationData: isEmbedded,
  PriceUpdate: isEmbedded,
  OrderBookEntry: isEmbedded,
  OrderBookQuality: isEmbedded,
  // Each head has an id of its own. As objects of the cache, they would be there until the page is closed.
  Head: isEmbedded,
  PoolDepth: isEmbedded,
  DepthLadder: isEmbedded,
  LadderLevel: isEmbedded,
  Divergence: isEmbedded,
  Quote: isEmbedded,
  QuoteStep: isEmbedded,
  Candle: isEmbedded,
  PriceChange: isEmbedded,
  PriceCrossing: isEmbedded,
  HeightRange: isEmbedded,
} satisfies CacheExchangeOpts['keys'];

/** Creates the cache of all answers: what a subscription brings changes every panel that shows the same object. */
export function createCache() {
  return cacheExchange({
    keys: KEYS,
    resolvers: { Query: { poolPairs: relayPagination() }, Token: { poolPairs: relayPagination() } },
  });
}
