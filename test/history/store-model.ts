import { isFinal } from '../../src/domain/beacon-height.ts';
import { type CandleInterval, INTERVAL_MS, openTimeOf, type PoolCandle } from '../../src/domain/candle.ts';
import { placeOf, poolPairAt, versionOf } from '../../src/domain/exchange.ts';
import { type ExchangeVersion, parsePoolPairId } from '../../src/domain/pool-pair.ts';
import type { PoolWindow, Reserves } from '../../src/domain/reserves.ts';
import type { History } from '../../src/history/history.ts';
import type { BlockAt, FinalBlock, HistoryStore, RecordedHeight } from '../../src/history/store.ts';
import type { Head } from '../../src/live/chain/head.ts';
import { createTradesModel } from './trades-model.ts';

/** A height of the model. It is of the version of its exchange. */
type Known = Pick<Head, 'beaconHeight' | 'time' | 'exchange'> & { readonly hash?: string | undefined };

/** A store in memory that answers by walking over all its heights, and counts the reads. */
export type StoreModel = HistoryStore & {
  readonly reads: Record<
    'coverage' | 'blocksAt' | 'firstBlock' | 'recentBlocks' | 'stateAt' | 'candles' | 'windows' | 'reservesAt',
    number
  >;
  /** The recorded heights, ascending. */
  heights(): readonly number[];
  /** Makes all reads fail with an error; `undefined` ends it. */
  fail(error: Error | undefined): void;
};

