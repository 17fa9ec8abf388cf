import type { BeaconHeight } from '../domain/beacon-height.ts';
import { poolPairAt } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import { parseTradeCursor } from '../domain/page.ts';
import { type PoolPair, poolPairId } from '../domain/pool-pair.ts';
import type { PoolTrade } from '../domain/trade.ts';
import { BadUserInputError, HeightNotAvailableError } from '../errors.ts';
import type { RecordedTrade, TradeName, TradePlace } from '../history/trade-store.ts';
import { requireAtLeast, requireWithin } from './argument-ranges.ts';
import { createPoolBatches, type HistoryReads } from './history-view.ts';
import { readPageSize } from './page-arguments.ts';
import { DEFAULT_HOURS, HOUR_MS } from './price-changes.ts';
import { isBefore, NO_VOLUME, toVolumes } from './traded-windows.ts';

/** A trade through a pool, and the pool at the height that the response describes, or that the client has named. */
export type TradeOfBlock = { readonly trade: RecordedTrade; readonly pool: PoolPair };

/** Which trades are read: the newest ones up to the heights of the pools. */
type TradesSelection = {
  /** The maximum number of trades of all pools together. */
  readonly last: number;
  /** Only trades before this place. */
  readonly before?: TradePlace | undefined;
  /** Only blocks made at this time or later. */
  readonly from?: Instant | undefined;
  /** Only blocks made before this time. */
  readonly to?: Instant | undefined;
  /** The token of a pool that is sold. By default, both are. */
  readonly sells?: ((pool: PoolPair) => PoolTrade['sells']) | undefined;
};

/** What a pool traded in the hours up to its height, in smallest units. */
export type PoolVolume = {
  readonly token1: bigint;
  readonly token2: bigint;
  /** The number of trades. */
  readonly trades: number;
  /** The start of the window if the trades are known from there on, else the time of the first block whose trades are known. */
  readonly since: Instant;
  /** Whether the trades of all blocks of the window are known. */
  readonly isComplete: boolean;
};

/** The arguments of `PoolPair.trades`. */
type TradePageArguments = { readonly first?: number | null | undefined; readonly after?: string | null | undefined };

