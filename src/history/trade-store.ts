import type { BeaconHeight, HeightRange, TimedHeight } from '../domain/beacon-height.ts';
import type { Candle, CandleInterval } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import type { Traded } from '../domain/reserves.ts';
import type { PoolTrade, TradePlace, Volume } from '../domain/trade.ts';

/**
 * The recorded trades of final blocks. Blocks can be recorded in any order, and independently of the states: the trades of a height
 * can be known while its state is not, and the other way round.
 */
export type TradeStore = {
  /**
   * Records the trades of final blocks, each block in a transaction of its own. It skips a block that is recorded already, or
   * whose day is deleted.
   *
   * @returns the heights that were left out, as those of `HistoryStore.record`
   */
  recordTrades(blocks: readonly TradedBlock[]): Promise<readonly BeaconHeight[]>;
  /** The heights of a range whose trades are not recorded, from the newest down; none up to the highest recorded height of V1. */
  missingTrades(range: HeightRange, last: number): Promise<readonly BeaconHeight[]>;
  /** Which blocks are recorded; `undefined` if none is. */
  tradeCoverage(): Promise<TradeCoverage | undefined>;
  /** The trades of each pool, newest first. */
  trades(query: TradesQuery): Promise<BesideMemory<ReadonlyMap<string, readonly RecordedTrade[]>>>;
  /** A trade by its name; `undefined` if it is not recorded. */
  trade(name: TradeName): Promise<RecordedTrade | undefined>;
  /** What pools traded in the blocks that are made after `after`, up to the height `upTo`. */
  volumes(query: FromMemory & { readonly after: Instant }): Promise<BesideMemory<RecordedVolumes>>;
  /** What pools traded in the intervals of candles, oldest first. An interval without a block whose trades are known is left out. */
  tradedIntervals(query: TradedIntervalsQuery): Promise<BesideMemory<readonly TradedInterval[]>>;
};

/** What a final block traded. */
export type TradedBlock = TimedHeight & {
  /** `undefined` if it is not known for certain. */
  readonly hash: string | undefined;
  /** In the order of the block. */
  readonly trades: readonly PoolTrade[];
  /** Whether all of its trades could be decoded. If not, it has none here, and counts as a block whose trades are not known. */
  readonly isComplete: boolean;
};

/** The lowest block whose trades are recorded, and how many are. Those with a trade that could not be decoded count too. */
export type TradeCoverage = { readonly first: TimedHeight; readonly blocks: number };

/** A trade, and where it is recorded on the chain. */
export type RecordedTrade = PoolTrade & TradePlace & { readonly time: Instant };

/** What names a trade. */
export type TradeName = Pick<PoolTrade, 'transactionId' | 'step'> & { readonly beaconHeight: BeaconHeight };

/** A query whose result is joined with the heads in memory from a height on. */
type FromMemory = {
  /** Ids of pools of V3. */
  readonly poolIds: readonly string[];
  /** Blocks above it do not count. */
  readonly upTo: BeaconHeight;
  readonly memoryFrom: BeaconHeight;
};

/** A result, and which heights from `memoryFrom` to `upTo` it contains: the others are added from memory. */
export type BesideMemory<T> = { readonly recorded: ReadonlySet<BeaconHeight>; readonly value: T };

/** Which trades are read. */
export type TradesQuery = FromMemory & {
  /** The maximum number of trades of each pool. */
  readonly last: number;
  /** Only trades before this place. */
  readonly before?: TradePlace | undefined;
  /** Only blocks made at this time or later. */
  readonly from?: Instant | undefined;
  /** Only blocks made before this time. */
  readonly to?: Instant | undefined;
  /** Only trades that sell this token of the pool. */
  readonly sells?: PoolTrade['sells'] | undefined;
};

/** What pools traded in a window, as far as the trades of its blocks are recorded. */
export type RecordedVolumes = {
  /** The newest block with known trades that is not in the window, because it is older; `undefined` if there is none. */
  readonly before: TimedHeight | undefined;
  /** The oldest block of the window with known trades; `undefined` if there is none. */
  readonly first: TimedHeight | undefined;
  /** Number of blocks of the window with known trades. */
  readonly heights: number;
  /** The volumes of the pools that traded. */
  readonly volumes: ReadonlyMap<string, Volume>;
};

/** Which intervals are read: those that begin at `from` or later, and before `to`. */
export type TradedIntervalsQuery = FromMemory & {
  readonly interval: CandleInterval;
  readonly from: Instant;
  readonly to?: Instant | undefined;
};

/** What pools traded in one interval. */
export type TradedInterval = Pick<Candle, 'openTime' | 'firstHeight' | 'lastHeight'> & {
  /**
   * Whether the trades of all blocks from `firstHeight` to `lastHeight` are known, and those of the blocks just below and above, if any
   * exist up to `upTo` or up to the newest recorded one.
   */
  readonly isComplete: boolean;
  /** Of the pools that traded. */
  readonly traded: ReadonlyMap<string, Traded>;
};