/** Creates a store in which nothing is recorded. */
export function createStoreModel(): StoreModel {
  const recorded = new Map<number, Known>();
  let failure: Error | undefined;
  const reads = {
    ...{ coverage: 0, blocksAt: 0, firstBlock: 0, recentBlocks: 0 },
    ...{ stateAt: 0, candles: 0, windows: 0, reservesAt: 0 },
  };

  const heights = (version?: ExchangeVersion) =>
    [...recorded.values()]
      .filter(({ exchange }) => version === undefined || versionOf(exchange) === version)
      .sort((a, b) => a.beaconHeight - b.beaconHeight);
  const recordedTo = (version: ExchangeVersion) => heights(version).at(-1)?.beaconHeight;
  const toRecorded = ({ beaconHeight, hash, time }: Known): RecordedHeight => ({ beaconHeight, hash, time });

  function reading<A extends unknown[], T>(name: keyof typeof reads, read: (...args: A) => T) {
    return async (...args: A): Promise<T> => {
      reads[name] += 1;
      if (failure !== undefined) throw failure;
      // Answers from the state at the moment of the request, and later, as a worker does.
      const result = read(...args);
      await new Promise(setImmediate);
      return result;
    };
  }

  function windowOf(
    heads: readonly Known[],
    id: string,
  ): (Omit<PoolWindow, 'isComplete'> & Pick<PoolCandle, 'open'>) | undefined {
    const states = heads.flatMap((head) => reservesAt(head, id) ?? []);
    const [open] = states;
    const close = states.at(-1);
    if (open === undefined || close === undefined) return undefined;
    const traded = tradedOver(heads.map((head) => reservesAt(head, id)));
    return { open, close, ...extremesOf(states), ...traded };
  }

  function isRecorded(height: number, version: ExchangeVersion): boolean {
    const known = recorded.get(height);
    return height === 0 || (known !== undefined && versionOf(known.exchange) === version);
  }

  return {
    ...createTradesModel(),
    reads,
    coverage: reading('coverage', (max: number) => {
      const all = heights();
      const [first] = all;
      const last = all.at(-1);
      if (first === undefined || last === undefined) return undefined;
      const gaps = all.flatMap(({ beaconHeight }, index) => {
        const before = all[index - 1]?.beaconHeight ?? beaconHeight - 1;
        return before + 1 < beaconHeight ? [{ from: before + 1, to: beaconHeight - 1 }] : [];
      });
      return {
        first: toRecorded(first),
        last: toRecorded(last),
        heights: all.length,
        gaps: gaps.reverse().slice(0, max),
      };
    }),
    blocksAt: reading('blocksAt', (times: readonly number[], version?: ExchangeVersion) => {
      const all = heights(version);
      return times.map((time): BlockAt | undefined => {
        const index = all.findLastIndex((head) => head.time <= time);
        const [block, next] = [all[index], all[index + 1]];
        return block && { block: toRecorded(block), next: next && toRecorded(next) };
      });
    }),
    firstBlock: reading('firstBlock', (version: ExchangeVersion) => heights(version).map(toRecorded)[0]),
    recentBlocks: reading('recentBlocks', ({ upTo, last }: Parameters<HistoryStore['recentBlocks']>[0]) => {
      const counted = heights().filter(({ beaconHeight }) => beaconHeight <= upTo);
      return counted.slice(Math.max(0, counted.length - last)).map(toRecorded);
    }),
    stateAt: reading(
      'stateAt',
      (height: number) => heights().findLast((head) => head.beaconHeight <= height)?.exchange,
    ),
    candles: reading('candles', ({ poolIds, interval, from = 0, to = Number.POSITIVE_INFINITY, upTo, last }) => {
      const version = versionOfId(poolIds[0]);
      const counted = heights(version).filter(({ beaconHeight }) => beaconHeight <= upTo);
      const intervals = Map.groupBy(counted, ({ time }) => openTimeOf(time, interval));
      const value = new Map<string, PoolCandle[]>();
      for (const id of poolIds) {
        const candles: PoolCandle[] = [];
        for (const [openTime, heads] of intervals) {
          if (openTime < from || openTime >= to) continue;
          const [first, end] = [heads[0] as Known, heads.at(-1) as Known];
          const before = counted.findLast(({ beaconHeight }) => beaconHeight < first.beaconHeight);
          const window = windowOf(heads, id);
          if (window === undefined) continue;
          const traded = tradedOver([before, ...heads].map((head) => head && reservesAt(head, id)));
          const isWhole = heads.length === end.beaconHeight - first.beaconHeight + 1;
          const isFollowed =
            [upTo, recordedTo(version)].includes(end.beaconHeight) || isRecorded(end.beaconHeight + 1, version);
          candles.push({
            openTime,
            ...window,
            ...traded,
            firstHeight: first.beaconHeight,
            lastHeight: end.beaconHeight,
            heights: heads.length,
            isComplete: isWhole && isFollowed && isRecorded(first.beaconHeight - 1, version),
          });
        }
        // As a store does: only the intervals count that the query selects.
        const openTimes = [...intervals.keys()].filter((each) => each >= from && each < to).slice(-last);
        value.set(
          id,
          candles.filter(({ openTime }) => openTimes.includes(openTime)),
        );
      }
      return { recordedTo: recordedTo(version), value };
    }),
    windows: reading('windows', ({ poolIds, fromHeight, toHeight }) => {
      const version = versionOfId(poolIds[0]);
      const all = heights(version);
      const heads = all.filter(({ beaconHeight }) => beaconHeight >= fromHeight && beaconHeight <= toHeight);
      const end = Math.min(toHeight, recordedTo(version) ?? 0);
      const isComplete = heads.length === end - fromHeight + 1;
      const value = new Map<string, PoolWindow>();
      for (const id of poolIds) {
        const window = windowOf(heads, id);
        if (window !== undefined) value.set(id, { ...window, isComplete });
      }
      return { recordedTo: recordedTo(version), value };
    }),
    reservesAt: reading('reservesAt', ({ poolIds, heights: wanted }) => {
      const headAt = (height: number, id: string) =>
        heights(versionOfId(id)).findLast(({ beaconHeight }) => beaconHeight <= height);
      return new Map(poolIds.map((id) => [id, wanted.map((height) => reservesAt(headAt(height, id), id))] as const));
    }),
    async useChain() {
      if (failure !== undefined) throw failure;
    },
    async record(blocks: readonly FinalBlock[]) {
      if (failure !== undefined) throw failure;
      for (const { hash, time, exchange } of blocks)
        recorded.set(exchange.beaconHeight, { beaconHeight: exchange.beaconHeight, hash, time, exchange });
      return [];
    },
    async deleteFrom({ beaconHeight }) {
      const deleted = [...recorded.keys()].filter((height) => height >= beaconHeight).sort((a, b) => a - b);
      for (const height of deleted) recorded.delete(height);
      return deleted;
    },
    async prune() {},
    deletedBefore: async () => 0,
    async close() {},
    heights: () => heights().map(({ beaconHeight }) => beaconHeight),
    fail(error) {
      failure = error;
    },
  };
}

/** A history of the model, whose heads a test adds and records. */
export type HistoryModel = History & {
  readonly store: StoreModel;
  /** Records these heads, in any order. */
  record(...heads: readonly Head[]): Promise<void>;
  /** Adds heads to those in memory. */
  add(...heads: readonly Head[]): void;
};

