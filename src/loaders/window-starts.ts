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
type WindowRequest = {
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
  /**
   * The newest recorded height at or before each moment; `undefined` if nothing older is recorded. It is called when it is the
   * turn of a client.
   */
  blocksAt(moments: readonly Instant[], version: ExchangeVersion): Promise<readonly (BlockAtMoment | undefined)[]>;
  /**
   * The exchange at the start of a window: at the newest recorded height at or before it, or at the first recorded one.
   * `undefined` while nothing is recorded.
   */
  stateAt(window: WindowRequest): MaybePromise<WindowStart | undefined>;
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
  history: Pick<History, 'blocksAt' | 'firstBlock' | 'stateAt' | 'version' | 'fills'>,
  queue: Bulkhead,
): WindowStarts {
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
    type Known = { readonly version: number; readonly fills: number; readonly reading: Reading<V> };
    const known = new LRUCache<K, Known>({ max });
    /** The calls that wait in the queue or are under way. */
    const calls = new Map<K, { readonly version: number; readonly call: QueuedCall<V | undefined> }>();

    function current(key: K): Reading<V> | undefined {
      const found = known.get(key);
      if (found === undefined) return undefined;
      const { version, fills, reading } = found;
      if (reading.changesWith === 'NEW_HEIGHTS') return version === history.version() ? reading : undefined;
      return reading.changesWith === 'NOTHING' || fills === history.fills() ? reading : undefined;
    }

    /** Reads the values that are not in memory together. */
    async function all(keys: readonly K[]): Promise<readonly V[]> {
      const found = new Map(keys.map((key) => [key, current(key)]));
      const missing = keys.filter((key) => found.get(key) === undefined);
      const before = { version: history.version(), fills: history.fills() };
      try {
        const readings = missing.length === 0 ? [] : await read(missing);
        for (const [index, reading] of readings.entries()) {
          const key = missing[index] as K;
          found.set(key, reading);
          known.set(key, { ...before, reading });
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
      if (found === undefined) return { value: undefined, changesWith: 'NEW_HEIGHTS' };
      const { block, next } = found;
      const isNewest = next === undefined;
      const isSettled = next?.beaconHeight === block.beaconHeight + 1;
      const changesWith = isSettled ? 'NOTHING' : isNewest ? 'NEW_HEIGHTS' : 'MISSING_HEIGHTS';
      return { value: { beaconHeight: block.beaconHeight, time: block.time, isSettled, isNewest }, changesWith };
    });
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
    blocksAt: (moments, version) => blocks[version].at.all(moments),
    stateAt({ end, lengthMs, version, requester }) {
      const startOf = (block: BlockAtMoment, isAtStart: boolean) =>
        andThen(states.one(block.beaconHeight, requester), (exchange) => exchange && { ...block, exchange, isAtStart });
      return andThen(blocks[version].at.one(end - lengthMs, requester), (block) =>
        block === undefined
          ? andThen(blocks[version].first.one(0, requester), (first) => first && startOf(first, false))
          : startOf(block, true),
      );
    },
  };
}
