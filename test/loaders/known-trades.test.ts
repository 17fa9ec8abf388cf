import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Candle, INTERVAL_MS } from '../../src/domain/candle.ts';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import type { BesideMemory, RecordedTrade } from '../../src/history/trade-store.ts';
import type { Head } from '../../src/live/chain/head.ts';
import {
  createKnownTrades,
  type KnownTrades,
  rangeAround,
  toExactIntervals,
  toVolumes,
} from '../../src/loaders/known-trades.ts';
import { V3_POOL_IDS } from '../history/chains.ts';
import { createTradesModel, tradeOf } from '../history/trades-model.ts';
import { SOMEONE } from '../upstream/connect.ts';

const INTERVAL = 'ONE_MINUTE';
const [POOL_ID = ''] = V3_POOL_IDS;

/** A chain whose final blocks are recorded or not. The newest ones are in memory, where some cannot be read. */
const anyChain = fc.record({
  blocks: fc.array(
    fc.record({
      seconds: fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 1, max: 50 }) }, fc.integer({ min: 100, max: 300 })),
      trades: fc.array(fc.tuple(fc.nat(1), fc.constantFrom<1 | 2>(1, 2)), { maxLength: 3 }),
      isRecorded: fc.oneof({ weight: 8, arbitrary: fc.constant(true) }, fc.constant(false)),
      isReadable: fc.oneof({ weight: 8, arbitrary: fc.constant(true) }, fc.constant(false)),
    }),
    { minLength: 4, maxLength: 30 },
  ),
  inMemory: fc.integer({ min: 0, max: 8 }),
  upTo: fc.integer({ min: 0, max: 29 }),
  seconds: fc.integer({ min: 1, max: 900 }),
});

test('a complete candle is exact if the blocks next to it are farther away than its neighbouring intervals', () => {
  const openTime = 1_800_000_000_000;
  const [firstHeight, lastHeight] = [100, 101];
  const traded = { traded1: 7n, traded2: 8n };
  const recorded = { openTime, firstHeight, lastHeight, isComplete: true, traded: new Map([[POOL_ID, traded]]) };
  const blocks = [firstHeight, lastHeight].map((beaconHeight) => ({ beaconHeight, time: openTime, trades: [] }));
  const candle = { openTime, firstHeight, lastHeight } as Candle;
  for (const [known, expected] of [
    [{ value: [recorded], recorded: new Set<number>(), blocks: [] }, traded],
    [
      { value: [], recorded: new Set<number>(), blocks },
      { traded1: 0n, traded2: 0n },
    ],
  ] as const) {
    const tradedIn = toExactIntervals(known, { interval: INTERVAL, upTo: 500 });
    expect(tradedIn({ ...candle, isComplete: true }, POOL_ID)).toEqual(expected);
    expect(tradedIn({ ...candle, isComplete: false }, POOL_ID)).toBeUndefined();
  }
});

test('a candle is not exact if the block below its first one can be one that was replaced', async () => {
  const openTime = 1_800_000_000_000;
  const below = { beaconHeight: 100, hash: 'a', time: openTime - 1 };
  const candle = { openTime, firstHeight: 101, lastHeight: 101, isComplete: true } as Candle;
  for (const [previousHash, expected] of [
    ['a', { traded1: 0n, traded2: 0n }],
    [undefined, undefined],
  ] as const) {
    const heads = [below, { beaconHeight: 101, hash: 'b', previousHash, time: openTime }] as Head[];
    const view = { headsOf: () => heads, read: <T>(operation: () => Promise<T>) => operation() };
    const of = async () => ({ trades: [], isComplete: true, poolsWithLiquidityChanges: new Set<string>() });
    const readKnown = createKnownTrades(view, { sources: { trades: { of } }, options: { requester: SOMEONE } });
    const pool = { beaconHeight: 101 } as PoolPair;
    const known = await readKnown(pool, async () => ({ value: [], recorded: new Set<number>() }));
    expect(toExactIntervals(known, { interval: INTERVAL, upTo: 101 })(candle, POOL_ID)).toEqual(expected);
  }
});