/** Creates a history in which nothing is recorded, and without heads in memory. */
export function createHistoryModel(): HistoryModel {
  const store = createStoreModel();
  const listeners: (() => void)[] = [];
  let inMemory: readonly Head[] = [];
  let version = 0;

  return {
    ...store,
    store,
    isBackfilling: () => false,
    headsInMemory: () => inMemory,
    version: () => version,
    tradesVersion: () => 0,
    onRecorded: (listener) => void listeners.push(listener),
    status: () => ({
      state: 'recording',
      coverage: undefined,
      waiting: 0,
      databaseErrors: 0,
      backfillReads: 0,
      tradeCoverage: undefined,
      tradeReads: 0,
      tradeReadBytes: 0,
    }),
    async record(...heads) {
      const top = store.heights().at(-1) ?? 0;
      await store.record(heads.map((head) => ({ ...head, version: versionOf(head.exchange) })));
      version += 1;
      if ((store.heights().at(-1) ?? 0) > top) for (const listener of listeners) listener();
    },
    add(...heads) {
      for (const head of heads)
        inMemory = [...inMemory.filter(({ beaconHeight }) => beaconHeight < head.beaconHeight), head];
    },
  };
}

function versionOfId(id = ''): ExchangeVersion {
  return parsePoolPairId(id)?.v3 === undefined ? 'V1' : 'V3';
}

/** The reserves of a pool at a head. */
export function reservesAt(head: Known | undefined, id: string): Reserves | undefined {
  const name = parsePoolPairId(id);
  const place = head && name && placeOf(head.exchange.directory, name);
  const pool = place === undefined ? undefined : poolPairAt((head as Known).exchange, place);
  return pool && { beaconHeight: pool.beaconHeight, reserve1: pool.reserve1, reserve2: pool.reserve2 };
}

/** The states with the highest and the lowest exact ratio; those with an empty side only if there are no others. */
export function extremesOf(states: readonly Reserves[]): { readonly high: Reserves; readonly low: Reserves } {
  const priced = states.filter(({ reserve1, reserve2 }) => reserve1 > 0n && reserve2 > 0n);
  const [first] = priced.length > 0 ? priced : states;
  let high = first as Reserves;
  let low = first as Reserves;
  for (const state of priced) {
    if (state.reserve1 * high.reserve2 > high.reserve1 * state.reserve2) high = state;
    if (state.reserve1 * low.reserve2 < low.reserve1 * state.reserve2) low = state;
  }
  return { high, low };
}

/** What was traded over consecutive states. */
export function tradedOver(states: readonly (Reserves | undefined)[]): {
  readonly traded1: bigint;
  readonly traded2: bigint;
} {
  let [traded1, traded2] = [0n, 0n];
  for (const [index, now] of states.entries()) {
    const before = states[index - 1];
    if (index === 0 || before === undefined || now === undefined) continue;
    const [change1, change2] = [now.reserve1 - before.reserve1, now.reserve2 - before.reserve2];
    if ((change1 > 0n && change2 < 0n) || (change1 < 0n && change2 > 0n)) {
      traded1 += change1 > 0n ? change1 : -change1;
      traded2 += change2 > 0n ? change2 : -change2;
    }
  }
  return { traded1, traded2 };
}

/**
 * The candles that a client must get, from all heights that are known.
 *
 * @param shown the height up to which there are candles; it may be missing among the known ones
 */
export function expectedCandles(
  known: readonly Known[],
  id: string,
  interval: CandleInterval,
  tip: number,
  shown: Known | undefined = known.at(-1),
) {
  const heights = new Set(known.map(({ beaconHeight }) => beaconHeight));
  return [...Map.groupBy(known, ({ time }) => openTimeOf(time, interval))].flatMap(([openTime, heads]) => {
    const states = heads.flatMap((head) => reservesAt(head, id) ?? []);
    const [open] = states;
    if (open === undefined) return [];
    const [first, last] = [heads[0] as Known, heads.at(-1) as Known];
    const before = known.findLast(({ beaconHeight }) => beaconHeight < first.beaconHeight);
    const hasLower = first.beaconHeight === 1 || heights.has(first.beaconHeight - 1);
    const hasUpper = last.beaconHeight === shown?.beaconHeight || heights.has(last.beaconHeight + 1);
    const closeTime = openTime + INTERVAL_MS[interval];
    return [
      {
        openTime,
        closeTime,
        open,
        ...extremesOf(states),
        close: states.at(-1),
        ...tradedOver([before, ...heads].map((head) => head && reservesAt(head, id))),
        firstHeight: first.beaconHeight,
        lastHeight: last.beaconHeight,
        heights: heads.length,
        isComplete: hasLower && hasUpper && heads.length === last.beaconHeight - first.beaconHeight + 1,
        isClosed: (shown?.time ?? 0) >= closeTime && isFinal(last.beaconHeight, tip),
      },
    ];
  });
}
