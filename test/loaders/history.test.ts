import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CandleInterval, INTERVAL_MS } from '../../src/domain/candle.ts';
import { poolPairAt, versionOf } from '../../src/domain/exchange.ts';
import { type PoolPair, pin, poolPairId } from '../../src/domain/pool-pair.ts';
import { priceOfToken2 } from '../../src/domain/price.ts';
import type { Reserves } from '../../src/domain/reserves.ts';
import { toTokenList } from '../../src/domain/token.ts';
import { HistoryUnavailableError } from '../../src/errors.ts';
import type { Head } from '../../src/live/chain/head.ts';
import { Dependencies } from '../../src/loaders/dependencies.ts';
import { HeadPin } from '../../src/loaders/head-pin.ts';
import { createHistoryLoader, type HistoryLoader } from '../../src/loaders/history.ts';
import { createHistoryCache, type HistoryCache } from '../../src/loaders/history-cache.ts';
import type { PriceChange } from '../../src/loaders/price-changes.ts';
import type { Sources } from '../../src/loaders/sources.ts';
import type { TokenLoader } from '../../src/loaders/token.ts';
import { createBulkhead } from '../../src/turns/bulkhead.ts';
import { exchangeStateOf, poolOf, tokenId } from '../domain/pools.ts';
import {
  createHistoryModel,
  expectedCandles,
  extremesOf,
  type HistoryModel,
  reservesAt,
  tradedOver,
} from '../history/store-model.ts';
import { poolIdOf, v3StateOf } from '../history/v3-states.ts';
import { headOf } from '../live/chain/heads.ts';
import { SOMEONE } from '../upstream/connect.ts';

const HOUR = 3_600_000;
const INTERVALS = Object.keys(INTERVAL_MS) as CandleInterval[];
const LIMITS = { maxCandles: 1_000, maxHistoryHours: 1_000, maxPageSize: 500, requester: SOMEONE };
const QUEUE = createBulkhead({
  busy: () => new HistoryUnavailableError(),
  maxConcurrent: 2,
  maxQueued: 100,
  maxWaitMs: 10_000,
});
const NO_TRADES = {
  of: async () => ({ trades: [], isComplete: true, poolsWithLiquidityChanges: new Set<string>() }),
};
const LIST = toTokenList(['a', 'b', 'd'].map((name) => ({ tokenId: tokenId(name), symbol: undefined, decimals: 2 })));
const TOKENS = { list: LIST, decimalsOf: (id: string) => LIST.get(id)?.decimals } as TokenLoader;

/** The tokens of the pools: the third one has unknown decimals. */
const PAIRS = [
  ['a', 'b'],
  ['a', 'd'],
  ['b', 'c'],
] as const;

/** The pools of V3: two of them have the same tokens. */
const V3_IDS = [poolIdOf('a', 'b', 2), poolIdOf('a', 'b', 1), poolIdOf('b', 'c', 3)] as const;

/** By how much the amounts of V3 are larger, so that many exceed 64 bits. */
const LARGER = 2n ** 30n;

type Height = {
  readonly time: number;
  readonly reserves: readonly (readonly [bigint, bigint] | undefined)[];
  readonly isV3?: boolean;
};

/** A head of a random chain. Each names the hash of the block below it. */
function chainHead(height: number, { time, reserves, isV3 = false }: Height, branch = ''): Head {
  const pools = reserves.flatMap((pair, index) => {
    const [a, b] = PAIRS[index] ?? ['a', 'b'];
    return pair === undefined ? [] : [poolOf(...pair, { token1Id: tokenId(a), token2Id: tokenId(b) })];
  });
  const poolsOfV3 = reserves.flatMap((pair, index) => {
    const id = V3_IDS[index] ?? '';
    return pair === undefined ? [] : [{ id, reserves: [pair[0] * LARGER, pair[1] * LARGER] as const }];
  });
  const previousHash = `block ${height - 1}`;
  return {
    ...headOf(height, `block ${height}${branch}`),
    time,
    previousHash,
    exchange: isV3 ? v3StateOf(height, poolsOfV3, time) : exchangeStateOf(height, pools, time),
  };
}

/** Those of the heights that show a pool: the heights of its version. */
function ofVersion(heads: readonly Head[], pool: PoolPair): readonly Head[] {
  return heads.filter(({ exchange }) => versionOf(exchange) === versionOf(pool));
}

