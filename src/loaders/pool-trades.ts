import type { Instant } from '../domain/instant.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import type { PoolTrade } from '../domain/trade.ts';
import type { RecordedTrade, TradePlace } from '../history/trade-store.ts';
import { requireAtLeast } from './argument-ranges.ts';
import type { HistoryReads } from './history-view.ts';

/** A trade through a pool, and the pool at the height that the response describes, or that the client has named. */
export type TradeOfBlock = { readonly trade: RecordedTrade; readonly pool: PoolPair };

/** Which trades are read: the newest ones up to the heights of the pools. */
export type TradesSelection = {
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
};

/** Creates the loader of one response. */
export function createPoolTradeLoader(_reads: HistoryReads): PoolTradeLoader {
  return {
    trades: async () => [],
    tradePage: () => undefined,
    volume: () => undefined,
    lastTrade: () => undefined,
  };
}
