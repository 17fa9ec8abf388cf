import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type ExchangeState, type PoolDirectory, poolPairAt } from '../domain/exchange.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import type { Head } from '../live/chain/head.ts';
import type { PoolVolume, TradeOfBlock } from '../loaders/pool-trades.ts';
import type { Sources } from '../loaders/sources.ts';
import { createDocumentLoaders, TICKER_HOURS } from './document.ts';

/** A pool at two heights of the 24 hours up to a head: those with its highest and its lowest ratio of reserves. */
export type DayRange = { readonly highest: PoolPair; readonly lowest: PoolPair };

/** What was traded through a pool in the 24 hours up to a head, and its newest trade, as far as they are known. */
export type DayTrades = {
  readonly volume: PoolVolume | undefined;
  readonly lastTrade: TradeOfBlock['trade'] | undefined;
};

/** Figures of pools, such as their ranges, as they were last read. Only the first time, a document waits for them. */
export type DayFigures<Figures> = ReturnType<typeof createDayFigures<Figures>>;

type DayFiguresOptions<Figures> = {
  /** Reads the figures of pools of a head, in their order. `undefined` for a pool of which too little is known. */
  readonly read: (head: Head, pools: readonly PoolPair[]) => Promise<readonly (Figures | undefined)[]>;
  readonly versionOf: (head: Head) => unknown;
  /** How often the time that a read takes passes before the next one. */
  readonly pauseFactor?: number;
};

/** Pools that are read together. Between two groups, other clients get their turn. */
const POOLS_AT_ONCE = 100;

const MAX_PAUSE_MS = 60_000;

/** How long the first documents wait for a database that does not respond. */
const MAX_FIRST_READ_MS = 2_000;

/** Creates the figures; none is known yet. */
export function createDayFigures<Figures>(options: DayFiguresOptions<Figures>) {
  const { read, versionOf, pauseFactor = 0 } = options;
  /** By the ids of pools: with a new pool, others have another place. */
  type Known = ReadonlyMap<string, Figures>;
  const none: Known = new Map();
  let known = none;
  let reading: Promise<void> | undefined;
  let isFirstRead = true;
  let readFrom: { readonly version: unknown; readonly directory: PoolDirectory } | undefined;
  let pauseUntil = Number.NEGATIVE_INFINITY;

  async function readAll(head: Head, places: ReadonlySet<number>): Promise<Known> {
    const byId = new Map<string, Figures>();
    const all = [...places];
    for (let start = 0; start < all.length; start += POOLS_AT_ONCE) {
      // What is in memory is read without a wait.
      if (start > 0) await nextTurn();
      const group = all.slice(start, start + POOLS_AT_ONCE);
      const found = await read(
        head,
        group.map((place) => poolPairAt(head.exchange, place)),
      );
      for (const [index, place] of group.entries()) {
        const figures = found[index];
        if (figures !== undefined) byId.set(idAt(head.exchange, place), figures);
      }
    }
    return byId;
  }

  function startReading(head: Head, places: () => ReadonlySet<number>): void {
    const startedAt = performance.now();
    const version = versionOf(head);
    const { directory } = head.exchange;
    const isCurrent = readFrom?.directory === directory && readFrom.version === version;
    if (reading !== undefined || isCurrent || startedAt < pauseUntil) return;
    const end = (found: Known) => {
      // Nothing is known: the documents stay as they are.
      if (found.size > 0 || known.size > 0) known = found;
      readFrom = { version, directory };
      reading = undefined;
      // At the start, reads wait for the database and find nothing.
      const tookMs = found.size === 0 ? 0 : performance.now() - startedAt;
      pauseUntil = performance.now() + Math.min(MAX_PAUSE_MS, pauseFactor * tookMs);
    };
    // If the history cannot be read, the rest of the documents does not depend on it.
    reading = readAll(head, places()).then(end, () => end(none));
  }

  return {
    /**
     * Starts to read the figures of the pools at these places, if their version has changed since they were read. The promise waits
     * until figures were read once, but not for long.
     */
    async refresh(head: Head, places: () => ReadonlySet<number>): Promise<void> {
      startReading(head, places);
      if (!isFirstRead) return;
      await Promise.race([reading, sleep(MAX_FIRST_READ_MS, undefined, { ref: false })]);
      isFirstRead = false;
    },
    /** The figures of the pool at a place of the directory; `undefined` if they are not known. */
    of: (state: Pick<ExchangeState, 'directory'>, place: number): Figures | undefined => known.get(idAt(state, place)),
    version: (): object => known,
  };
}

function idAt({ directory }: Pick<ExchangeState, 'directory'>, place: number): string {
  return directory.ids[place] ?? '';
}

/** Reading ranges takes at most a fiftieth of the time, however many pools there are, as long as it takes about a second. */
const RANGES_PAUSE_FACTOR = 49;

/**
 * Creates the ranges, which are read from the recorded history and the heads in memory. A pool has no range while the history does
 * not reach back for 24 hours and older heights are still being read: its range would be that of a shorter time.
 */
export function createDayRanges(sources: Sources): DayFigures<DayRange> {
  return createDayFigures({
    versionOf: sources.history.version,
    pauseFactor: RANGES_PAUSE_FACTOR,
    read(head, pools) {
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
    },
  });
}

/** Creates the volumes and last trades, which all documents and operations about a head share. */
export function createDayTrades(sources: Sources): DayFigures<DayTrades> {
  return createDayFigures({
    versionOf: ({ beaconHeight, hash }) => `${beaconHeight} ${hash} ${sources.history.tradesVersion()}`,
    async read(head, pools) {
      const { history } = createDocumentLoaders(sources, head);
      return Promise.all(
        pools.map(async (pool) => {
          const volume = await history.volume(pool, { hours: TICKER_HOURS });
          return { volume, lastTrade: await history.lastTrade(pool) };
        }),
      );
    },
  });
}
