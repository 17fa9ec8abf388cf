import { type CacheExchangeOpts, cacheExchange, type Resolver } from '@urql/exchange-graphcache';
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
  PoolBook: isEmbedded,
  PoolDepth: isEmbedded,
  DepthLadder: isEmbedded,
  LadderLevel: isEmbedded,
  Divergence: isEmbedded,
  Quote: isEmbedded,
  QuoteFee: isEmbedded,
  QuoteStep: isEmbedded,
  Candle: isEmbedded,
  PriceChange: isEmbedded,
  PriceCrossing: isEmbedded,
  HeightRange: isEmbedded,
  ExchangeParams: isEmbedded,
  TradesUpdate: isEmbedded,
  PoolVolume: isEmbedded,
} satisfies CacheExchangeOpts['keys'];

/**
 * A field without a value in the cache is null. The cache stores nothing for a field that has failed. To it, each query with such a
 * field would be incomplete, and would have to be requested again at each update. Without a history, that is each price change.
 */
const orNull: Resolver = (_parent, args, cache, { parentKey, fieldName }) =>
  (cache.resolve(parentKey, fieldName, args) as string | undefined) ?? null;

/** Creates the cache of all answers: what a subscription brings changes every panel that shows the same object. */
export function createCache() {
  return cacheExchange({
    keys: KEYS,
    resolvers: {
      Query: { poolPairs: relayPagination() },
      Token: { poolPairs: relayPagination() },
      Pair: { change: orNull },
      PoolPair: { change: orNull, volume: orNull, trades: orNull },
      Ticker: { tradedPrice: orNull },
    },
  });
}
