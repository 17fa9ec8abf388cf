import type { BeaconHeight, HeightRange, TimedHeight } from '../domain/beacon-height.ts';
import type { CandleInterval, CandleRange, PoolCandle } from '../domain/candle.ts';
import type { ExchangeState, PoolDirectory } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import type { ExchangeVersion } from '../domain/pool-pair.ts';
import type { PoolWindow, Reserves } from '../domain/reserves.ts';
import type { TradeStore } from './trade-store.ts';

/** Where the history is stored. Memory is empty at each start. */
export type HistoryDatabase =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgresql'; readonly url: string };

/** Maximum number of connections to PostgreSQL, for reads and writes together. */
export const POSTGRES_CONNECTIONS = 4;

/**
 * The recorded history of one chain: which reserves changed at each final height, and when.
 *
 * Heights can be recorded in any order: new ones from the tip, and missing ones from the newest to the oldest. Each read
 * responds from one consistent state of the database.
 *
 * A height is of one version of the exchange, and says nothing about the pools of the other one. To these pools, it is like a
 * height that is not recorded.
 */
export type HistoryStore = TradeStore & {
  /**
   * Names the chain that is recorded, before anything is recorded or read. An empty database takes the name.
   *
   * @throws HistoryDatabaseError if the database cannot be used now; permanent if only the operator can resolve that
   */
  useChain(chainName: string): Promise<void>;
  /**
   * Records final heights, each in a transaction of its own. It skips a height that is recorded already, or whose day is deleted.
   *
   * The store compares each state with that of the next lower recorded height of its version, and records only the pools that
   * differ.
   *
   * @returns the heights that were left out, because one of two blocks is of a branch that was given up: another block is
   *   recorded at the height, with another time or, if both are known, another hash; or the time is not between those of the
   *   recorded states and trades next to it
   * @throws HistoryDatabaseError if the database cannot be written now
   */
  record(blocks: readonly FinalBlock<StoredState>[]): Promise<readonly BeaconHeight[]>;
  /**
   * What is recorded; `undefined` while nothing is.
   *
   * @param gaps the maximum number of gaps, newest first
   * @param step with a step, only the gaps that have a height to read at this step: see `heightsToRead`
   */
  coverage(gaps: number, step?: number): Promise<Coverage | undefined>;
  /**
   * For each time: the newest recorded height whose block was made at or before it, and the next recorded one above it.
   *
   * @param version counts only the heights of that version
   */
  blocksAt(times: readonly Instant[], version?: ExchangeVersion): Promise<readonly (BlockAt | undefined)[]>;
  /** The lowest recorded height of a version. */
  firstBlock(version: ExchangeVersion): Promise<RecordedHeight | undefined>;
  /** The newest recorded heights that are not above `upTo`, at most `last` of them, ascending. */
  recentBlocks(query: { readonly upTo: BeaconHeight; readonly last: number }): Promise<readonly RecordedHeight[]>;
  /** All pools of the exchange after the newest recorded height that is not above `height`; `undefined` if there is none. */
  stateAt(height: BeaconHeight): Promise<StoredState | undefined>;
  /**
   * The candles of pools, oldest first. A pool that has no recorded state has none.
   *
   * A candle is of the recorded heights of its interval, of the version of the pool. An interval without such a height has no candle. An
   * interval without a change has one: all four states are that of the interval before. A change across heights that are not
   * recorded counts at the first recorded height after them. `isComplete` says that all heights from `firstHeight` to `lastHeight`
   * are recorded, and the ones just below and above, if any exist up to `upTo` or up to the newest recorded one.
   */
  candles(
    query: CandleRange & {
      /** Ids of pools of one version, as in `PoolDirectory.ids`. */
      readonly poolIds: readonly string[];
      readonly interval: CandleInterval;
      /** Heights above it do not count. */
      readonly upTo: BeaconHeight;
    },
  ): Promise<Recorded<ReadonlyMap<string, readonly PoolCandle[]>>>;
  /**
   * What happened to pools of one version above `fromHeight` up to `toHeight`, for each pool that has a recorded state. `high` and
   * `low` include the state at `fromHeight`.
   */
  windows(query: {
    readonly poolIds: readonly string[];
    readonly fromHeight: BeaconHeight;
    readonly toHeight: BeaconHeight;
  }): Promise<Recorded<ReadonlyMap<string, PoolWindow>>>;
  /** The reserves of pools after several heights: for each pool one state per height, `undefined` if it did not exist. */
  reservesAt(query: {
    readonly poolIds: readonly string[];
    readonly heights: readonly BeaconHeight[];
  }): Promise<ReadonlyMap<string, readonly (Reserves | undefined)[]>>;
  /**
   * Deletes a recorded block and everything above it in one transaction, because it is of a branch that was given up. It also deletes
   * the trades of the heights below it, down to the next recorded state: they may be of the branch too. What is read afterwards
   * is as if all of this had never been recorded. If another block is recorded at that height by now, or none, nothing is deleted.
   *
   * @returns the deleted heights, ascending
   * @throws HistoryDatabaseError permanent if no lower height is recorded, or if changes of these heights are deleted already
   */
  deleteFrom(block: RecordedHeight): Promise<readonly BeaconHeight[]>;
  /** Deletes changes, trades and short candles that are older than their retention. @param now the time of the newest block */
  prune(now: Instant): Promise<void>;
  /** The time before which `prune` has deleted states and trades, and no block is recorded; 0 while it has deleted none. */
  deletedBefore(): Promise<Instant>;
  close(): Promise<void>;
};

