import { HistoryUnavailableError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import type { Backfill } from './backfill.ts';
import type { RecorderState } from './database-health.ts';
import type { Recorder, RecorderStatus } from './recorder.ts';
import type { Coverage, HistoryStore } from './store.ts';
import type { TradeFilling } from './trade-filling.ts';
import type { TradeCoverage } from './trade-store.ts';

/**
 * The history as the loaders read it: the recorded heights, and the heads above them that are in memory.
 *
 * Each read throws HistoryUnavailableError while the database cannot be read, or if there is no history
 * (`HISTORY_DATABASE=off`).
 */
export type History = Pick<
  HistoryStore,
  | 'coverage'
  | 'blocksAt'
  | 'firstBlock'
  | 'recentBlocks'
  | 'stateAt'
  | 'candles'
  | 'windows'
  | 'reservesAt'
  | 'trades'
  | 'trade'
  | 'volumes'
  | 'tradedIntervals'
> & {
  /** Whether older heights are being read from the node now, by this gateway or by another one of its fleet. */
  isBackfilling(): boolean;
  /**
   * The heads that are in memory and may not be recorded yet, ascending by height, each the ancestor of the next as far as
   * the node reports hashes. Use those above `recordedTo` and not above the height of the answer.
   */
  unrecorded(): readonly Head[];
  /** Changes each time something has been recorded. What was computed from the history before may then be different. */
  version(): number;
  /** Changes each time a height below the highest recorded one has been recorded, but not for the heights above. */
  fills(): number;
  /** Changes each time the trades of blocks have been recorded or deleted. */
  tradesVersion(): number;
  /** Calls a function each time when a height above all recorded ones has been recorded. */
  onRecorded(listener: () => void): void;
  status(): HistoryStatus;
};

/** The history as operators see it. */
export type HistoryStatus = Pick<RecorderStatus, 'waiting'> & {
  /** What was recorded when the database was last looked at, without all gaps; `undefined` if nothing is, or it is not known. */
  readonly coverage: Coverage | undefined;
  /** `refused` if only the operator can resolve the problem, such as a database of another chain. */
  readonly state: RecorderState | 'off';
  /** Number of operations of the database that failed. */
  readonly databaseErrors: number;
  /** Number of heights that the backfill has read from nodes. */
  readonly backfillReads: number;
  /** Of which blocks the trades are recorded, as `coverage`. */
  readonly tradeCoverage: TradeCoverage | undefined;
  /** Number of blocks that were read from nodes for their trades, and their bytes. */
  readonly tradeReads: number;
  readonly tradeReadBytes: number;
};

type HistoryOptions = {
  readonly store: HistoryStore;
  readonly recorder: Recorder;
  readonly backfill: Backfill;
  readonly tradeFilling: Pick<TradeFilling, 'reads' | 'readBytes'>;
  /** How long a read may take. */
  readonly timeoutMs: number;
};

/** Creates the history of a store. Reads wait until the database is surely of the followed chain. */
export function createHistory({ store, recorder, backfill, tradeFilling, timeoutMs }: HistoryOptions): History {
  const { recorded } = recorder;
  let readErrors = 0;

  /** Runs a read of the database. Whatever it fails with is the same to a client. */
  async function read<T>(operation: () => Promise<T>): Promise<T> {
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      reject(new Error(`no response within ${timeoutMs} ms`));
    }, timeoutMs);
    // Nobody waits for a read any more whose time is over before the database is ready.
    const readIfDue = () => (isOver ? timeout : operation());
    try {
      return await Promise.race([recorder.ready().then(readIfDue), timeout]);
    } catch (error) {
      readErrors += 1;
      throw new HistoryUnavailableError({ cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    coverage: (gaps) => read(() => store.coverage(gaps)),
    blocksAt: (times, version) => read(() => store.blocksAt(times, version)),
    firstBlock: (version) => read(() => store.firstBlock(version)),
    recentBlocks: (query) => read(() => store.recentBlocks(query)),
    stateAt: (height) => read(() => store.stateAt(height)),
    candles: (query) => read(() => store.candles(query)),
    windows: (query) => read(() => store.windows(query)),
    reservesAt: (query) => read(() => store.reservesAt(query)),
    trades: (query) => read(() => store.trades(query)),
    trade: (name) => read(() => store.trade(name)),
    volumes: (query) => read(() => store.volumes(query)),
    tradedIntervals: (query) => read(() => store.tradedIntervals(query)),
    isBackfilling: () => backfill.isReading() || recorder.isFilledByOther(),
    unrecorded: recorder.unrecorded,
    version: recorded.version,
    fills: recorded.fills,
    tradesVersion: recorded.tradesVersion,
    onRecorded: recorded.onRecorded,
    status() {
      const { errors, ...status } = recorder.status();
      return {
        ...status,
        coverage: recorded.coverage(),
        databaseErrors: errors + readErrors,
        backfillReads: backfill.reads(),
        tradeCoverage: recorded.tradeCoverage(),
        tradeReads: tradeFilling.reads(),
        tradeReadBytes: tradeFilling.readBytes(),
      };
    },
  };
}

/** The history of a gateway that records none. */
export function historyOff(): History {
  const refuse = () => Promise.reject(new HistoryUnavailableError({ isOff: true }));
  return {
    coverage: refuse,
    blocksAt: refuse,
    firstBlock: refuse,
    recentBlocks: refuse,
    stateAt: refuse,
    candles: refuse,
    windows: refuse,
    reservesAt: refuse,
    trades: refuse,
    trade: refuse,
    volumes: refuse,
    tradedIntervals: refuse,
    isBackfilling: () => false,
    unrecorded: () => [],
    version: () => 0,
    fills: () => 0,
    tradesVersion: () => 0,
    onRecorded() {},
    status: () => ({
      state: 'off',
      coverage: undefined,
      waiting: 0,
      databaseErrors: 0,
      backfillReads: 0,
      tradeCoverage: undefined,
      tradeReads: 0,
      tradeReadBytes: 0,
    }),
  };
}