/** One page of the trades of a pool, newest first. */
export type TradePage = {
  readonly trades: readonly TradeOfBlock[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
};

/** The arguments of `PoolPair.volume`. */
type VolumeArguments = { readonly hours?: number | null | undefined };

/** Checks what no limit decides about. @throws BadUserInputError */
export function requireVolumeArguments({ hours }: VolumeArguments): void {
  requireAtLeast(1, 'hours', hours);
}

/**
 * The trades of the pools of one response: the recorded ones, and those of the heads in memory. Pools of V1 have none. All throw
 * HistoryUnavailableError, and UpstreamError if the trades of the block at the height of the pool cannot be read.
 */
type PoolTradeLoader = {
  /** The trades of pools of one height, newest first. Those of blocks that are not known are missing. */
  trades(pools: readonly PoolPair[], selection: TradesSelection): Promise<readonly TradeOfBlock[]>;
  /** @returns `undefined` for V1 @throws BadUserInputError for a size or cursor that is not valid */
  tradePage(pool: PoolPair, args: TradePageArguments): MaybePromise<TradePage | undefined>;
  /** @returns `undefined` for V1, and if no block of the window is known @throws BadUserInputError for more than a limit */
  volume(pool: PoolPair, args: VolumeArguments): MaybePromise<PoolVolume | undefined>;
  /** The newest known trade; `undefined` for V1, and if none is known. */
  lastTrade(pool: PoolPair): MaybePromise<RecordedTrade | undefined>;
  /**
   * A recorded trade; `undefined` if its block does not have it.
   *
   * @throws HeightNotAvailableError if the trades of the block are not recorded
   */
  recordedTrade(name: TradeName, newestHeight: BeaconHeight): Promise<RecordedTrade | undefined>;
};

/** Creates the loader of one response. The pools of one height are read together. */
export function createPoolTradeLoader({ view, readKnownTrades, tradesAtHead, limits }: HistoryReads): PoolTradeLoader {
  const { history } = view;
  const loadTrades = createPoolBatches(
    ({ pool, last, before }: TradesKey) => `${pool.beaconHeight} ${last} ${before?.beaconHeight} ${before?.place}`,
    async (keys) => {
      const [{ pool: _, ...selection }] = keys as [TradesKey];
      const pools = keys.map(({ pool }) => pool);
      const found = await readTrades(pools, selection);
      return pools.map((pool) => found.get(poolPairId(pool)) ?? []);
    },
  );
  const loadVolume = createPoolBatches(
    ({ pool, hours }: VolumeKey) => `${pool.beaconHeight} ${hours}`,
    async (keys) => {
      const [{ pool, hours }] = keys as [VolumeKey];
      const poolIds = keys.map((key) => poolPairId(key.pool));
      const found = await readVolumes(poolIds, pool, hours);
      return keys.map(() => found);
    },
  );

  /** Reads the newest trades of each pool of one height, newest first. */
  async function readTrades(
    pools: readonly PoolPair[],
    { last, before, from, to }: Omit<TradesSelection, 'sells'>,
    sells?: PoolTrade['sells'],
  ): Promise<ReadonlyMap<string, readonly RecordedTrade[]>> {
    const [pool] = pools;
    if (pool === undefined) return new Map();
    const upTo = pool.beaconHeight;
    const poolIds = pools.map(poolPairId);
    const { value, blocks } = await readKnownTrades(
      pool,
      (memoryFrom) => history.trades({ poolIds, upTo, memoryFrom, last, before, from, to, sells }),
      {
        isNeeded: ({ beaconHeight, time }) =>
          beaconHeight <= (before?.beaconHeight ?? upTo) &&
          time >= (from ?? 0) &&
          time < (to ?? Number.POSITIVE_INFINITY),
      },
    );
    const found = new Map<string, RecordedTrade[]>(poolIds.map((id) => [id, []]));
    // The recorded blocks can be between those in memory.
    for (const trade of blocks.flatMap(({ trades = [] }) => trades).toReversed()) {
      const isSelected = (before === undefined || isBefore(trade, before)) && (sells ?? trade.sells) === trade.sells;
      if (isSelected) found.get(trade.poolId)?.push(trade);
    }
    for (const [id, trades] of value) {
      const all = [...(found.get(id) ?? []), ...trades];
      found.set(id, all.sort(newestFirst).slice(0, last));
    }
    return found;
  }

  async function readVolumes(poolIds: readonly string[], pool: PoolPair, hours: number) {
    const upTo = pool.beaconHeight;
    const end = view.timeOf(pool);
    if (end === undefined) return undefined;
    const after = end - hours * HOUR_MS;
    const known = await readKnownTrades(pool, (memoryFrom) => history.volumes({ poolIds, after, upTo, memoryFrom }));
    return toVolumes(known, { after, upTo });
  }

  return {
    async trades(pools, { sells, ...selection }) {
      const ofV3 = pools.filter(({ v3 }) => v3 !== undefined);
      view.dependOnTrades();
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
    async tradePage(pool, { first, after }) {
      const size = readPageSize({ first }, limits.maxPageSize);
      const before = after == null ? undefined : parseTradeCursor(after);
      if (after != null && before === undefined) throw new BadUserInputError('after is not a valid cursor.');
      if (pool.v3 === undefined) return undefined;
      view.dependOnTrades();
      const found = await loadTrades({ pool, last: size + 1, before });
      const trades = found.slice(0, size).map((trade) => ({ trade, pool }));
      return { trades, hasNextPage: found.length > size, hasPreviousPage: before !== undefined };
    },
    volume(pool, args) {
      const hours = args.hours ?? DEFAULT_HOURS;
      requireWithin(limits.maxHistoryHours, 'hours', hours);
      if (pool.v3 === undefined) return undefined;
      const version = history.tradesVersion();
      const head = view.headAt(pool);
      const found = head
        ? tradesAtHead.volumes(head, hours, () => readVolumes(head.exchange.directory.ids, pool, hours))
        : loadVolume({ pool, hours });
      return andThen(found, (window) => {
        if (!window?.isComplete) view.dependOnTrades(version);
        if (window === undefined) return undefined;
        const { since, isComplete } = window;
        const { traded1: token1, traded2: token2, trades } = window.volumes.get(poolPairId(pool)) ?? NO_VOLUME;
        return { token1, token2, trades, since, isComplete };
      });
    },
    lastTrade(pool) {
      if (pool.v3 === undefined) return undefined;
      view.dependOnTrades();
      const head = view.headAt(pool);
      if (head === undefined) return loadTrades({ pool, last: 1, before: undefined }).then(([trade]) => trade);
      const found = tradesAtHead.lastTrades(head, 1, async () => {
        const { exchange } = head;
        const pools = exchange.directory.ids.map((_, place) => poolPairAt(exchange, place));
        const trades = await readTrades(pools, { last: 1 });
        return new Map([...trades].flatMap(([id, [trade]]) => (trade === undefined ? [] : [[id, trade]])));
      });
      return andThen(found, (trades) => trades.get(poolPairId(pool)));
    },
    async recordedTrade(name, newestHeight) {
      view.dependOnTrades();
      const trade = await view.read(() => history.trade(name));
      if (trade !== undefined) return trade;
      const { beaconHeight } = name;
      const ofBlock = { poolIds: [], upTo: beaconHeight, memoryFrom: beaconHeight, last: 1 };
      const { recorded } = await view.read(() => history.trades(ofBlock));
      if (!recorded.has(beaconHeight)) throw new HeightNotAvailableError(beaconHeight, newestHeight);
      return undefined;
    },
  };
}

/** The newest trades of a pool of V3. */
type TradesKey = Pick<TradesSelection, 'last' | 'before'> & { readonly pool: PoolPair };

/** The volume of a pool of V3. */
type VolumeKey = { readonly pool: PoolPair; readonly hours: number };

function newestFirst(a: RecordedTrade, b: RecordedTrade): number {
  return b.beaconHeight - a.beaconHeight || b.place - a.place;
}
