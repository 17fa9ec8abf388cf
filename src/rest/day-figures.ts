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

/** Reads the figures of pools of a head, in their order. `undefined` for a pool of which too little is known. */
type ReadFigures<Figures> = (head: Head, pools: readonly PoolPair[]) => Promise<readonly (Figures | undefined)[]>;

/** Pools that are read together. Between two groups, other clients get their turn. */
const POOLS_AT_ONCE = 100;

/** How long a document waits for the figures of its head: a database, or the block of a node, may not respond. */
const MAX_WAIT_MS = 2_000;

/** Figures by the ids of pools. */
type ByPool<Figures> = ReadonlyMap<string, Figures>;

/** Creates the figures; none is known yet. They are read once for each head: what is recorded later counts from the next head on. */
export function createDayFigures<Figures>(read: ReadFigures<Figures>) {
  type Reading = { readonly head: Head; readonly found: Promise<ByPool<Figures>>; known?: ByPool<Figures> };
  let newest: Reading | undefined;

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

  function startReading(head: Head, places: ReadonlySet<number>): Reading {
    // If the history cannot be read, the rest of the documents does not depend on it.
    const found = readAll(head, places).catch(() => new Map<string, Figures>());
    const started: Reading = { head, found };
    found.then((known) => {
      started.known = known;
    });
    return started;
  }

  return {
    /** The figures of the pools at these places of the current head; `undefined` if it takes too long to read them. */
    async at(head: Head, places: () => ReadonlySet<number>): Promise<ByPool<Figures> | undefined> {
      if (newest?.head !== head) newest = startReading(head, places());
      return newest.known ?? Promise.race([newest.found, sleep(MAX_WAIT_MS, undefined, { ref: false })]);
    },
    /** The figures of a head, without waiting; `undefined` if they are not read yet, or if those of another head were read since. */
    known: (head: Head): ByPool<Figures> | undefined => (newest?.head === head ? newest.known : undefined),
  };
}

/**
 * Creates the ranges, which are read from the recorded history and the heads in memory. A pool has no range while the history does
 * not reach back for 24 hours and older heights are still being read: its range would be that of a shorter time.
 */
export function createDayRanges(sources: Sources): DayFigures<DayRange> {
  return createDayFigures((head, pools) => {
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
  });
}

/** Creates the volumes and last trades, which all documents about a head share. */
export function createDayTrades(sources: Sources): DayFigures<DayTrades> {
  return createDayFigures((head, pools) => {
    const { history } = createDocumentLoaders(sources, head);
    return Promise.all(
      pools.map(async (pool) => {
        const volume = await history.volume(pool, { hours: TICKER_HOURS });
        return { volume, lastTrade: await history.lastTrade(pool) };
      }),
    );
  });
}
