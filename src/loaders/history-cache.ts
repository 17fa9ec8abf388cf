import { LRUCache } from 'lru-cache';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import type { ExchangeVersion } from '../domain/pool-pair.ts';
import type { History } from '../history/history.ts';
import type { RecordedTrade } from '../history/trade-store.ts';
import type { Head } from '../live/chain/head.ts';
import type { Bulkhead, QueuedCall } from '../upstream/bulkhead.ts';
import type { Requester } from '../upstream/fair-queue.ts';
import type { ReadHistory, VolumesOfWindow } from './known-trades.ts';

/** A recorded height, as the newest one at some moment. */
type BlockAtMoment = {
  readonly beaconHeight: BeaconHeight;
  readonly time: Instant;
  /** Whether it stays the newest one at that moment: the next height is recorded too. */
  readonly isSettled: boolean;
  /** Whether no later height is recorded, so that one in memory can be newer at that moment. */
  readonly isNewest: boolean;
};

/** The exchange at the start of a window. */
export type WindowStart = BlockAtMoment & {
  readonly exchange: ExchangeState;
  /** Whether its block was made at or before the start of the window: nothing older is recorded otherwise. */
  readonly isAtStart: boolean;
};

/** What is read of the recorded history once for all clients. All reads throw HistoryUnavailableError. */
export type HistoryCache = ReturnType<typeof createHistoryCache>;

/** Moments whose blocks are cached: those of a few charts with 500 points. */
const MAX_MOMENTS = 4_096;

/** States in memory: those of a few windows at the last heights. A state has 16 bytes a pool. */
const MAX_STATES = 16;

/** Windows of different lengths, and heads, whose trades are cached. */
const MAX_READS_AT_HEADS = 16;

/** What was read. If it is not settled, it can be different after something has been recorded. */
type Reading<V> = { readonly value: V; readonly isSettled: boolean };

