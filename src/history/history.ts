import { HistoryUnavailableError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import type { Recorder } from './recorder.ts';
import type { RecorderState } from './recorder-database.ts';
import type { StateBackfill } from './state-backfill.ts';
import { type Coverage, callOf, type HistoryReads, type HistoryStore, READS, toMethods } from './store.ts';
import type { TradeBackfill } from './trade-backfill.ts';
import type { TradeCoverage } from './trade-store.ts';

/**
 * The history as the loaders read it: the recorded heights, and the heads above them that are in memory.
 *
 * Each read throws HistoryUnavailableError while the database cannot be read, or if there is no history
 * (`HISTORY_DATABASE=off`).
 */
export type History = HistoryReads &
  Omit<Recorder['recorded'], 'coverage' | 'tradeCoverage'> & {
    /** Whether older heights are being read from the node now, by this gateway or by another one of its fleet. */
    isBackfilling(): boolean;
    /**
     * The heads that are in memory and may not be recorded yet, ascending by height, each the ancestor of the next as far as
     * the node reports hashes. Use those above `recordedTo` and not above the height of the response.
     */
    headsInMemory(): readonly Head[];
    status(): HistoryStatus;
  };

/** The history as operators see it. */
export type HistoryStatus = {
  /** Number of final heights that wait to be recorded. */
  readonly waiting: number;
  /** What was recorded when the database was last looked at, without all gaps; `undefined` if nothing is, or it is not known. */
  readonly coverage?: Coverage | undefined;
  /** `refused` if only the operator can resolve the problem, such as a database of another chain. */
  readonly state: RecorderState | 'off';
  /** Number of operations of the database that failed. */
  readonly databaseErrors: number;
  /** Number of heights that the backfill has read from nodes. */
  readonly backfillReads: number;
  /** Of which blocks the trades are recorded, as `coverage`. */
  readonly tradeCoverage?: TradeCoverage | undefined;
  /** Number of blocks that were read from nodes for their trades, and their bytes. */
  readonly tradeReads: number;
  readonly tradeReadBytes: number;
};

type HistoryOptions = {
  readonly store: HistoryStore;
  readonly recorder: Recorder;
  readonly backfill: Pick<StateBackfill, 'isReading' | 'reads'>;
  readonly tradeBackfill: Pick<TradeBackfill, 'reads' | 'readBytes'>;
  readonly timeoutMs: number;
  /** While the database works on this number of reads whose time is over, all others fail at once. Otherwise they would pile up. */
  readonly maxOverdue: number;
};

/** Creates the history of a store. Reads wait until the database is surely of the followed chain. */
export function createHistory(options: HistoryOptions): History {
  const { store, recorder, backfill, tradeBackfill, timeoutMs, maxOverdue } = options;
  const { coverage, tradeCoverage, ...changes } = recorder.recorded;
  let readErrors = 0;
  /** Number of reads whose time is over, and that the database still works on. */
  let overdue = 0;

  /** Runs a read of the database. Whatever it fails with is the same to a client. */
  async function read<T>(operation: () => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    let isOver = false;
    let reading: Promise<T> | undefined;
    const timer = setTimeout(() => {
      isOver = true;
      late.reject(new Error(`no response within ${timeoutMs} ms`));
      if (reading === undefined) return;
      const end = () => {
        overdue -= 1;
      };
      overdue += 1;
      reading.then(end, end);
    }, timeoutMs);
    async function readIfDue(): Promise<T> {
      await recorder.ready();
      // Nobody waits any more for a read whose time is over before it begins.
      if (isOver) return late.promise;
      if (overdue >= maxOverdue) throw new Error(`the database still works on ${overdue} reads whose time is over`);
      reading = operation();
      return reading;
    }
    try {
      return await Promise.race([readIfDue(), late.promise]);
    } catch (error) {
      readErrors += 1;
      throw new HistoryUnavailableError({ cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    ...toMethods(
      READS,
      (method) =>
        (...values) =>
          read(() => callOf(store, method, values)),
    ),
    isBackfilling: () => backfill.isReading() || recorder.isFilledByOther(),
    headsInMemory: recorder.headsInMemory,
    ...changes,
    status: () => ({
      state: recorder.state(),
      waiting: recorder.waiting().size,
      coverage: coverage(),
      databaseErrors: recorder.errors() + readErrors,
      backfillReads: backfill.reads(),
      tradeCoverage: tradeCoverage(),
      tradeReads: tradeBackfill.reads(),
      tradeReadBytes: tradeBackfill.readBytes(),
    }),
  };
}

/** The history of a gateway that records none. */
export function historyOff(): History {
  const nothing = { waiting: 0, databaseErrors: 0, backfillReads: 0, tradeReads: 0, tradeReadBytes: 0 };
  return {
    ...toMethods(READS, () => () => Promise.reject(new HistoryUnavailableError({ isOff: true }))),
    isBackfilling: () => false,
    headsInMemory: () => [],
    version: () => 0,
    tradesVersion: () => 0,
    onRecorded() {},
    status: () => ({ state: 'off', ...nothing }),
  };
}
