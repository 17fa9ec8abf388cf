import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMarketBuilder, type Market, type Pair, type Ticker } from '../../src/domain/market.ts';
import { type OrderBook, toOrderBook } from '../../src/domain/order-book.ts';
import { toTokenList } from '../../src/domain/token.ts';
import {
  type Broadcast,
  createBroadcast,
  type Subscriber,
  type Subscription,
} from '../../src/live/broadcast/broadcast.ts';
import type { Head } from '../../src/live/chain/head.ts';
import type { MarketFollower, MarketSnapshot } from '../../src/live/market/market-follower.ts';
import { createDivergenceRankings, type RankingInputs } from '../../src/loaders/divergence-ranking.ts';
import { exchangeStateOf, poolOf, tokenId } from '../domain/pools.ts';
import { toAsyncValues } from '../support/async-values.ts';

const TOKENS = toTokenList(['a', 'b', 'c'].map((end) => ({ tokenId: tokenId(end), symbol: end, decimals: 0 })));

/** A head with one pool of the tokens a and b, in which one b costs `price` of a, nearly. */
function headOf(beaconHeight: number, price: bigint): Head {
  const pool = poolOf(price * 10n ** 12n, 10n ** 12n, { beaconHeight });
  return { beaconHeight, exchange: exchangeStateOf(beaconHeight, [pool]) } as Head;
}

function marketOf<P extends Pair>(rows: readonly P[]): Market<P> {
  const builder = createMarketBuilder<P>();
  for (const row of rows) builder.add(row);
  return builder.build(rows);
}

/** A pair of the tokens b and a, or of c, which has no pool. */
function pairOf(poolId: string, tickerId = poolId, base = 'b'): Pair {
  return { poolId, tickerId, baseId: tokenId(base), base, targetId: tokenId('a'), target: 'a' };
}

const tickerOf = (pair: Pair, lastPrice: number | undefined): Ticker => ({
  ...pair,
  lastPrice,
  baseVolume: undefined,
  targetVolume: undefined,
});

function bookOf(tickerId: string, bid: number, ask: number): OrderBook {
  const [bids, asks] = [bid, ask].map((price) => [{ price, quantity: 1 }]);
  return toOrderBook({ tickerId, message: 'OK', timestamp: 1, bids: bids ?? [], asks: asks ?? [], entriesDropped: 0 });
}

/** A source that counts also the subscriptions of the gateway itself. */
function counted<T>(source: Broadcast<T>) {
  let open = 0;
  return {
    ...source,
    open: () => open,
    subscribe(subscriber: Subscriber<T>): Subscription {
      const subscription = source.subscribe(subscriber);
      open += 1;
      return {
        request: () => subscription.request(),
        cancel() {
          subscription.cancel();
          open -= 1;
        },
      };
    },
  };
}

/** Followers whose values the test publishes, and the rankings of them. */
function createRankings() {
  const heads = createBroadcast<Head>();
  const pairs = createBroadcast<MarketSnapshot<Pair>>();
  const tickers = createBroadcast<MarketSnapshot<Ticker>>();
  const books = new Map<string, OrderBook>();
  const followed = { heads: counted(heads), pairs: counted(pairs), tickers: counted(tickers) };
  const state = { isTooOld: false };
  const pairsNow = { ...followed.pairs, current: () => (state.isTooOld ? undefined : pairs.current()) };
  const market = { ...followed, pairs: pairsNow } as unknown as MarketFollower;
  const orderBooks = { followedBooks: () => ({ books, freshUntil: 0 }) };
  const rankings = createDivergenceRankings({
    head: followed.heads,
    market,
    orderBooks,
    tokens: { current: () => TOKENS },
  });
  const snapshotOf = <P extends Pair>(rows: readonly P[]): MarketSnapshot<P> => ({
    market: marketOf(rows),
    observedAt: 0,
    nextAt: 0,
    dropped: 0,
    read: { beganAt: 0, endedAt: 0 },
  });
  const subscribers = () => [followed.heads, followed.pairs, followed.tickers].map((source) => source.open());
  return { heads, pairs, tickers, rankings, snapshotOf, subscribers, state };
}

const noSources = createRankings().rankings;

test('pairs are ranked by the larger distance from the pool, as in a naive model, in any number', async () => {
  const price = fc.option(fc.double({ min: 50, max: 150, noNaN: true }), { nil: undefined });
  const row = fc.record({ base: fc.constantFrom('b', 'b', 'c'), last: price, book: price });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 30 }), fc.constantFrom(1, 40), async (kinds, times) => {
      const rows = Array.from({ length: times }, () => kinds).flat();
      const pairs = rows.map(({ base }, index) => pairOf(`${index}`, `${index}`, base));
      const inputs: RankingInputs = {
        head: headOf(5, 100n),
        tokens: TOKENS,
        pairs: marketOf(pairs),
        tickers: marketOf(pairs.map((pair, index) => tickerOf(pair, rows[index]?.last))),
        books: new Map(
          rows.flatMap(({ book }, index) =>
            book === undefined ? [] : [[`${index}`, bookOf(`${index}`, book - 1, book + 1)]],
          ),
        ),
      };
      const ranked = await noSources.rank(inputs);
      const poolPrice = ranked[0]?.pair.divergence.poolPrice ?? 0;
      const expected = rows.flatMap(({ base, last, book }, index) => {
        const known = [last, book].filter((each) => each !== undefined);
        if (base === 'c' || known.length === 0) return [];
        return [{ poolId: `${index}`, by: Math.max(...known.map((each) => Math.abs(100 * (each / poolPrice - 1)))) }];
      });
      expect(
        ranked.map(({ pair, maxPercent }) => ({ poolId: pair.poolId, by: expect.closeTo(maxPercent, 6) })),
      ).toEqual(expected.sort((a, b) => b.by - a.by));
      for (const { pair } of ranked) expect(pair.divergence.poolPrice).toBeCloseTo(100, 3);
    }),
    { numRuns: 30 },
  );
});