/** Creates an empty cache of a history. @param queue in which the reads of moments and states wait */
export function createHistoryCache(
  history: Pick<History, 'blocksAt' | 'firstBlock' | 'stateAt' | 'version' | 'tradesVersion'>,
  queue: Bulkhead,
) {
  let reads = 0;
  const blocks = { V1: createBlocks('V1'), V3: createBlocks('V3') };
  const states = cacheReads(MAX_STATES, (heights: readonly BeaconHeight[]) => Promise.all(heights.map(readStateAt)));

  function createBlocks(version: ExchangeVersion) {
    return {
      at: cacheReads(MAX_MOMENTS, (moments: readonly Instant[]) => readBlocksAt(moments, version)),
      first: cacheReads(1, async (_: readonly 0[]) => [await readFirstBlock(version)]),
    };
  }

  /** Creates the reads of values that all clients share, each again when it can have changed. */
  function cacheReads<K extends number, V>(max: number, read: (keys: readonly K[]) => Promise<readonly Reading<V>[]>) {
    type Known = { readonly version: number; readonly reading: Reading<V> };
    const known = new LRUCache<K, Known>({ max });
    /** The calls that wait in the queue or are under way. */
    const calls = new Map<K, { readonly version: number; readonly call: QueuedCall<V | undefined> }>();

    function current(key: K): Reading<V> | undefined {
      const found = known.get(key);
      return found?.reading.isSettled || found?.version === history.version() ? found.reading : undefined;
    }

    /** Reads the values that are not in memory together. */
    async function all(keys: readonly K[]): Promise<readonly V[]> {
      const found = new Map(keys.map((key) => [key, current(key)]));
      const missing = keys.filter((key) => found.get(key) === undefined);
      const version = history.version();
      try {
        const readings = missing.length === 0 ? [] : await read(missing);
        for (const [index, reading] of readings.entries()) {
          const key = missing[index] as K;
          found.set(key, reading);
          known.set(key, { version, reading });
        }
      } finally {
        reads += 1;
      }
      return keys.map((key) => (found.get(key) as Reading<V>).value);
    }

    function start(key: K) {
      const started = { version: history.version(), call: queue.queue(async () => (await all([key]))[0]) };
      const end = () => {
        if (calls.get(key) === started) calls.delete(key);
      };
      calls.set(key, started);
      started.call.response.then(end, end);
      return started;
    }

    /** The value of a key: from memory, or when it is the turn of one of the clients that wait for it. */
    function one(key: K, requester: Requester): MaybePromise<V | undefined> {
      const found = current(key);
      if (found !== undefined) return found.value;
      const waiting = calls.get(key);
      return (waiting?.version === history.version() ? waiting : start(key)).call.wait(requester);
    }

    return { all, one };
  }

  async function readBlocksAt(
    moments: readonly Instant[],
    version: ExchangeVersion,
  ): Promise<readonly Reading<BlockAtMoment | undefined>[]> {
    return (await history.blocksAt(moments, version)).map((found) => {
      if (found === undefined) return { value: undefined, isSettled: false };
      const { beaconHeight, time } = found.block;
      const isSettled = found.next?.beaconHeight === beaconHeight + 1;
      return { value: { beaconHeight, time, isSettled, isNewest: found.next === undefined }, isSettled };
    });
  }

  async function readFirstBlock(version: ExchangeVersion): Promise<Reading<BlockAtMoment | undefined>> {
    const first = await history.firstBlock(version);
    return { value: first && { ...first, isSettled: false, isNewest: false }, isSettled: false };
  }

  async function readStateAt(height: BeaconHeight): Promise<Reading<ExchangeState | undefined>> {
    const value = await history.stateAt(height);
    return { value, isSettled: value !== undefined };
  }

  /**
   * Creates the function that returns what was read at a head, or reads it: the first time, and after trades have been recorded. The
   * read of the database is in the queue for each operation that waits for it. `read` must begin it at once.
   */
  function cacheAtHeads<V>() {
    type Known = {
      readonly head: Head;
      readonly version: number;
      /** The read of the database that the value waits for. */
      readonly call: QueuedCall<unknown> | undefined;
      value: MaybePromise<V>;
    };
    const known = new LRUCache<string, Known>({ max: MAX_READS_AT_HEADS });

    function start(key: string, head: Head, read: (readHistory: ReadHistory) => Promise<V>): Known {
      const version = history.tradesVersion();
      let call: QueuedCall<unknown> | undefined;
      const reading = read((operation) => {
        const queued = queue.queue(operation);
        call = queued;
        return queued.response;
      });
      const started: Known = { head, version, call, value: reading };
      known.set(key, started);
      reading.then(
        (value) => {
          started.value = value;
          reads += 1;
        },
        () => {
          if (known.peek(key) === started) known.delete(key);
          reads += 1;
        },
      );
      return started;
    }

    return (
      head: Head,
      hours: number,
      requester: Requester,
      read: (readHistory: ReadHistory) => Promise<V>,
    ): MaybePromise<V> => {
      const key = `${hours} ${head.beaconHeight} ${head.hash}`;
      const found = known.get(key);
      const isCurrent = found?.head === head && found.version === history.tradesVersion();
      const { value, call } = isCurrent ? found : start(key, head, read);
      return value instanceof Promise && call !== undefined ? call.wait(requester).then(() => value) : value;
    };
  }

  return {
    /** The number of reads that have ended. What had to wait before may be in memory after another one. */
    reads: () => reads,
    /**
     * The newest recorded height of a version of the exchange at or before each moment; `undefined` if nothing older is recorded.
     * It is called when it is the turn of a client.
     */
    blocksAt: (moments: readonly Instant[], version: ExchangeVersion) => blocks[version].at.all(moments),
    /**
     * The exchange at the start of a window: at the newest recorded height at or before it, or at the first recorded one.
     * `undefined` while nothing is recorded.
     */
    stateAt(start: Instant, version: ExchangeVersion, requester: Requester): MaybePromise<WindowStart | undefined> {
      const startOf = (block: BlockAtMoment, isAtStart: boolean) =>
        andThen(states.one(block.beaconHeight, requester), (exchange) => exchange && { ...block, exchange, isAtStart });
      return andThen(blocks[version].at.one(start, requester), (block) =>
        block === undefined
          ? andThen(blocks[version].first.one(0, requester), (first) => first && startOf(first, false))
          : startOf(block, true),
      );
    },
    /** The volumes of all pools in the hours up to a head. */
    volumesAt: cacheAtHeads<VolumesOfWindow | undefined>(),
    /** The last trade of each pool up to a head. */
    lastTradesAt: cacheAtHeads<ReadonlyMap<string, RecordedTrade>>(),
  };
}
