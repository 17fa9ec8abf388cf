import { LRUCache } from 'lru-cache';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import type { ExchangeVersion } from '../domain/pool-pair.ts';
import type { History } from '../history/history.ts';
import type { Bulkhead, QueuedCall } from '../upstream/bulkhead.ts';
import type { Requester } from '../upstream/fair-queue.ts';

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

/** A window of time up to a block, and who reads it. */
type Window = {
  readonly end: Instant;
  readonly lengthMs: number;
  readonly version: ExchangeVersion;
  readonly requester: Requester;
};

/**
 * What was recorded at moments in the past, of one version of the exchange. It is read once for all clients and for all pools of
 * that version. All throw HistoryUnavailableError.
 */
export type WindowStarts = {
  /** The newest recorded height at or before each moment; `undefined` if nothing older is recorded. */
  blocksAt(
    moments: readonly Instant[],
    version: ExchangeVersion,
    requester: Requester,
  ): MaybePromise<readonly (BlockAtMoment | undefined)[]>;
  /**
   * The exchange at the start of a window: at the newest recorded height at or before it, or at the first
   * recorded one. `undefined` while nothing is recorded.
   */
  stateAt(window: Window): MaybePromise<WindowStart | undefined>;
  /** The number of reads that have ended. What had to wait before may be in memory after another one. */
  reads(): number;
};

/** Moments whose blocks are cached: those of a few charts with 500 points. */
const MAX_MOMENTS = 4_096;

/** States in memory: those of a few windows at the last heights. A state has 16 bytes a pool. */
const MAX_STATES = 16;

/** What was read, and what can change it: nothing, a height above all others, or a missing height. */
type Reading<V> = { readonly value: V; readonly changesWith: 'NOTHING' | 'NEW_HEIGHTS' | 'MISSING_HEIGHTS' };

/** Creates the window starts of a history; nothing is read yet. @param queue in which the reads wait */
export function createWindowStarts(
  history: Pick<History, 'blockAt' | 'firstBlock' | 'stateAt' | 'version' | 'fills'>,
  queue: Bulkhead,
): WindowStarts {
  let reads = 0;
  const blocks = { V1: createBlocks('V1'), V3: createBlocks('V3') };
  const statesAt = cacheReads(MAX_STATES, readStateAt);

  function createBlocks(version: ExchangeVersion) {
    return {
      at: cacheReads(MAX_MOMENTS, (moment: Instant) => readBlockAt(moment, version)),
      first: cacheReads(1, (_: 0) => readFirstBlock(version)),
    };
  }

  /**
   * Creates the function that reads each key once for all clients, and again when its value can have changed. Keys that are
   * requested together wait in the queue as one.
   */
  function cacheReads<K extends number, V>(max: number, read: (key: K) => Promise<Reading<V>>) {
    type Call = QueuedCall<ReadonlyMap<K, Reading<V>>>;
    type Known = { readonly version: number; readonly fills: number; readonly reading: Call | Reading<V> };
    const known = new LRUCache<K, Known>({ max });

    function isCurrent({ version, fills, reading }: Known): boolean {
      if ('wait' in reading || reading.changesWith === 'NEW_HEIGHTS') return version === history.version();
      return reading.changesWith === 'NOTHING' || fills === history.fills();
    }

    function start(keys: readonly K[]): Known {
      const call = queue.queue(
        async () => new Map(await Promise.all(keys.map(async (key) => [key, await read(key)] as const))),
      );
      const started = { version: history.version(), fills: history.fills(), reading: call };
      const end = (ended?: ReadonlyMap<K, Reading<V>>) => {
        reads += 1;
        for (const key of keys) {
          if (known.peek(key) !== started) continue;
          const reading = ended?.get(key);
          if (reading === undefined) known.delete(key);
          else known.set(key, { ...started, reading });
        }
      };
      for (const key of keys) known.set(key, started);
      call.answer.then(end, () => end());
      return started;
    }

    return (keys: readonly K[], requester: Requester): MaybePromise<readonly V[]> => {
      const found = keys.map((key) => known.get(key)).map((each) => (each && isCurrent(each) ? each : undefined));
      const missing = keys.filter((_, index) => found[index] === undefined);
      const started = missing.length === 0 ? undefined : start(missing);
      const readings = found.map((each) => (each ?? (started as Known)).reading);
      const calls = [...new Set(readings)].filter((reading) => 'wait' in reading);
      if (calls.length === 0) return readings.map((reading) => (reading as Reading<V>).value);
      return Promise.all(calls.map((call) => call.wait(requester))).then((all) =>
        readings.map((reading, index) => {
          const ended = 'wait' in reading ? all[calls.indexOf(reading)]?.get(keys[index] as K) : reading;
          return (ended as Reading<V>).value;
        }),
      );
    };
  }

  async function readBlockAt(moment: Instant, version: ExchangeVersion): Promise<Reading<BlockAtMoment | undefined>> {
    const found = await history.blockAt(moment, version);
    if (found === undefined) return { value: undefined, changesWith: 'NEW_HEIGHTS' };
    const { block, next } = found;
    const isNewest = next === undefined;
    const isSettled = next?.beaconHeight === block.beaconHeight + 1;
    const changesWith = isSettled ? 'NOTHING' : isNewest ? 'NEW_HEIGHTS' : 'MISSING_HEIGHTS';
    return { value: { beaconHeight: block.beaconHeight, time: block.time, isSettled, isNewest }, changesWith };
  }

  async function readFirstBlock(version: ExchangeVersion): Promise<Reading<BlockAtMoment | undefined>> {
    const first = await history.firstBlock(version);
    if (first === undefined) return { value: undefined, changesWith: 'NEW_HEIGHTS' };
    return { value: { ...first, isSettled: false, isNewest: false }, changesWith: 'MISSING_HEIGHTS' };
  }

  async function readStateAt(height: BeaconHeight): Promise<Reading<ExchangeState | undefined>> {
    const value = await history.stateAt(height);
    return { value, changesWith: value === undefined ? 'NEW_HEIGHTS' : 'NOTHING' };
  }

  return {
    reads: () => reads,
    blocksAt: (moments, version, requester) => blocks[version].at(moments, requester),
    stateAt({ end, lengthMs, version, requester }) {
      const startOf = (block: BlockAtMoment, isAtStart: boolean) =>
        andThen(
          statesAt([block.beaconHeight], requester),
          ([exchange]) => exchange && { ...block, exchange, isAtStart },
        );
      return andThen(blocks[version].at([end - lengthMs], requester), ([block]) =>
        block === undefined
          ? andThen(blocks[version].first([0], requester), ([first]) => first && startOf(first, false))
          : startOf(block, true),
      );
    },
  };
}
