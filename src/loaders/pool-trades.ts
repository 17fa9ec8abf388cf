import DataLoader from 'dataloader';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import { INTERVAL_MS } from '../domain/candle.ts';
import { poolPairAt } from '../domain/exchange.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import { parseTradeCursor } from '../domain/page.ts';
import { type PoolPair, poolPairId } from '../domain/pool-pair.ts';
import type { PoolTrade, TradePlace } from '../domain/trade.ts';
import { BadUserInputError, HeightNotAvailableError } from '../errors.ts';
import type { RecordedTrade, TradeName, TradesQuery } from '../history/trade-store.ts';
import { type PageArguments, readPageSize, requireWithin } from './arguments.ts';
import { createPoolBatches, type HistoryView } from './history-view.ts';
import { NO_VOLUME, type ReadHistory, toVolumes, type VolumesOfWindow } from './known-trades.ts';
import { type ChangeArguments, DEFAULT_HOURS } from './price-changes.ts';

/** A trade through a pool, and the pool at the height that the response describes, or that the client has named. */
export type TradeOfBlock = { readonly trade: RecordedTrade; readonly pool: PoolPair };

/** Which trades are read: the newest ones up to the heights of the pools, at most `last` of all pools together. */
type TradesSelection = Pick<TradesQuery, 'last' | 'before' | 'from' | 'to'> & {
  /** The token of a pool that is sold. By default, both are. */
  readonly sells?: ((pool: PoolPair) => PoolTrade['sells']) | undefined;
};

/** What a pool traded in the hours up to its height, in smallest units. */
export type PoolVolume = Pick<VolumesOfWindow, 'since' | 'isComplete'> & {
  readonly token1: bigint;
  readonly token2: bigint;
  /** The number of trades. */
  readonly trades: number;
};

/** The arguments of `PoolPair.trades`. */
type TradePageArguments = Pick<PageArguments, 'first' | 'after'>;