/** The history loader of one answer about a head. */
function loaderAt(history: HistoryModel, head: Head, historyCache: HistoryCache = createHistoryCache(history, QUEUE)) {
  const dependencies = new Dependencies();
  const follower = { current: () => head, nextAt: () => undefined } as unknown as ConstructorParameters<
    typeof HeadPin
  >[0];
  const pinned = new HeadPin(follower, dependencies, head);
  const options = {
    sources: {
      history,
      historyQueue: QUEUE,
      historyCache,
      trades: NO_TRADES,
      head: { get: async () => head, nextAt: () => undefined },
    } as unknown as Sources,
    head: pinned,
    dependencies,
    tokens: TOKENS,
    options: { ...LIMITS, afterEvent: undefined },
  };
  return { loader: createHistoryLoader(options), dependencies };
}

function poolsOf(head: Head): PoolPair[] {
  return head.exchange.directory.ids.map((_, place) => poolPairAt(head.exchange, place));
}

/** Sizes of reserves whose ratios are often equal, and sides that are empty. */
const anySide = fc.oneof(
  fc.bigInt(0n, 3n),
  fc.bigInt(1n, 5n).map((value) => value * 10n ** 18n),
);

/** A chain of up to 40 blocks, of which some are recorded and the newest ones are in memory. */
const anyChain = fc
  .record({
    steps: fc.array(
      fc.record({
        seconds: fc.oneof(
          { weight: 6, arbitrary: fc.integer({ min: 1, max: 90 }) },
          { weight: 1, arbitrary: fc.integer({ min: 600, max: 20_000 }) },
        ),
        sides: fc.array(fc.option(fc.tuple(anySide, anySide), { nil: undefined, freq: 2 }), {
          minLength: 3,
          maxLength: 3,
        }),
        isMissing: fc.boolean().chain((maybe) => (maybe ? fc.boolean() : fc.constant(false))),
      }),
      { minLength: 5, maxLength: 40 },
    ),
    isV3: fc.oneof(
      fc.boolean().map((each) => () => each),
      fc.nat(20).map((first) => (index: number) => index >= first),
      fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }).map((drawn) => (index: number) => drawn[index] ?? false),
    ),
    births: fc.tuple(fc.constant(0), fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 12 })),
    first: fc.constantFrom(1, 1_000),
    unrecorded: fc.integer({ min: 3, max: 6 }),
    at: fc.integer({ min: 0, max: 39 }),
  })
  .map(({ steps, isV3, births, first, unrecorded, at }) => {
    let time = Date.UTC(2026, 0, 1, 22);
    let reserves: Height['reserves'] = [undefined, undefined, undefined];
    const heads = steps.map(({ seconds, sides }, index) => {
      time += seconds * 1_000;
      reserves = reserves.map((before, pool) =>
        index < (births[pool] ?? 0) ? undefined : (sides[pool] ?? before ?? [5n, 7n]),
      );
      return chainHead(first + index, { time, reserves, isV3: isV3(index) });
    });
    const tip = heads.at(-1) as Head;
    const isRecent = (head: Head) => head.beaconHeight > tip.beaconHeight - unrecorded;
    const recorded = heads.filter((head, index) => !isRecent(head) && !steps[index]?.isMissing);
    return { heads, tip, recorded, recent: heads.filter(isRecent), at: heads[at % heads.length] as Head };
  });

async function historyOf({
  recorded,
  recent,
}: {
  recorded: readonly Head[];
  recent: readonly Head[];
}): Promise<HistoryModel> {
  const history = createHistoryModel();
  if (recorded.length > 0) await history.record(...recorded);
  // The newest recorded ones stay in memory for a while.
  history.add(...recorded.slice(-2), ...recent);
  return history;
}