test('the same data has the same ranking, computed once', async () => {
  const pairs = marketOf([pairOf('one')]);
  const inputs = {
    head: headOf(5, 100n),
    pairs,
    tickers: marketOf([tickerOf(pairOf('one'), 90)]),
    books: new Map(),
    tokens: TOKENS,
  };
  const first = noSources.rank(inputs);
  expect(noSources.rank({ ...inputs })).toBe(first);
  for (const changed of [
    { head: headOf(6, 100n) },
    { pairs: marketOf([pairOf('one')]) },
    { tickers: marketOf([tickerOf(pairOf('one'), 90)]) },
    { books: new Map() },
    { tokens: toTokenList([]) },
  ]) {
    const before = noSources.rank(inputs);
    expect(noSources.rank({ ...inputs, ...changed }), Object.keys(changed)[0]).not.toBe(before);
  }
});

test('a ranking that cannot be computed fails the updates that are made of it, and the next one is sent', async () => {
  const { heads, pairs, tickers, rankings, snapshotOf } = createRankings();
  const pair = pairOf('one');
  pairs.publish(snapshotOf([pair]));
  tickers.publish(snapshotOf([tickerOf(pair, 90)]));
  heads.publish({ beaconHeight: 5 } as Head);
  const values = toAsyncValues(rankings.subscribe);
  const { value: failed } = await values.next();
  expect(failed?.head.beaconHeight).toBe(5);
  await expect(failed && rankings.rank(failed)).rejects.toThrow(TypeError);

  heads.publish(headOf(6, 100n));
  const { value: next } = await values.next();
  expect(next?.head.beaconHeight).toBe(6);
  expect(next && (await rankings.rank(next))).toMatchObject([{ pair }]);
  await values.return?.();
});

test('subscribers share one ranking, at each head and each response, and nothing is followed without them', async () => {
  const { heads, pairs, tickers, rankings, snapshotOf, subscribers } = createRankings();
  const pair = pairOf('one');
  heads.publish(headOf(5, 100n));
  tickers.publish(snapshotOf([tickerOf(pair, 90)]));
  expect(subscribers()).toEqual([0, 0, 0]);

  const [one, two] = [toAsyncValues(rankings.subscribe), toAsyncValues(rankings.subscribe)];
  const first = [one.next(), two.next()];
  expect([subscribers(), rankings.subscribers()]).toEqual([[1, 1, 1], 2]);
  pairs.publish(snapshotOf([pair]));
  const percentsOf = async ({ value }: { readonly value: RankingInputs | undefined }) =>
    value && (await rankings.rank(value)).map(({ maxPercent }) => maxPercent);
  const [received, same] = await Promise.all(first);
  expect(received?.value).toBe(same?.value);
  expect(received && (await percentsOf(received))).toEqual([expect.closeTo(10, 3)]);

  const atHead = one.next();
  heads.publish(headOf(6, 120n));
  expect((await atHead).value?.head.beaconHeight).toBe(6);
  expect(await percentsOf(await atHead)).toEqual([expect.closeTo(25, 3)]);
  const atResponse = one.next();
  tickers.publish(snapshotOf([tickerOf(pair, 60)]));
  expect(await percentsOf(await atResponse)).toEqual([expect.closeTo(50, 3)]);
  // The slow subscriber skips a ranking, and gets the newest.
  expect(await percentsOf(await two.next())).toEqual([expect.closeTo(50, 3)]);
  expect(rankings.skippedValues()).toBe(1);

  await one.return?.();
  expect([subscribers(), rankings.subscribers()]).toEqual([[1, 1, 1], 1]);
  await two.return?.();
  expect([subscribers(), rankings.subscribers(), rankings.skippedValues()]).toEqual([[0, 0, 0], 0, 1]);

  // A subscriber that comes later starts with the newest data, not with the last ranking.
  heads.publish(headOf(7, 60n));
  const late = toAsyncValues(rankings.subscribe);
  expect((await late.next()).value).toMatchObject({ head: { beaconHeight: 7 } });
  await late.return?.();
});

test('data that became too old is sent again when it can be read, also if it is the same', async () => {
  const { heads, pairs, tickers, rankings, snapshotOf, state } = createRankings();
  const listed = snapshotOf([pairOf('one')]);
  heads.publish(headOf(5, 100n));
  tickers.publish(snapshotOf([tickerOf(pairOf('one'), 90)]));
  pairs.publish(listed);
  const early = toAsyncValues(rankings.subscribe);
  const { value: before } = await early.next();

  state.isTooOld = true;
  const late = toAsyncValues(rankings.subscribe);
  expect((await late.next()).value).toBe(before);
  expect(rankings.newest()).toBe(before);
  const next = late.next();
  state.isTooOld = false;
  pairs.publish({ ...listed });
  const { value } = await next;
  expect(value).not.toBe(before);
  expect(value).toEqual(before);
  pairs.publish({ ...listed });
  expect(rankings.newest()).toBe(value);
  await Promise.all([early.return?.(), late.return?.()]);
});