/** One page of the trades of a pool, newest first. */
export type TradePage = {
  readonly trades: readonly TradeOfBlock[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
};

type Hours = Pick<ChangeArguments, 'hours'>;

/** Recorded trades that are read in one turn of a client. */
const TRADES_AT_ONCE = 16;

/**
 * Creates the loader of the trades of the pools of one response: the recorded ones, and those of the heads in memory. Pools of V1 have
 * none. All throw HistoryUnavailableError, and UpstreamError if the trades of the block at the height of the pool cannot be read.
 */
export function createPoolTradeLoader(view: HistoryView) {
  const { history, cache, read, readKnownTrades, versions, options } = view;
  const loadTrades = createPoolBatches(async (pools, selection: Pick<TradesSelection, 'last' | 'before'>) => {
    const found = await readTrades(pools, selection);
    return pools.map((pool) => found.get(poolPairId(pool)) ?? []);
  });
  const loadVolume = createPoolBatches(async (pools, hours: number) => {
    const found = await readVolumes(pools.map(poolPairId), pools[0], hours);
    return pools.map(() => found);
  });

  const loadRecorded = new DataLoader(
    (names: readonly TradeName[]) => read(() => Promise.all(names.map(findRecorded))),
    {
      maxBatchSize: TRADES_AT_ONCE,
      cacheKeyFn: ({ beaconHeight, transactionId, step }) => `${beaconHeight} ${transactionId} ${step}`,
    },
  );

  /** A recorded trade, and whether the trades of its block are recorded. */
  async function findRecorded(name: TradeName) {
    const trade = await history.trade(name);
    if (trade !== undefined) return { trade, isRecorded: true };
    const { beaconHeight: height } = name;
    const { recorded } = await history.trades({ poolIds: [], upTo: height, memoryFrom: height, last: 1 });
    return { trade, isRecorded: recorded.has(height) };
  }

  /** Reads the newest trades of each pool of one height, newest first. */
  async function readTrades(
    pools: readonly PoolPair[],
    { last, before, from, to }: Omit<TradesSelection, 'sells'>,
    sells?: PoolTrade['sells'],
    readHistory: ReadHistory = read,
  ): Promise<ReadonlyMap<string, readonly RecordedTrade[]>> {
    const [pool] = pools;
    if (pool === undefined) return new Map();
    const upTo = pool.beaconHeight;
    const poolIds = pools.map(poolPairId);
    const { value, blocks } = await readKnownTrades(
      pool,
      (memoryFrom) => history.trades({ poolIds, upTo, memoryFrom, last, before, from, to, sells }),
      {
        read: readHistory,
        isNeeded: ({ beaconHeight, time }) =>
          beaconHeight <= (before?.beaconHeight ?? upTo) &&
          time >= (from ?? 0) &&
          time < (to ?? Number.POSITIVE_INFINITY),
      },
    );
    const found = new Map<string, RecordedTrade[]>(poolIds.map((id) => [id, []]));
    // The recorded blocks can be between those in memory.
    for (const trade of blocks.flatMap(({ trades = [] }) => trades).toReversed()) {
      const isSelected =
        (before === undefined || newestFirst(trade, before) > 0) && (sells ?? trade.sells) === trade.sells;
      if (isSelected) found.get(trade.poolId)?.push(trade);
    }
    for (const [id, trades] of value) {
      const all = [...(found.get(id) ?? []), ...trades];
      found.set(id, all.sort(newestFirst).slice(0, last));
    }
    return found;
  }

  async function readVolumes(
    poolIds: readonly string[],
    pool: PoolPair,
    hours: number,
    readHistory: ReadHistory = read,
  ) {
    const upTo = pool.beaconHeight;
    const end = view.timeOf(pool);
    if (end === undefined) return undefined;
    const after = end - hours * INTERVAL_MS.ONE_HOUR;
    const query = (memoryFrom: BeaconHeight) => history.volumes({ poolIds, after, upTo, memoryFrom });
    const known = await readKnownTrades(pool, query, { read: readHistory });
    return toVolumes(known, { after, upTo });
  }

  return {
    /** The trades of pools of one height, newest first. Those of blocks that are not known are missing. */
    async trades(
      pools: readonly PoolPair[],
      { sells, ...selection }: TradesSelection,
    ): Promise<readonly TradeOfBlock[]> {
      const ofV3 = pools.filter(({ v3 }) => v3 !== undefined);
      versions.trades.depend();
      const groups = sells
        ? ([1, 2] as const).map((side) => ({ side, pools: ofV3.filter((pool) => sells(pool) === side) }))
        : [{ side: undefined, pools: ofV3 }];
      const found = await Promise.all(groups.map((group) => readTrades(group.pools, selection, group.side)));
      const poolOf = new Map(ofV3.map((pool) => [poolPairId(pool), pool]));
      return found
        .flatMap((trades) => [...trades.values()].flat())
        .sort(newestFirst)
        .slice(0, selection.last)
        .flatMap((trade) => {
          const pool = poolOf.get(trade.poolId);
          return pool === undefined ? [] : [{ trade, pool }];
        });
    },
    /** @returns `undefined` for V1 @throws BadUserInputError for a size or cursor that is not valid */
    async tradePage(pool: PoolPair, { first, after }: TradePageArguments): Promise<TradePage | undefined> {
      const size = readPageSize({ first }, options.maxPageSize);
      const before = after == null ? undefined : parseTradeCursor(after);
      if (after != null && before === undefined) throw new BadUserInputError('after is not a valid cursor.');
      if (pool.v3 === undefined) return undefined;
      versions.trades.depend();
      const found = await loadTrades(pool, { last: size + 1, before });
      const trades = found.slice(0, size).map((trade) => ({ trade, pool }));
      // A cursor of a later height is above the whole list.
      const hasPreviousPage = before !== undefined && before.beaconHeight <= pool.beaconHeight;
      return { trades, hasNextPage: found.length > size, hasPreviousPage };
    },
    /** @returns `undefined` for V1, and if no block of the window is known @throws BadUserInputError for more than a limit */
    volume(pool: PoolPair, args: Hours): MaybePromise<PoolVolume | undefined> {
      const hours = args.hours ?? DEFAULT_HOURS;
      requireWithin(options.maxHistoryHours, 'hours', hours);
      if (pool.v3 === undefined) return undefined;
      const version = history.tradesVersion();
      const head = view.headAt(pool);
      // One window is that of nearly all clients. Of others, only the pools that are requested are read.
      const found =
        head && hours === DEFAULT_HOURS
          ? cache.volumesAt(head, options.requester, (readHistory) =>
              readVolumes(head.exchange.directory.ids, pool, hours, readHistory),
            )
          : loadVolume(pool, hours);
      return andThen(found, (window) => {
        if (!window?.isComplete) versions.trades.depend(version);
        if (window === undefined) return undefined;
        const { since, isComplete } = window;
        const { traded1: token1, traded2: token2, trades } = window.volumes.get(poolPairId(pool)) ?? NO_VOLUME;
        return { token1, token2, trades, since, isComplete };
      });
    },
    /** The newest known trade; `undefined` for V1, and if none is known. */
    lastTrade(pool: PoolPair): MaybePromise<RecordedTrade | undefined> {
      if (pool.v3 === undefined) return undefined;
      versions.trades.depend();
      const head = view.headAt(pool);
      if (head === undefined) return loadTrades(pool, { last: 1 }).then(([trade]) => trade);
      const found = cache.lastTradesAt(head, options.requester, async (readHistory) => {
        const { exchange } = head;
        const pools = exchange.directory.ids.map((_, place) => poolPairAt(exchange, place));
        const trades = await readTrades(pools, { last: 1 }, undefined, readHistory);
        return new Map([...trades].flatMap(([id, [trade]]) => (trade === undefined ? [] : [[id, trade]])));
      });
      return andThen(found, (trades) => trades.get(poolPairId(pool)));
    },
    /**
     * A recorded trade; `undefined` if its block does not have it.
     *
     * @throws HeightNotAvailableError if the trades of the block are not recorded
     */
    async recordedTrade(name: TradeName, newestHeight: BeaconHeight): Promise<RecordedTrade | undefined> {
      versions.trades.depend();
      const { trade, isRecorded } = await loadRecorded.load(name);
      if (isRecorded) return trade;
      const { beaconHeight } = name;
      const whyNot = `The trades of the block at beacon height ${beaconHeight} are not recorded.`;
      throw new HeightNotAvailableError(beaconHeight, newestHeight, whyNot);
    },
  };
}

function newestFirst(a: TradePlace, b: TradePlace): number {
  return b.beaconHeight - a.beaconHeight || b.place - a.place;
}