test('volumes and intervals contain each known trade once, and say what is not known', async () => {
  let [complete, exact] = [0, 0];
  await fc.assert(
    fc.asyncProperty(anyChain, async ({ blocks, inMemory, seconds, ...drawn }) => {
      let time = 1_800_000_000_000;
      let number = 0;
      const chain = blocks.map(({ seconds: after, trades, ...block }, index) => {
        time += after * 1_000;
        const beaconHeight = 100 + index;
        const made = trades.map(([pool, sells]) => tradeOf(pool, number++, sells));
        const recorded = made.map((trade, place): RecordedTrade => ({ ...trade, beaconHeight, time, place }));
        // Newer ones are not final.
        return { ...block, beaconHeight, time, trades: recorded, isFinal: index < blocks.length - 3 };
      });
      const upTo = 100 + (drawn.upTo % chain.length);
      const below = chain.filter(({ beaconHeight }) => beaconHeight <= upTo);
      const newest = below.at(-1);
      const memory = chain.slice(-inMemory).filter((block) => inMemory > 0 && block.beaconHeight <= upTo);
      const memoryFrom = memory[0]?.beaconHeight ?? upTo + 1;
      const store = createTradesModel();
      await store.recordTrades(
        chain
          .filter(({ isFinal, isRecorded }) => isFinal && isRecorded)
          .map((block) => ({ ...block, hash: undefined, isComplete: true })),
      );
      const known = below.filter(
        (block) => (block.isFinal && block.isRecorded) || (block.isReadable && memory.includes(block)),
      );
      const sumOf = (some: typeof chain) =>
        some
          .flatMap(({ trades }) => trades)
          .filter(({ poolId }) => poolId === POOL_ID)
          .reduce<readonly [bigint, bigint]>(
            ([sum1, sum2], { sells, sellAmount, buyAmount }) =>
              sells === 1 ? [sum1 + sellAmount, sum2 + buyAmount] : [sum1 + buyAmount, sum2 + sellAmount],
            [0n, 0n],
          );
      const join = <T>(found: BesideMemory<T>): KnownTrades<T> => ({
        ...found,
        blocks: memory
          .filter(({ beaconHeight }) => !found.recorded.has(beaconHeight))
          .map((block) => ({ ...block, trades: block.isReadable ? block.trades : undefined })),
      });

      const after = (newest?.time ?? 0) - seconds * 1_000;
      const window = below.filter((block) => block.time > after);
      const knownInWindow = known.filter((block) => block.time > after);
      const query = { poolIds: V3_POOL_IDS, upTo, memoryFrom };
      const volumes = toVolumes(join(await store.volumes({ ...query, after })), { after, upTo });
      if (knownInWindow.length === 0) {
        expect(volumes).toBeUndefined();
      } else {
        const { traded1 = 0n, traded2 = 0n } = volumes?.volumes.get(POOL_ID) ?? {};
        expect([traded1, traded2]).toEqual(sumOf(knownInWindow));
        const before = below.findLast((block) => block.time <= after);
        const isWhole = knownInWindow.length === window.length && before !== undefined && known.includes(before);
        expect(volumes?.isComplete).toBe(isWhole);
        if (isWhole) expect(volumes?.since).toBe(after);
        if (isWhole) complete += 1;
      }

      const openTimeOf = (each: number) => each - (each % INTERVAL_MS[INTERVAL]);
      const candles = [...Map.groupBy(below, (block) => openTimeOf(block.time))].map(([openTime, inside]) => {
        const heights = inside.map(({ beaconHeight }) => beaconHeight);
        const closeTime = openTime + INTERVAL_MS[INTERVAL];
        return {
          openTime,
          closeTime,
          firstHeight: heights[0],
          lastHeight: heights.at(-1),
          // The height below the first candle is not known.
          isComplete: heights[0] !== below[0]?.beaconHeight,
          inside,
        } as unknown as Candle & {
          readonly inside: typeof chain;
        };
      });
      const range = { interval: INTERVAL, ...rangeAround(candles, INTERVAL) } as const;
      const tradedIn = toExactIntervals(join(await store.tradedIntervals({ ...query, ...range })), {
        interval: INTERVAL,
        upTo,
      });
      for (const candle of candles) {
        const traded = tradedIn(candle, POOL_ID);
        const areKnown = candle.inside.every((block) => known.includes(block));
        if (traded !== undefined)
          expect([areKnown, traded.traded1, traded.traded2]).toEqual([true, ...sumOf(candle.inside)]);
        if (traded !== undefined) exact += 1;
        // Where nothing is missing at all, the candles from the second one on are exact.
        const isAllKnown = known.length === below.length && chain.every(({ isRecorded }) => isRecorded);
        if (isAllKnown && candle !== candles[0]) expect(traded).toBeDefined();
      }
    }),
    { numRuns: 1_000 },
  );
  expect(complete).toBeGreaterThan(20);
  expect(exact).toBeGreaterThan(200);
});
