import { expect } from 'vitest';
import { type CandleInterval, INTERVAL_MS } from '../../src/domain/candle.ts';
import type { Instant } from '../../src/domain/instant.ts';
import type { PoolTrade } from '../../src/domain/trade.ts';
import type {
  BesideMemory,
  RecordedTrade,
  TradedBlock,
  TradedInterval,
  TradedIntervalsQuery,
  TradeStore,
  TradesQuery,
} from '../../src/history/trade-store.ts';
import { V3_POOL_IDS } from './chains.ts';

/** Trades in memory that are read by walking over all of them. */
export type TradesModel = TradeStore & {
  /** The recorded blocks, ascending. */
  blocks(): readonly TradedBlock[];
  /** Deletes the blocks above a height that were not made in deleted days. */
  deleteAbove(height: number): void;
  /** Deletes the trades of blocks that were made before a time. The sums of intervals stay, those of short ones since another time. */
  deleteBefore(time: Instant, short: Instant): void;
};

/** Creates a model in which nothing is recorded. It leaves no block out. */
export function createTradesModel(): TradesModel {
  /** Also those whose trades are deleted. */
  let all: readonly TradedBlock[] = [];
  let deletedBefore: Instant = 0;
  let shortBefore: Instant = 0;

  const blocks = () => all.filter(({ time }) => time >= deletedBefore);
  const known = () => blocks().filter(({ isComplete }) => isComplete);
  const recorded = (from: number, to: number) =>
    new Set(known().flatMap(({ beaconHeight: height }) => (height >= from && height <= to ? [height] : [])));
  const tradesIn = (some: readonly TradedBlock[]): RecordedTrade[] =>
    some.flatMap(({ beaconHeight, time, trades }) =>
      trades.map((trade, place) => ({ ...trade, beaconHeight, time, place })),
    );

  function intervals({ poolIds, interval, from, to = Number.POSITIVE_INFINITY, upTo }: TradedIntervalsQuery) {
    const since = INTERVAL_MS[interval] < INTERVAL_MS.ONE_HOUR ? shortBefore : 0;
    const complete = all.filter(({ isComplete, time }) => isComplete && openedAt(time, interval) >= since);
    // A block that is deleted with its day shows no longer that it was the newest one.
    const newest = known().at(-1)?.beaconHeight;
    const opened = new Set(complete.map(({ time }) => openedAt(time, interval)));
    // It was known also if its own short interval is deleted.
    const isKnown = (height: number) =>
      height < 1 || all.some((each) => each.isComplete && each.beaconHeight === height);
    return [...opened].flatMap((openTime): TradedInterval[] => {
      const inside = complete.filter((each) => each.beaconHeight <= upTo && openedAt(each.time, interval) === openTime);
      const [first, last] = [inside[0]?.beaconHeight, inside.at(-1)?.beaconHeight];
      if (first === undefined || last === undefined || openTime < from || openTime >= to) return [];
      const isCut = complete.some((each) => each.beaconHeight > upTo && openedAt(each.time, interval) === openTime);
      if (isCut && openTime < deletedBefore) return [];
      const isFollowed = last === upTo || last === newest || isKnown(last + 1);
      const isComplete = inside.length === last - first + 1 && isKnown(first - 1) && isFollowed;
      return [{ openTime, firstHeight: first, lastHeight: last, isComplete, traded: sums(tradesIn(inside), poolIds) }];
    });
  }

  return {
    blocks,
    deleteAbove(height) {
      all = all.filter(({ beaconHeight, time }) => beaconHeight <= height || time < deletedBefore);
    },
    deleteBefore(time, short) {
      deletedBefore = Math.max(deletedBefore, time);
      shortBefore = Math.max(shortBefore, short);
    },
    async recordTrades(some) {
      for (const block of some) {
        if (all.some(({ beaconHeight }) => beaconHeight === block.beaconHeight)) continue;
        if (block.time < deletedBefore) continue;
        all = [...all, block].toSorted((a, b) => a.beaconHeight - b.beaconHeight);
      }
      return [];
    },
    async missingTrades({ from, to }, last) {
      const missing: number[] = [];
      const there = new Set(blocks().map(({ beaconHeight }) => beaconHeight));
      for (let height = to; height >= from && missing.length < last; height--)
        if (!there.has(height)) missing.push(height);
      return missing;
    },
    async tradeCoverage() {
      const [first] = blocks();
      return first && { first: { beaconHeight: first.beaconHeight, time: first.time }, blocks: blocks().length };
    },
    async trades({ poolIds, memoryFrom, upTo, last, before, from = 0, to = Number.POSITIVE_INFINITY, sells }) {
      const counted = tradesIn(
        known().filter((each) => each.beaconHeight <= upTo && each.time >= from && each.time < to),
      )
        .filter((trade) => sells === undefined || trade.sells === sells)
        .filter(
          ({ beaconHeight: height, place }) =>
            before === undefined ||
            height < before.beaconHeight ||
            (height === before.beaconHeight && place < before.place),
        )
        .reverse();
      const ofPool = (id: string) => counted.filter(({ poolId }) => poolId === id).slice(0, last);
      return { recorded: recorded(memoryFrom, upTo), value: new Map(poolIds.map((id) => [id, ofPool(id)])) };
    },
    async trade({ beaconHeight, transactionId, step }) {
      return tradesIn(known()).find(
        (trade) => trade.beaconHeight === beaconHeight && trade.transactionId === transactionId && trade.step === step,
      );
    },
    async volumes({ poolIds, after, upTo, memoryFrom }) {
      const below = known().filter(({ beaconHeight }) => beaconHeight <= upTo);
      const inside = below.filter(({ time }) => time > after);
      const [before, first] = [below.findLast(({ time }) => time <= after), inside[0]].map(
        (block) => block && { beaconHeight: block.beaconHeight, time: block.time },
      );
      const value = { before, first, heights: inside.length, volumes: sums(tradesIn(inside), poolIds) };
      return { recorded: recorded(memoryFrom, upTo), value };
    },
    tradedIntervals: async (query) => ({
      recorded: recorded(query.memoryFrom, query.upTo),
      value: intervals(query).toSorted((a, b) => a.openTime - b.openTime),
    }),
  };
}

