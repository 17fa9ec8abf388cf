import { setTimeout as sleep } from 'node:timers/promises';
import { type ExchangeState, type PoolDirectory, poolPairAt } from '../domain/exchange.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import type { Head } from '../live/chain/head.ts';
import type { Sources } from '../loaders/sources.ts';
import { createDocumentLoaders, TICKER_HOURS } from './document.ts';

/** A pool at two heights of the 24 hours up to a head: those with its highest and its lowest ratio of reserves. */
export type DayRange = { readonly highest: PoolPair; readonly lowest: PoolPair };

/** Reads the ranges of pools of a head, in their order. `undefined` for a pool of which too little is recorded. */
type ReadDayRanges = (head: Head, pools: readonly PoolPair[]) => Promise<readonly (DayRange | undefined)[]>;

/** The ranges of pools as they were last read. Only the first time, a document waits for them. */
export type DayRanges = {
  /** The range of the pool at a place of the directory; `undefined` if it is not known. */
  of({ directory }: Pick<ExchangeState, 'directory'>, place: number): DayRange | undefined;
  /** Changes when ranges were read. */
  version(): object;
  /**
   * Starts to read the ranges of the pools at these places, if something has been recorded since they were read. The promise waits
   * until ranges were read once, but not for long.
   */
  refresh(head: Head, places: () => ReadonlySet<number>): Promise<void>;
};

type DayRangesOptions = {
  readonly read: ReadDayRanges;
  /** Changes each time something has been recorded. */
  readonly recordedVersion: () => number;
};

type Ranges = { readonly directory: PoolDirectory | undefined; readonly byPlace: ReadonlyMap<number, DayRange> };

const NO_RANGES: Ranges = { directory: undefined, byPlace: new Map() };

/** Pools that are read together. Between two groups, other clients can read the history. */
const POOLS_AT_ONCE = 100;

/** Reading takes at most a fiftieth of the time, however many pools there are, as long as it takes about a second. */
const PAUSE_FACTOR = 49;
const MAX_PAUSE_MS = 60_000;

/** How long the first documents wait for a database that does not respond. */
const MAX_FIRST_READ_MS = 2_000;

/** Creates the ranges; none is known yet. */
export function createDayRanges({ read, recordedVersion }: DayRangesOptions): DayRanges {
  let ranges = NO_RANGES;
  let reading: Promise<void> | undefined;
  let isFirstRead = true;
  /** What the ranges were read from. */
  let readFrom: { readonly version: number; readonly directory: PoolDirectory } | undefined;
  let pauseUntil = Number.NEGATIVE_INFINITY;

  async function readAll(head: Head, places: ReadonlySet<number>): Promise<Ranges> {
    const byPlace = new Map<number, DayRange>();
    const all = [...places];
    for (let start = 0; start < all.length; start += POOLS_AT_ONCE) {
      const group = all.slice(start, start + POOLS_AT_ONCE);
      const found = await read(
        head,
        group.map((place) => poolPairAt(head.exchange, place)),
      );
      for (const [index, place] of group.entries()) {
        const range = found[index];
        if (range !== undefined) byPlace.set(place, range);
      }
    }
    return { directory: head.exchange.directory, byPlace };
  }

  function startReading(head: Head, places: () => ReadonlySet<number>): void {
    const startedAt = performance.now();
    const version = recordedVersion();
    const { directory } = head.exchange;
    const isCurrent = readFrom?.version === version && readFrom.directory === directory;
    if (reading !== undefined || isCurrent || startedAt < pauseUntil) return;
    const end = (found: Ranges) => {
      // Nothing is known: the documents stay as they are.
      if (found.byPlace.size > 0 || ranges.byPlace.size > 0) ranges = found;
      readFrom = { version, directory };
      reading = undefined;
      // At the start, reads wait for the database and find nothing.
      const tookMs = found.byPlace.size === 0 ? 0 : performance.now() - startedAt;
      pauseUntil = performance.now() + Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * tookMs);
    };
    // If the history cannot be read, the rest of the documents does not depend on it.
    reading = readAll(head, places()).then(end, () => end(NO_RANGES));
  }

  return {
    async refresh(head, places) {
      startReading(head, places);
      if (!isFirstRead) return;
      await Promise.race([reading, sleep(MAX_FIRST_READ_MS, undefined, { ref: false })]);
      isFirstRead = false;
    },
    of: ({ directory }, place) => (directory === ranges.directory ? ranges.byPlace.get(place) : undefined),
    version: () => ranges,
  };
}

/**
 * Creates the function that reads ranges from the recorded history and the heads in memory. A pool has no range while the history
 * does not reach back for 24 hours and older heights are still being read: its range would be that of a shorter time.
 */
export function createRangeReader(sources: Sources): ReadDayRanges {
  return async (head, pools) => {
    const { history } = createDocumentLoaders(sources, head);
    const isBackfilling = history.isBackfilling();
    return Promise.all(
      pools.map(async (pool) => {
        const change = await history.change(pool, { hours: TICKER_HOURS });
        if (change === undefined || (isBackfilling && !change.start.isAtStart)) return undefined;
        const { high, low } = await history.window(change);
        return { highest: { ...pool, ...high }, lowest: { ...pool, ...low } };
      }),
    );
  };
}