describe('candles', () => {
  test('are those of a walk over all known heights, for any chain, height and range', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyChain,
        fc.constantFrom(...INTERVALS),
        fc.record({
          last: fc.integer({ min: 1, max: 50 }),
          from: fc.option(fc.integer({ min: 0, max: 40 }), { nil: undefined }),
          to: fc.option(fc.integer({ min: 0, max: 40 }), { nil: undefined }),
        }),
        async (chain, interval, range) => {
          const history = await historyOf(chain);
          const timeAt = (index: number | undefined) =>
            index === undefined ? undefined : chain.heads[index % chain.heads.length]?.time;
          const { last } = range;
          const [from, to] = [timeAt(range.from), timeAt(range.to)];
          for (const shown of [chain.tip, chain.at]) {
            const { loader } = loaderAt(history, chain.tip);
            const all = [...chain.recorded, ...chain.recent].filter((head) => head.beaconHeight <= shown.beaconHeight);
            for (const pool of poolsOf(shown)) {
              const known = ofVersion(all, pool);
              const asked = shown === chain.tip ? pool : pin(pool);
              const found = await loader.candles(asked, { interval, last, from, to });
              const isKnown = known.at(-1)?.beaconHeight === shown.beaconHeight;
              const candles =
                known.length === 0
                  ? []
                  : expectedCandles(known, poolPairId(pool), interval, chain.tip.beaconHeight, shown);
              const expected = candles
                .filter(
                  ({ openTime }) => (from === undefined || openTime >= from) && (to === undefined || openTime < to),
                )
                .slice(-last);
              expect(
                found.map(({ priceOf: _, inversePriceOf: __, volumes: ___, ...candle }) => withoutHeights(candle)),
                `known ${isKnown}`,
              ).toEqual(expected.map((candle) => ({ ...withoutHeights(candle), poolId: pool.v3?.poolId })));
            }
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('change', () => {
  test('is that of a walk over all known heights, for any chain, height and window', async () => {
    await fc.assert(
      fc.asyncProperty(anyChain, fc.integer({ min: 1, max: 12 }), async (chain, hours) => {
        const history = await historyOf(chain);
        for (const shown of [chain.tip, chain.at]) {
          const { loader } = loaderAt(history, chain.tip);
          const heads = [...chain.recorded, ...chain.recent].filter((head) => head.beaconHeight <= shown.beaconHeight);
          const start = shown.time - hours * HOUR;
          for (const pool of poolsOf(shown)) {
            const known = ofVersion(heads, pool);
            const [firstRecorded] = ofVersion(chain.recorded, pool);
            const from = firstRecorded && (known.findLast(({ time }) => time <= start) ?? firstRecorded);
            const id = poolPairId(pool);
            const change = await loader.change(shown === chain.tip ? pool : pin(pool), { hours });
            if (from === undefined || from.beaconHeight > shown.beaconHeight) {
              expect(change).toBeUndefined();
              continue;
            }
            const counted = known.filter(({ beaconHeight }) => beaconHeight >= from.beaconHeight);
            const all = counted.at(-1) === shown ? counted : [...counted, shown];
            const states = all.map((head) => reservesAt(head, id));
            expect(await shownChange(change, loader)).toEqual({
              from: [from.beaconHeight, from.time, values(states[0])],
              ...mapValues(extremesOf(states.flatMap((state) => state ?? [])), values),
              ...tradedOver(states),
              isComplete: from.time <= start && counted.length === shown.beaconHeight - from.beaconHeight + 1,
            });
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  test('has prices of any decimals, and none with unknown ones, for an empty side or before the pool existed', async () => {
    const time = (hour: number) => hour * HOUR;
    const reserves = (...all: (readonly [bigint, bigint] | undefined)[]) => all;
    const heads = [
      chainHead(1, { time: time(100), reserves: reserves([1_000n, 50n], undefined, [10n, 10n]) }),
      chainHead(2, { time: time(101), reserves: reserves([2_000n, 50n], [0n, 9n], [10n, 10n]) }),
      chainHead(3, { time: time(124), reserves: reserves([4_000n, 50n], [900n, 9n], [10n, 10n]) }),
    ] as const;
    const history = createHistoryModel();
    await history.record(...heads);
    const { loader } = loaderAt(history, heads[2]);
    const [ab, ad, bc] = poolsOf(heads[2]) as [PoolPair, PoolPair, PoolPair];
    const pricesOf = async (pool: PoolPair, args: { hours?: number; decimals1?: number; decimals2?: number } = {}) => {
      const change = await loader.change(pool, args);
      return change && [change.priceOf(change.from), change.priceOf(change.pool)];
    };
    const price = (reserve1: bigint, reserve2: bigint, d1 = 2, d2 = 2) => priceOfToken2({ reserve1, reserve2 }, d1, d2);
    expect(await pricesOf(ab)).toEqual([price(1_000n, 50n), price(4_000n, 50n)]);
    expect(await pricesOf(ab, { decimals1: 0, decimals2: 1 })).toEqual([
      price(1_000n, 50n, 0, 1),
      price(4_000n, 50n, 0, 1),
    ]);
    expect(await pricesOf(ab, { hours: 23 })).toEqual([price(2_000n, 50n), price(4_000n, 50n)]);
    expect(await pricesOf(ad)).toEqual([undefined, price(900n, 9n)]);
    expect(await pricesOf(ad, { hours: 23 })).toEqual([undefined, price(900n, 9n)]);
    expect(await pricesOf(bc)).toEqual([undefined, undefined]);
    expect(await pricesOf(bc, { decimals2: 1 })).toEqual([price(10n, 10n, 2, 1), price(10n, 10n, 2, 1)]);
  });

  test('is complete if the history reaches back to its start, also beside a longer one that it does not reach back for', async () => {
    const heads = [100, 100.5, 101].map((hour, index) =>
      chainHead(index + 1, { time: hour * HOUR, reserves: [[BigInt(index + 1), 9n]] }),
    );
    const history = createHistoryModel();
    await history.record(...heads);
    const tip = heads[2] as Head;
    const { loader } = loaderAt(history, tip);
    const [pool] = poolsOf(tip) as [PoolPair];
    const windows = [1, 2, 1].map(async (hours) =>
      loader.window((await loader.change(pool, { hours })) as PriceChange),
    );
    expect((await Promise.all(windows)).map(({ isComplete }) => isComplete)).toEqual([true, false, true]);
    expect(history.store.reads.windows).toBe(2);
  });

  test('needs one read of the history for all pools of a window at each height, and then no promise', async () => {
    const heads = Array.from({ length: 160 }, (_, index) =>
      chainHead(index + 1, {
        time: (index * HOUR) / 4,
        reserves: [
          [BigInt(index + 1), 9n],
          [5n, 5n],
          [6n, 6n],
        ],
      }),
    );
    const history = createHistoryModel();
    await history.record(...heads.slice(0, 150));
    const historyCache = createHistoryCache(history, QUEUE);
    const readAll = (head: Head) => {
      const { loader } = loaderAt(history, head, historyCache);
      return poolsOf(head).map((pool) => loader.change(pool, {}));
    };
    for (let index = 140; index < 150; index++) {
      const { blocksAt, stateAt } = history.store.reads;
      await Promise.all(readAll(heads[index] as Head));
      expect(history.store.reads).toMatchObject({ blocksAt: blocksAt + 1, stateAt: stateAt + 1 });
      const changes = readAll(heads[index] as Head);
      expect(changes.some((change) => change instanceof Promise)).toBe(false);
      expect((changes as PriceChange[]).map(({ from }) => from?.reserve1)).toEqual([BigInt(index - 95), 5n, 6n]);
    }
  });

  test('is read again when a height at the start of the window has been recorded later', async () => {
    const heads = Array.from({ length: 100 }, (_, index) =>
      chainHead(index + 1, { time: index * HOUR, reserves: [[BigInt(index + 1), 9n]] }),
    );
    const history = createHistoryModel();
    await history.record(...heads.filter(({ beaconHeight }) => beaconHeight < 70 || beaconHeight > 80));
    const historyCache = createHistoryCache(history, QUEUE);
    const tip = heads[99] as Head;
    const read = async () => {
      const { loader, dependencies } = loaderAt(history, tip, historyCache);
      const change = await loader.change(poolsOf(tip)[0] as PoolPair, {});
      return { height: change?.start.beaconHeight, dependencies };
    };
    const first = await read();
    expect([first.height, first.dependencies.areCurrent(0)]).toEqual([69, true]);
    await history.record(heads[72] as Head);
    expect(first.dependencies.areCurrent(0)).toBe(false);
    expect((await read()).height).toBe(73);
    await history.record(heads[75] as Head);
    const last = await read();
    expect(last.height).toBe(76);
    await history.record(heads[76] as Head);
    const settled = await read();
    expect([settled.height, settled.dependencies.areImmutable()]).toEqual([76, true]);
  });

  test('and a sparkline are read again after recorded heights of a branch were deleted', async () => {
    // The blocks of the branch are faster than those of the chain.
    const chainOf = (interval: number) =>
      Array.from({ length: 100 }, (_, index) =>
        chainHead(index + 1, {
          time: (index < 49 ? index : 49 + (index - 49) * interval) * HOUR,
          reserves: [[BigInt(100 * (index + 1)), 9n]],
        }),
      );
    const [branch, chain] = [chainOf(0.75), chainOf(1)];
    const history = createHistoryModel();
    await history.record(...branch.slice(0, 95));
    const historyCache = createHistoryCache(history, QUEUE);
    const tip = chain[99] as Head;
    const [pool] = poolsOf(tip) as [PoolPair];
    const shown = async () => {
      const { loader } = loaderAt(history, tip, historyCache);
      const [first] = await loader.sparkline(pool, {});
      return [(await loader.change(pool, {}))?.from?.reserve1, first];
    };
    const price = (reserve1: bigint) => priceOfToken2({ reserve1, reserve2: 9n }, 2, 2);
    expect(await shown()).toEqual([8_400n, price(8_400n)]);
    await history.store.deleteFrom({ beaconHeight: 50, hash: undefined, time: 0 });
    await history.record(...chain.slice(49, 95));
    expect(await shown()).toEqual([7_600n, price(7_600n)]);
  });
});

describe('sparkline', () => {
  test('is that of a walk over all known heights, for any chain, height, window and number of points', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyChain,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 2, max: 30 }),
        async (chain, hours, points) => {
          const history = await historyOf(chain);
          for (const shown of [chain.tip, chain.at]) {
            const { loader } = loaderAt(history, chain.tip);
            const all = [...chain.recorded, ...chain.recent].filter((head) => head.beaconHeight <= shown.beaconHeight);
            for (const pool of poolsOf(shown)) {
              const known = ofVersion(all, pool);
              const args = { decimals1: 3, decimals2: 3, hours, points };
              const found = await loader.sparkline(shown === chain.tip ? pool : pin(pool), args);
              const expected = Array.from({ length: points }, (_, index) => {
                const moment = shown.time - (hours * HOUR * (points - 1 - index)) / (points - 1);
                const head = index === points - 1 ? shown : known.findLast(({ time }) => time <= moment);
                const state = reservesAt(head, poolPairId(pool));
                return state && priceOfToken2(state, 3, 3);
              });
              expect(found).toEqual(expected);
            }
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('an answer', () => {
  const heads = Array.from({ length: 60 }, (_, index) =>
    chainHead(index + 1, {
      time: index * 40_000,
      reserves: [
        [BigInt(index + 1), 9n],
        [5n, 5n],
        [6n, 6n],
      ],
    }),
  );
  const tip = heads[59] as Head;

  test('reads all pools of a height at once', async () => {
    const history = createHistoryModel();
    await history.record(...heads.slice(0, 57));
    history.add(...heads);
    const { loader } = loaderAt(history, tip);
    const candles = poolsOf(tip).map((pool) => loader.candles(pool, { interval: 'ONE_MINUTE' }));
    const lines = poolsOf(tip).map((pool) => loader.sparkline(pool, { hours: 1, points: 5 }));
    const windows = poolsOf(tip).map(async (pool) =>
      loader.window((await loader.change(pool, { hours: 1 })) as PriceChange),
    );
    await Promise.all([...candles, ...lines, ...windows]);
    expect(history.store.reads).toMatchObject({ candles: 1, windows: 1, reservesAt: 1, blocksAt: 2 });
  });

  test('reads the states of many pools in parts, in one turn of the queue', async () => {
    const many = Array.from({ length: 60 }, (_, index) => {
      const time = index * 40_000;
      const pools = Array.from({ length: 600 }, (_, pool) =>
        poolOf(BigInt(index + 1) * 10n ** 6n, BigInt(pool + 1), {
          token1Id: tokenId('a'),
          token2Id: tokenId(`${pool}`),
        }),
      );
      return {
        ...chainHead(index + 1, { time, reserves: [] }),
        exchange: exchangeStateOf(index + 1, pools, time),
      };
    });
    const tip = many[59] as Head;
    const history = createHistoryModel();
    await history.record(...many.slice(0, 57));
    history.add(...many.slice(55));
    const pools = poolsOf(tip);
    const { loader } = loaderAt(history, tip);
    const args = { hours: 1, points: 90, decimals1: 0, decimals2: 0 };
    const lines = await Promise.all(pools.map((pool) => loader.sparkline(pool, args)));
    expect(history.store.reads).toMatchObject({ reservesAt: 4, blocksAt: 1 });
    for (const place of [0, 299, 599]) {
      const alone = await loaderAt(history, tip).loader.sparkline(pools[place] as PoolPair, args);
      expect(lines[place]).toEqual(alone);
      expect(new Set(alone).size).toBeGreaterThan(50);
    }
  });

  test('never contains the block that replaced its head, nor one of a branch that was given up', async () => {
    const history = createHistoryModel();
    await history.record(...heads.slice(0, 57));
    history.add(...heads);
    const other = chainHead(
      60,
      {
        time: 59 * 40_000,
        reserves: [
          [777n, 9n],
          [5n, 5n],
          [6n, 6n],
        ],
      },
      ' of another branch',
    );
    history.add(other);
    for (const head of [tip, other]) {
      const { loader } = loaderAt(history, head);
      const pool = poolsOf(head)[0] as PoolPair;
      const [newest] = await loader.candles(pool, { interval: 'ONE_DAY', last: 1 });
      const window = await loader.window((await loader.change(pool, {})) as PriceChange);
      expect([newest?.close.reserve1, newest?.heights]).toEqual([pool.reserve1, 60]);
      expect([window.high.reserve1, window.isComplete]).toEqual([pool.reserve1, false]);
    }
    const deeper = chainHead(59, { time: 58 * 40_000, reserves: [[888n, 9n]] }, ' of another branch');
    const above = { ...other, previousHash: deeper.hash };
    history.add(deeper, above);
    const { loader } = loaderAt(history, tip);
    const pool = poolsOf(tip)[0] as PoolPair;
    const [newest] = await loader.candles(pool, { interval: 'ONE_DAY', last: 1 });
    // The height below the head is unknown on this branch.
    expect(newest).toMatchObject({ close: { reserve1: 60n }, high: { reserve1: 60n }, isComplete: false });
  });

  test('has candles in their order, also if a recorded block is later than those above it', async () => {
    const at = (height: number, time: number, reserve1: bigint, branch = '') =>
      chainHead(height, { time: time * 1_000, reserves: [[reserve1, 9n]] }, branch);
    const history = createHistoryModel();
    // Height 4 is of a branch that was given up.
    await history.record(at(1, 10, 1n), at(2, 61, 2n), at(3, 70, 3n), at(4, 125, 777n, ' of another branch'));
    history.add(at(5, 110, 2n), at(6, 115, 5n), at(7, 130, 6n));
    const shown = async (head: Head) => {
      const { loader } = loaderAt(history, head);
      const candles = await loader.candles(poolsOf(head)[0] as PoolPair, { interval: 'ONE_MINUTE' });
      return candles.map((candle) => [
        ...[candle.openTime / 1_000, candle.firstHeight, candle.lastHeight, candle.heights],
        ...[candle.open, candle.high, candle.low, candle.close].map(({ reserve1 }) => Number(reserve1)),
        candle.isComplete,
      ]);
    };
    expect(await shown(at(6, 115, 5n))).toEqual([
      [0, 1, 1, 1, 1, 1, 1, 1, true],
      [60, 2, 6, 4, 2, 5, 2, 5, false],
    ]);
    expect(await shown(at(7, 130, 6n))).toEqual([
      [0, 1, 1, 1, 1, 1, 1, 1, true],
      [60, 2, 6, 4, 2, 5, 2, 5, false],
      [120, 7, 7, 1, 6, 6, 6, 6, true],
    ]);
    // Nothing is recorded in the interval of the next height.
    const other = createHistoryModel();
    await other.record(at(1, 10, 1n), at(4, 185, 777n, ' of another branch'));
    other.add(at(5, 110, 2n));
    const { loader } = loaderAt(other, at(5, 110, 2n));
    const candles = await loader.candles(poolsOf(at(5, 110, 2n))[0] as PoolPair, { interval: 'ONE_MINUTE' });
    expect(candles.map(({ openTime, heights, isComplete }) => [openTime, heights, isComplete])).toEqual([
      [0, 1, false],
      [60_000, 1, false],
    ]);
  });

  test('never contains a block that is later than the newest one', async () => {
    const history = createHistoryModel();
    await history.record(...heads.slice(0, 55));
    history.add(...heads.slice(0, 59));
    // The blocks from height 56 on are of a branch that was given up, and the node does not name the one below the head.
    const { previousHash: _, ...head } = chainHead(60, { time: 55 * 40_000 - 1, reserves: [[60n, 9n]] });
    const { loader } = loaderAt(history, head);
    const [newest] = await loader.candles(poolsOf(head)[0] as PoolPair, { interval: 'ONE_DAY', last: 1 });
    expect(newest).toMatchObject({ close: { reserve1: 60n }, heights: 56, isComplete: false });
  });

  test('about a height below the final ones never expires if nothing is missing in it', async () => {
    const history = createHistoryModel();
    await history.record(...heads.slice(0, 57));
    const dependenciesOf = async (read: (loader: HistoryLoader, pool: PoolPair) => unknown): Promise<Dependencies> => {
      const { loader, dependencies } = loaderAt(history, tip);
      await read(loader, pin(poolsOf(heads[50] as Head)[0] as PoolPair));
      return dependencies;
    };
    const areImmutable = async (...args: Parameters<typeof dependenciesOf>) =>
      (await dependenciesOf(...args)).areImmutable();
    const minutes = { interval: 'ONE_MINUTE' } as const;
    expect(await areImmutable((loader, pool) => loader.candles(pool, { ...minutes, last: 5 }))).toBe(true);
    expect(await areImmutable((loader, pool) => loader.candles(pool, { ...minutes, from: 600_000, to: 900_000 }))).toBe(
      true,
    );
    // Older candles can be added.
    expect(await areImmutable((loader, pool) => loader.candles(pool, minutes))).toBe(false);
    expect(await areImmutable((loader, pool) => loader.change(pool, {}))).toBe(false);
    expect(await areImmutable((loader, pool) => loader.sparkline(pool, {}))).toBe(false);
    const incomplete = await dependenciesOf((loader, pool) => loader.candles(pool, minutes));
    expect(incomplete.areCurrent(0)).toBe(true);
    await history.record(heads[57] as Head);
    expect(incomplete.areCurrent(0)).toBe(false);
  });

  test('has the error of the history, and later the values', async () => {
    const history = createHistoryModel();
    await history.record(...heads.slice(0, 57));
    history.store.fail(new HistoryUnavailableError());
    const { loader } = loaderAt(history, tip);
    const pool = poolsOf(tip)[0] as PoolPair;
    await expect(loader.candles(pool, { interval: 'ONE_DAY' })).rejects.toThrow(HistoryUnavailableError);
    await expect(loader.change(pool, {})).rejects.toThrow(HistoryUnavailableError);
    await expect(loader.sparkline(pool, {})).rejects.toThrow(HistoryUnavailableError);
    await expect(loader.coverage()).rejects.toThrow(HistoryUnavailableError);
    history.store.fail(undefined);
    expect(await loaderAt(history, tip).loader.change(pool, {})).toMatchObject({ start: { beaconHeight: 1 } });
  });
});

/** All parts of a change. */
async function shownChange(change: PriceChange | undefined, loader: HistoryLoader) {
  if (change === undefined) return undefined;
  const { start, from } = change;
  const { high, low, traded1, traded2, isComplete } = await loader.window(change);
  const extremes = mapValues({ high, low }, values);
  return { from: [start.beaconHeight, start.time, values(from)], ...extremes, traded1, traded2, isComplete };
}

/** Reserves without their height. */
function values(state: { readonly reserve1: bigint; readonly reserve2: bigint } | undefined) {
  return state && [state.reserve1, state.reserve2];
}

function mapValues<T, U>({ high, low }: { readonly high: T; readonly low: T }, map: (value: T) => U) {
  return { high: map(high), low: map(low) };
}

/** The candle without the heights of its states: a state that did not change is that of several heights. */
function withoutHeights<C extends { open: Reserves; high: Reserves; low: Reserves; close: Reserves | undefined }>(
  candle: C,
) {
  const { open, high, low, close } = candle;
  return { ...candle, open: values(open), high: values(high), low: values(low), close: values(close) };
}
