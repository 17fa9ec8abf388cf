import { resolve } from 'node:path';
import { INTERVAL_MS } from '../domain/candle.ts';
import { HistoryUnavailableError } from '../errors.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { GENTLE, QUICK } from '../history/backfill-loop.ts';
import { createBlockTimes } from '../history/block-times.ts';
import { createHistory, historyOff } from '../history/history.ts';
import { createRecorder } from '../history/recorder.ts';
import { createStateBackfill } from '../history/state-backfill.ts';
import { type HistoryStore, POSTGRES_CONNECTIONS } from '../history/store.ts';
import type { HistoryStoreOptions } from '../history/store-client.ts';
import { createTradeBackfill, GENTLE_BYTES, QUICK_BYTES } from '../history/trade-backfill.ts';
import type { Head } from '../live/chain/head.ts';
import type { Sources } from '../loaders/sources.ts';
import type { Log } from '../logging/log.ts';
import { createHistoryLog } from '../logging/upstream-log.ts';
import { DEFAULT_BACKFILL_HOURS, DEFAULT_BACKFILL_STEP, DEFAULT_HISTORY_FILE } from '../settings/history-database.ts';
import type { Config } from '../settings/settings.ts';
import { createBulkhead } from '../turns/bulkhead.ts';

/** Creates the store of a database. It is opened when it is first used. */
export type CreateStore = (options: HistoryStoreOptions) => HistoryStore;

type RecordingOptions = {
  readonly config: Config;
  readonly isSandbox: boolean;
  readonly log: Log;
  readonly createStore: CreateStore;
  /** How long a read of the history may take. */
  readonly readTimeoutMs: number | undefined;
  readonly sources: Pick<Sources, 'head' | 'pastStates' | 'trades'>;
  /** The fleet that the gateway is a replica of. */
  readonly fleet?: Pick<Fleet, 'isRecorder' | 'recordIf'> | undefined;
};

/** How long a read of the history may take by default. */
const READ_TIMEOUT_MS = 5_000;

/** Reads for clients that are in the thread of the history at once: what is recorded waits for no more than these. */
const READS_AT_ONCE = 2;

/** Reads for clients that wait in the gateway: all that a selection set with the most fields (`maxSiblings`) can need. */
const MAX_QUEUED_READS = 1_000;

/** How long a stop waits for the database. After the next start, heights that were not recorded by then are read again. */
const FLUSH_MS = 2_000;

/** A day of the sandbox. All of its week would take more CPU time than a start may. */
const COMPLETE_SANDBOX_HEIGHTS = 2_160;

/** Starts to record the heads of the nodes, in the configured database. */
export function startRecording(options: RecordingOptions) {
  const { config, isSandbox, log, createStore, fleet, readTimeoutMs = READ_TIMEOUT_MS } = options;
  const isRecorder = fleet?.isRecorder ?? (() => true);
  const { head: follower, pastStates, trades } = options.sources;
  const defaultFile = { kind: 'sqlite', path: resolve(DEFAULT_HISTORY_FILE) } as const;
  const historyQueue = createBulkhead({
    busy: () => new HistoryUnavailableError({ isBusy: true }),
    maxConcurrent: READS_AT_ONCE,
    maxQueued: MAX_QUEUED_READS,
    maxWaitMs: readTimeoutMs / 2,
  });
  const database = config.historyDatabase ?? (isSandbox ? { kind: 'memory' } : defaultFile);
  // The sandbox has a week of blocks, or with V3 a day.
  const backfillHours = config.historyBackfillHours ?? DEFAULT_BACKFILL_HOURS[isSandbox ? 'sandbox' : 'node'];
  const tradeHours = config.tradesBackfillHours ?? (isSandbox ? Math.min(backfillHours, 24) : 0);
  if (database === 'off' || config.fullnodeUrl.length === 0) {
    fleet?.recordIf(() => false);
    const history = historyOff();
    const off = { history, historyQueue, blockTimes: createBlockTimes(history) };
    return { sources: off, add(_head: Head) {}, close: async () => {} };
  }

  const onWarning = (warning: string) => log.warn(warning);
  const store = createStore({ database, rawDays: config.historyRawDays, readTimeoutMs, onWarning });
  // With PostgreSQL, the replicas of a fleet have one database. Any other database is of one replica.
  const mayWrite = database.kind === 'postgresql' ? isRecorder : () => true;
  if (fleet !== undefined && database.kind === 'sqlite')
    log.warn('each replica of the fleet has its own history: with PostgreSQL in HISTORY_DATABASE, they share one');
  const mustPause = () => follower.isStale() || pastStates.isBusy() || !follower.current()?.source.isAtRest();
  const rate = isSandbox ? QUICK : GENTLE;
  // Nothing is recorded in deleted days.
  const storedForMs = config.historyRawDays * INTERVAL_MS.ONE_DAY;
  const recorder = createRecorder({ store, pastStates, watcher: createHistoryLog(log), mayWrite });
  fleet?.recordIf(recorder.canRecord);
  const backfill = createStateBackfill({
    store,
    recorder,
    pastStates,
    mayRun: isRecorder,
    mustPause,
    maxAgeMs: Math.min(backfillHours * INTERVAL_MS.ONE_HOUR, storedForMs),
    step: config.historyBackfillStep ?? DEFAULT_BACKFILL_STEP,
    completeHeights: isSandbox && config.historyBackfillStep === undefined ? COMPLETE_SANDBOX_HEIGHTS : 0,
    rate,
  });
  const tradeBackfill = createTradeBackfill({
    store,
    recorder,
    trades,
    mayRun: mayWrite,
    // Replicas with databases of their own all record the newest blocks, and one of them reads older ones.
    mustPause: () => !isRecorder() || mustPause(),
    storedForMs,
    maxAgeMs: Math.min(tradeHours * INTERVAL_MS.ONE_HOUR, storedForMs),
    rate,
    bytes: isSandbox ? QUICK_BYTES : GENTLE_BYTES,
  });
  const maxOverdue = database.kind === 'postgresql' ? POSTGRES_CONNECTIONS - 1 : READS_AT_ONCE;
  const history = createHistory({ store, recorder, backfill, tradeBackfill, timeoutMs: readTimeoutMs, maxOverdue });

  return {
    sources: { history, historyQueue, blockTimes: createBlockTimes(history) },
    /** Takes each head that is published. */
    add(head: Head): void {
      recorder.add(head);
      backfill.wake(head);
      tradeBackfill.wake(head);
    },
    /** Records what is final, and closes the database. */
    async close(): Promise<void> {
      backfill.stop();
      tradeBackfill.stop();
      await recorder.flush(FLUSH_MS);
      await store.close().catch(() => {});
    },
  };
}
