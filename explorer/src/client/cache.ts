import type { Exchange, Operation, OperationResult } from '@urql/core';
import { type CacheExchangeOpts, cacheExchange, type Resolver } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { filter, map, merge, pipe, tap } from 'wonka';

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
  // Each trade has an id, too.
  Trade: isEmbedded,
} satisfies CacheExchangeOpts['keys'];

/**
 * A field without a value in the cache is null. The cache stores nothing for a field that has failed. To it, each query with such a
 * field would be incomplete, and would have to be requested again at each update. Without a history, that is each price change.
 */
const orNull: Resolver = (_parent, args, cache, { parentKey, fieldName }) =>
  (cache.resolve(parentKey, fieldName, Object.keys(args).length > 0 ? args : null) as string | undefined) ?? null;

/** Creates the cache of all answers: what a subscription brings changes every panel that shows the same object. */
export function createCache(): Exchange {
  const cache = cacheExchange({
    keys: KEYS,
    resolvers: {
      Query: { poolPairs: relayPagination() },
      Token: { poolPairs: relayPagination() },
      Pair: { change: orNull },
      PoolPair: { change: orNull, volume: orNull },
      Divergence: { tradedPrice: orNull, tradedPercent: orNull },
    },
  });
  return repeating(cache);
}

/**
 * A cache that repeats the last answer to a query if it has nothing else. Graphcache reads a query again after each response that
 * shares a field with it, such as `beaconHeight`. If a field of the query has failed, it often neither answers nor sends the query.
 * The client would wait for an answer forever, and drop the next requests of the query.
 */
function repeating(cache: Exchange): Exchange {
  return ({ forward, ...input }) => {
    // All by the keys of the operations.
    const answers = new Map<number, OperationResult>();
    const sent = new Set<number>();
    /** The last answers to the queries that the cache has now neither answered nor sent. */
    const unanswered = new Map<number, OperationResult>();

    /** Graphcache listens twice, so each operation comes twice: a query that is sent meanwhile is not repeated. */
    function receive({ kind, key }: Operation): void {
      const last = answers.get(key);
      if (kind === 'query' && last !== undefined && !sent.has(key)) unanswered.set(key, { ...last, stale: false });
      if (kind === 'teardown') for (const byKey of [answers, sent, unanswered]) byKey.delete(key);
    }

    function send({ kind, key }: Operation): void {
      unanswered.delete(key);
      if (kind === 'query') sent.add(key);
    }

    function answer(result: OperationResult): void {
      const { kind, key } = result.operation;
      unanswered.delete(key);
      if (kind === 'query') answers.set(key, result);
    }

    return (operations) => {
      const answered = cache({
        ...input,
        forward: (toSend) =>
          pipe(
            toSend,
            tap(send),
            forward,
            tap(({ operation }) => sent.delete(operation.key)),
          ),
      })(pipe(operations, tap(receive)));
      // The cache is subscribed first, so it has the operation before.
      const repeated = pipe(
        operations,
        map(({ key }) => unanswered.get(key)),
        filter((result) => result !== undefined),
        tap(({ operation }) => unanswered.delete(operation.key)),
      );
      return merge([pipe(answered, tap(answer)), repeated]);
    };
  };
}