function openedAt(time: Instant, interval: CandleInterval): Instant {
  return time - (time % INTERVAL_MS[interval]);
}

function sums(trades: readonly RecordedTrade[], poolIds: readonly string[]) {
  const volumes = new Map<string, { traded1: bigint; traded2: bigint; trades: number }>();
  for (const { poolId, sells, sellAmount, buyAmount } of trades) {
    if (!poolIds.includes(poolId)) continue;
    const volume = volumes.get(poolId) ?? { traded1: 0n, traded2: 0n, trades: 0 };
    volume.traded1 += sells === 1 ? sellAmount : buyAmount;
    volume.traded2 += sells === 1 ? buyAmount : sellAmount;
    volume.trades += 1;
    volumes.set(poolId, volume);
  }
  return volumes;
}

/** A trade of a pool of {@link V3_POOL_IDS}. @param number makes it different from the others; a transaction has three of them */
export function tradeOf(pool: number, number: number, sells: 1 | 2 = 1, amount = 5n): PoolTrade {
  return {
    poolId: V3_POOL_IDS[pool] ?? '',
    transactionId: `tx-${Math.floor(number / 3)}`,
    ...{ step: number % 3, steps: 3, sells },
    ...{ sellAmount: amount * 3n, buyAmount: amount, sellAmountToOrders: amount, buyAmountFromOrders: 0n },
  };
}

/** Which trades, volumes and intervals are compared. */
type Compared = Omit<TradesQuery, 'poolIds'> & Pick<TradedIntervalsQuery, 'interval'>;

/** Compares what a store reads with the model. */
export async function compareTrades(store: TradeStore, model: TradesModel, query: Compared): Promise<void> {
  const { upTo, memoryFrom, from = 0, to, interval } = query;
  const poolIds = V3_POOL_IDS;
  const read = async (each: TradeStore) => ({
    first: await each.tradeCoverage(),
    trades: withoutEmpty(await each.trades({ ...query, poolIds })),
    volumes: await each.volumes({ poolIds, after: from, upTo, memoryFrom }),
    intervals: await each.tradedIntervals({ poolIds, interval, from, to, upTo, memoryFrom }),
  });
  const expected = await read(model);
  const actual = await read(store);
  expect(actual).toEqual(expected);
  for (const trade of expected.trades.value.get(V3_POOL_IDS[0] ?? '') ?? []) {
    const { beaconHeight, transactionId, step } = trade;
    expect(await store.trade({ beaconHeight, transactionId, step })).toEqual(trade);
  }
}

/** A store leaves out pools that it does not know. */
function withoutEmpty({ recorded, value }: BesideMemory<ReadonlyMap<string, readonly RecordedTrade[]>>) {
  return { recorded, value: new Map([...value].filter(([, trades]) => trades.length > 0)) };
}
