import { LRUCache } from 'lru-cache';
import type { TimedHeight } from '../domain/beacon-height.ts';
import { type ExchangeState, type PoolDirectory, toPoolDirectory } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';
import type { ExchangeVersion } from '../domain/pool-pair.ts';
import type { History } from '../history/history.ts';
import type { RecordedTrade } from '../history/trade-store.ts';
import type { Head } from '../live/chain/head.ts';
import type { Bulkhead, QueuedCall } from '../turns/bulkhead.ts';
import type { Requester } from '../turns/fair-queue.ts';
import type { ReadHistory, VolumesOfWindow } from './known-trades.ts';

/** The exchange at the start of a window: at a recorded height, or at that of a head in memory. */
export type WindowStart = TimedHeight & {
  readonly exchange: ExchangeState;
  /** Whether its block was made at or before the start of the window: nothing older is recorded otherwise. */
  readonly isAtStart: boolean;
  /** Whether it stays the newest one at that moment: the next height is known too. */
  readonly isSettled: boolean;
  /** Whether no later height is recorded, so that one in memory can be newer at that moment. */
  readonly isNewest: boolean;
};

/** What is read of the recorded history once for all clients. All reads throw HistoryUnavailableError. */
export type HistoryCache = ReturnType<typeof createHistoryCache>;

/** Values of each kind in memory: those of windows of different lengths, and of several heads. */
const MAX_VALUES = 16;

/** A map of the last trades of 10,000 pools takes about 5 MB. */
const MAX_LAST_TRADES = 2;

/** Creates an empty cache of a history. @param queue in which the reads wait */
export function createHistoryCache(
  history: Pick<History, 'blocksAt' | 'firstBlock' | 'stateAt' | 'version' | 'tradesVersion'>,
  queue: Bulkhead,
) {
  let reads = 0;
  const readStart = cacheReads<string, WindowStart | undefined>(history.version);
  /** Of the state that was read last: new pools are rare. */
  let directory: PoolDirectory | undefined;

  /**
   * Creates the function that returns what was read under a key, or reads it: the first time, and after the version has changed. The read
   * of the database is in the queue for each operation that waits for it. `read` must begin it at once.
   */
  function cacheReads<Key extends string | Head, V>(version: () => number, max = MAX_VALUES) {
    type Known = {
      readonly version: number;
      /** The read of the database that the value waits for. */
      readonly call: QueuedCall<unknown> | undefined;
      value: MaybePromise<V>;
    };
    const known = new LRUCache<Key, Known>({ max });

    function start(key: Key, read: (readHistory: ReadHistory) => Promise<V>): Known {
      const readVersion = version();
      let call: QueuedCall<unknown> | undefined;
      const reading = read((operation) => {
        const queued = queue.queue(operation);
        call = queued;
        return queued.response;
      });
      const started: Known = { version: readVersion, call, value: reading };
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

    return (key: Key, requester: Requester, read: (readHistory: ReadHistory) => Promise<V>): MaybePromise<V> => {
      const found = known.get(key);
      const { value, call } = found?.version === version() ? found : start(key, read);
      return value instanceof Promise && call !== undefined ? call.wait(requester).then(() => value) : value;
    };
  }

  async function findStart(start: Instant, version: ExchangeVersion): Promise<WindowStart | undefined> {
    const [found] = await history.blocksAt([start], version);
    const block = found?.block ?? (await history.firstBlock(version));
    const state = block && (await history.stateAt(block.beaconHeight));
    if (block === undefined || state === undefined) return undefined;
    directory = toPoolDirectory(state.directory.ids, directory);
    const exchange = { ...state, directory };
    const { beaconHeight, time } = block;
    const isSettled = found?.next?.beaconHeight === beaconHeight + 1;
    const isAtStart = found !== undefined;
    return { beaconHeight, time, exchange, isAtStart, isSettled, isNewest: isAtStart && found.next === undefined };
  }

  return {
    /** The number of reads that have ended. When it grows, a value that was not in memory before may be there. */
    reads: () => reads,
    /**
     * The exchange at the start of a window: at the newest recorded height at or before it, or at the first recorded one.
     * `undefined` while nothing is recorded.
     */
    startAt: (start: Instant, version: ExchangeVersion, requester: Requester): MaybePromise<WindowStart | undefined> =>
      readStart(`${version} ${start}`, requester, (readHistory) => readHistory(() => findStart(start, version))),
    /** The volumes of all pools in the default window up to a head. */
    volumesAt: cacheReads<Head, VolumesOfWindow | undefined>(history.tradesVersion),
    /** The last trade of each pool up to a head. */
    lastTradesAt: cacheReads<Head, ReadonlyMap<string, RecordedTrade>>(history.tradesVersion, MAX_LAST_TRADES),
  };
}