/** The methods with which clients read. */
export const READS = [
  ...(['coverage', 'blocksAt', 'firstBlock', 'recentBlocks', 'stateAt', 'candles', 'windows', 'reservesAt'] as const),
  ...(['trades', 'trade', 'volumes', 'tradedIntervals'] as const),
];

/** What clients read of the history. */
export type HistoryReads = Pick<HistoryStore, (typeof READS)[number]>;

/** A method of a store whose arguments and result are only passed on. */
type AnyMethod = (...values: readonly unknown[]) => Promise<unknown>;

/** Creates methods of a store by their names. */
export function toMethods<M extends keyof HistoryStore>(
  names: readonly M[],
  of: (method: M) => AnyMethod,
): Pick<HistoryStore, M> {
  return Object.fromEntries(names.map((method) => [method, of(method)])) as Pick<HistoryStore, M>;
}

/** Calls a method of a store by its name. */
export function callOf(store: HistoryStore, method: keyof HistoryStore, values: readonly unknown[]): Promise<unknown> {
  return (store[method] as AnyMethod)(...values);
}

/** A final height: a block that can no longer be replaced, and the exchange after it. */
export type FinalBlock<State = ExchangeState> = {
  /** `undefined` if it is not known for certain: a state that was read when its height was final has no hash. */
  readonly hash: string | undefined;
  readonly time: Instant;
  /** The version of the exchange. A recorded state does not show it. */
  readonly version: ExchangeVersion;
  readonly exchange: State;
};

/** What a store records of a state, and reads: of the directory of pools, the ids. */
export type StoredState = Pick<ExchangeState, 'beaconHeight' | 'time' | 'reserves'> & {
  readonly directory: Pick<PoolDirectory, 'ids'>;
};

/** Which heights are recorded. */
export type Coverage = {
  readonly first: RecordedHeight;
  readonly last: RecordedHeight;
  /** Number of recorded heights. */
  readonly heights: number;
  /** Ranges of heights between the first and the last that are not recorded, newest first. */
  readonly gaps: readonly HeightRange[];
};

/** A recorded height. Its hash is `undefined` if it was not known when the height was recorded. */
export type RecordedHeight = TimedHeight & { readonly hash: string | undefined };

/** The block at a time, and the next recorded one above it. */
export type BlockAt = { readonly block: RecordedHeight; readonly next: RecordedHeight | undefined };

/**
 * A result, and the newest height that was recorded when it was read: higher ones are added from memory. It is one of the version
 * of the pools.
 */
type Recorded<T> = { readonly recordedTo: BeaconHeight | undefined; readonly value: T };

/** Why a database cannot be used now. The message is for the log; clients get HISTORY_UNAVAILABLE. */
export class HistoryDatabaseError extends Error {
  override readonly name = 'HistoryDatabaseError';
  /** Whether only the operator can resolve it: another chain, a newer version, not a database of the gateway. */
  readonly isPermanent: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isPermanent?: boolean } = {}) {
    super(message, options);
    this.isPermanent = options.isPermanent ?? false;
  }
}

/** The error of a database that only the operator can make usable. */
export function permanentError(message: string): HistoryDatabaseError {
  return new HistoryDatabaseError(message, { isPermanent: true });
}
