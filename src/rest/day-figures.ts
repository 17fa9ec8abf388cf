import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { poolPairAt } from '../domain/exchange.ts';
import { type PoolPair, poolPairId } from '../domain/pool-pair.ts';
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

/** Figures of pools at a head, such as their ranges. All documents share one read of them. */
export type DayFigures<Figures> = ReturnType<typeof createDayFigures<Figures>>;

type DayFiguresOptions<Figures> = {
  /** Reads the figures of pools of a head, in their order. `undefined` for a pool of which too little is known. */
  readonly read: (head: Head, pools: readonly PoolPair[]) => Promise<readonly (Figures | undefined)[]>;
  /** The figures of one head are read again when this has changed. */
  readonly version: () => unknown;
  /** How often the time that a read takes passes before the next one of the same head. */
  readonly pauseFactor?: number;
};

/** Pools that are read together. Between two groups, other clients get their turn. */
const POOLS_AT_ONCE = 100;

const MAX_PAUSE_MS = 60_000;

/** How long a document waits for the figures of its head: a database, or the block of a node, may not respond. */
const MAX_WAIT_MS = 2_000;

/** Figures by the ids of pools. The same map has the same figures. */
type ByPool<Figures> = ReadonlyMap<string, Figures>;

/** Creates the figures; none is known yet. */
export function createDayFigures<Figures>({ read, version, pauseFactor = 0 }: DayFiguresOptions<Figures>) {
  type Newest = { readonly head: Head | undefined; readonly version: unknown; readonly byPool: ByPool<Figures> };
  let newest: Newest = { head: undefined, version: undefined, byPool: new Map() };
  let reading: { readonly head: Head; readonly found: Promise<ByPool<Figures>> } | undefined;
  let pauseUntil = Number.NEGATIVE_INFINITY;

  async function readAll(head: Head, places: ReadonlySet<number>): Promise<ByPool<Figures>> {
    const byPool = new Map<string, Figures>();
    const all = [...places];
    for (let start = 0; start < all.length; start += POOLS_AT_ONCE) {
      // What is in memory is read without a wait.
      if (start > 0) await nextTurn();
      const pools = all.slice(start, start + POOLS_AT_ONCE).map((place) => poolPairAt(head.exchange, place));
      const found = await read(head, pools);
      for (const [index, pool] of pools.entries()) {
        const figures = found[index];
        if (figures !== undefined) byPool.set(poolPairId(pool), figures);
      }
    }
    return byPool;
  }

  function startReading(head: Head, places: () => ReadonlySet<number>): Promise<ByPool<Figures>> {
    const startedAt = performance.now();
    const readVersion = version();
    const end = (found: ByPool<Figures>) => {
      // While nothing is known, the documents stay as they are.
      const byPool = found.size > 0 || newest.byPool.size > 0 ? found : newest.byPool;
      // Otherwise, a newer head is being read.
      if (reading?.head !== head) return byPool;
      newest = { head, version: readVersion, byPool };
      reading = undefined;
      // At the start, reads wait for the database and find nothing.
      const tookMs = found.size === 0 ? 0 : performance.now() - startedAt;
      pauseUntil = performance.now() + Math.min(MAX_PAUSE_MS, pauseFactor * tookMs);
      return byPool;
    };
    // If the history cannot be read, the rest of the documents does not depend on it.
    const found = readAll(head, places()).then(end, () => end(new Map()));
    reading = { head, found };
    return found;
  }

  return {
    /**
     * The figures of the pools at these places of a head, which are read if they are not known; `undefined` if that takes too long, or if
     * those of a newer head are read already. Known figures of this head are read again in the background, if their version has changed.
     */
    async at(head: Head, places: () => ReadonlySet<number>): Promise<ByPool<Figures> | undefined> {
      if (newest.head === head) {
        const { byPool } = newest;
        const isCurrent = newest.version === version() || performance.now() < pauseUntil;
        if (reading === undefined && !isCurrent) startReading(head, places);
        return byPool;
      }
      const isOld = [newest.head, reading?.head].some((other) => other && other.beaconHeight > head.beaconHeight);
      if (isOld && reading?.head !== head) return undefined;
      const found = reading?.head === head ? reading.found : startReading(head, places);
      return Promise.race([found, sleep(MAX_WAIT_MS, undefined, { ref: false })]);
    },
    newest: () => newest,
  };
}

/** While older heights are recorded, reading ranges of one head again takes at most a fiftieth of the time. */
const RANGES_PAUSE_FACTOR = 49;

/**
 * Creates the ranges, which are read from the recorded history and the heads in memory. A pool has no range while the history does
 * not reach back for 24 hours and older heights are still being read: its range would be that of a shorter time.
 */
export function createDayRanges(sources: Sources): DayFigures<DayRange> {
  return createDayFigures({
    version: sources.history.version,
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

/** Creates the volumes and last trades, which all documents about a head share. */
export function createDayTrades(sources: Sources): DayFigures<DayTrades> {
  return createDayFigures({
    version: sources.history.tradesVersion,
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
