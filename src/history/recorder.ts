import type { BeaconHeight } from '../domain/beacon-height.ts';
import { INTERVAL_MS } from '../domain/candle.ts';
import { isReplacedBy } from '../domain/chain.ts';
import { versionOf } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import type { Head } from '../live/chain/head.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import { waitAtMost } from '../turns/wait-at-most.ts';
import { ComparisonError, createComparison } from './branches.ts';
import { createFollowedHeads } from './followed-heads.ts';
import { createRecorderDatabase, type HistoryWatcher } from './recorder-database.ts';
import { type FinalBlock, HistoryDatabaseError, type HistoryStore, permanentError } from './store.ts';
import type { TradedBlock } from './trade-store.ts';

/** What {@link createRecorder} creates. */
export type Recorder = ReturnType<typeof createRecorder>;

type RecorderOptions = {
  readonly store: HistoryStore;
  readonly pastStates: Pick<PastStates, 'readInBackground' | 'isComplete'>;
  readonly watcher: HistoryWatcher;
  /** Whether this gateway writes to the database now, and no other replica of its fleet. */
  readonly mayWrite: () => boolean;
};

/**
 * The time of the newest head, from which ages count, but not in the future. The time of a block can be wrong by years, and what is too
 * old is deleted, or not read any more, for good.
 */
export function newestTime({ time }: Head): Instant {
  return Math.min(time, Date.now());
}

/** Maximum number of final heights that wait while the database fails. */
const MAX_WAITING = 64;

/** Maximum number of heights from one check of `mayWrite` and of doubts to the next. */
const HEIGHTS_PER_CHECK = 16;

/**
 * Time from the first head until the database is opened, because clients wait for their first responses in that time. After a
 * failure, the pause doubles up to the longest.
 */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 30_000;

/**
 * Records the heights that were published, in their order, each once the heads above it show that it is final. All other heights
 * are left to the backfill. It never delays a head: the database is written later, and first used after a head is published.
 */
export function createRecorder({ store, pastStates, watcher, mayWrite }: RecorderOptions) {
  const heads = createFollowedHeads();
  const { read, write, recorded, ...database } = createRecorderDatabase(store, watcher);
  const comparison = createComparison({ store, readFinal: pastStates.readInBackground, watcher, mayWrite });
  let queue: readonly FinalBlock[] = [];
  /** The highest height that was in the queue. */
  let queuedTo: BeaconHeight = 0;
  let newest: Head | undefined;
  let isOpen = false;
  /** The newest head before a block was last skipped or replaced. What was read until then may be of a branch when it is recorded. */
  let doubtUpTo: BeaconHeight = 0;
  let settling: Promise<void> | undefined;
  let working: Promise<void> | undefined;
  /** Whether a head was added since the work began. */
  let isDue = false;
  let prunedAt: Instant | undefined;
  /** Whether the node has shown states without a time, which cannot be recorded. It is reported once. */
  let isUntimed = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  /** Why the last work failed; `undefined` once the next one has begun. */
  let failure: unknown;
  /** Whether the database could be read when the last work failed. */
  let isReadable = true;

  /** Opens the database, and compares it with the node while it is in doubt. All calls at the same time share it. */
  async function settle(): Promise<void> {
    if (database.state() === 'refused') throw permanentError('the database is refused');
    if (settling === undefined && isOpen && !comparison.isDue()) return;
    if (newest === undefined) throw new HistoryDatabaseError('no height has been read yet');
    settling ??= openAndCompare(newest).finally(() => {
      settling = undefined;
    });
    await settling;
  }

  async function openAndCompare(head: Head): Promise<void> {
    // One operation: a database that can be read, but not be compared, has not recovered.
    await read(async () => {
      await store.useChain(head.chainInfo.chainName);
      await comparison.deleteBranches(head);
    }, isShortLag);
    await read(database.look);
    isOpen = true;
  }

  /** Whether a node may only be some blocks behind, as after a restart: until the longest pause is reached. */
  function isShortLag(error: unknown): boolean {
    return error instanceof ComparisonError && pauseMs < LAST_PAUSE_MS;
  }

  function work(): void {
    timer = undefined;
    if (isStopped || database.state() === 'refused' || working !== undefined) return;
    failure = undefined;
    isDue = false;
    working = workOnce()
      .catch(async (error) => {
        failure = error;
        // Not whether it can be written: another recorder would usually fail to write too.
        isReadable = await store.coverage(0).then(
          () => true,
          () => false,
        );
        workLater();
      })
      .finally(() => {
        working = undefined;
        if (isDue && timer === undefined) work();
      });
  }

  function workLater(): void {
    if (timer !== undefined || isStopped) return;
    timer = setTimeout(work, pauseMs);
    pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS);
  }

  /** @throws HistoryDatabaseError if the database cannot be used, or not be compared with the node */
  async function workOnce(): Promise<void> {
    await settle();
    if (mayWrite()) {
      await recordQueue();
      await pruneHourly();
    } else {
      // It does not write now: that it can look shows that the database works.
      await write(database.look);
      // What another replica has not yet recorded waits, because this replica may have to.
      queue = queue.filter(({ exchange }) => exchange.beaconHeight > (recorded.coverage()?.last.beaconHeight ?? 0));
    }
    pauseMs = FIRST_PAUSE_MS;
    isReadable = true;
  }

  async function recordQueue(): Promise<void> {
    // Another replica may take over.
    while (queue.length > 0 && mayWrite()) {
      // Blocks that were taken from the queue would be recorded after a comparison that may show that they are of a branch.
      await settle();
      const blocks = firstRun(queue);
      await record(blocks);
      queue = queue.filter((block) => !blocks.includes(block));
    }
  }

  async function record(blocks: readonly FinalBlock[]): Promise<readonly BeaconHeight[]> {
    await settle();
    const leftOut: BeaconHeight[] = [];
    // One operation: blocks that are recorded already do not show that the database can be written.
    await write(async () => {
      // One message to the thread for each block: one for all of them would block the event loop.
      for (const block of blocks) leftOut.push(...(await store.record([block])));
    });
    if (leftOut.length > 0) watcher.leftOut(leftOut);
    const heights = blocks.map(({ exchange }) => exchange.beaconHeight);
    const doubtful = [...leftOut, ...heights.filter((height) => height <= doubtUpTo)];
    if (doubtful.length > 0) comparison.doubt(Math.max(...doubtful) + 1);
    await read(database.look);
    return leftOut;
  }

  async function recordTrades(blocks: readonly TradedBlock[], isSure = () => true): Promise<readonly BeaconHeight[]> {
    await settle();
    // An operation that writes nothing must not count as one that could write.
    if (!isSure()) return [];
    const leftOut: BeaconHeight[] = [];
    await write(async () => {
      for (const block of blocks) {
        // Unlike states, trades are not compared with the node later.
        if (!isSure()) break;
        leftOut.push(...(await store.recordTrades([block])));
      }
    });
    if (leftOut.length > 0) watcher.leftOut(leftOut);
    await read(database.lookAtTrades);
    return leftOut;
  }

  async function pruneHourly(): Promise<void> {
    if (newest === undefined) return;
    const now = newestTime(newest);
    if (prunedAt !== undefined && now - prunedAt < INTERVAL_MS.ONE_HOUR) return;
    await write(() => store.prune(now));
    prunedAt = now;
  }

  /**
   * Adds a final head to the queue. It leaves a head to the backfill if its state has no time or may lack pools, or if the version of
   * the exchange has changed since: it is not certain which version traded at the last heights before a change.
   */
  function enqueue({ beaconHeight, hash, time, exchange }: Head, { exchange: newestExchange }: Head): void {
    if (exchange.time === undefined && !isUntimed) watcher.untimed();
    isUntimed ||= exchange.time === undefined;
    if (beaconHeight <= queuedTo || exchange.time === undefined || !pastStates.isComplete(exchange)) return;
    if (versionOf(exchange) !== versionOf(newestExchange)) return;
    queuedTo = beaconHeight;
    if (queue.length === MAX_WAITING) watcher.dropped(1);
    queue = [...queue, { hash, time, version: versionOf(exchange), exchange }].slice(-MAX_WAITING);
  }

  return {
    /** Adds each head that is published. */
    add(head: Head): void {
      const before = newest;
      newest = head;
      isDue = true;
      heads.add(head);
      const final = heads.final();
      if (final !== undefined) enqueue(final, head);
      // A skipped or replaced block: what is recorded may be of a branch that was given up.
      if (before !== undefined && !heads.isConnected()) {
        comparison.doubt();
        doubtUpTo = before.beaconHeight;
        // So may be what waits for it. The backfill reads these heights again.
        if (isReplacedBy(before, head)) queue = [];
      }
      if (timer !== undefined) return;
      if (isOpen) work();
      else if (working === undefined) workLater();
    },
    /** Records final blocks that were read for it. @returns the heights that were left out @throws HistoryDatabaseError */
    record,
    /**
     * Records the trades of final blocks, as long as it is sure that they are of the chain.
     *
     * @returns the heights that were left out
     * @throws HistoryDatabaseError
     */
    recordTrades,
    /** Resolves when the database has been opened and is surely of this chain. @throws HistoryDatabaseError if it cannot be */
    async ready(): Promise<void> {
      if (isOpen && database.state() !== 'refused') return;
      // The node is called again when the pause is over, and not for each client that reads the history.
      if (failure !== undefined) throw failure;
      await settle();
    },
    /** The final heights that wait to be recorded. */
    waiting: (): ReadonlySet<BeaconHeight> => new Set(queue.map(({ exchange }) => exchange.beaconHeight)),
    /** The heads in memory; see `History.headsInMemory`. */
    headsInMemory: heads.all,
    recorded,
    /** Whether another replica was recording missing heights, when the database was last looked at. */
    isFilledByOther: () => database.isBeingFilled() && !mayWrite(),
    state: database.state,
    /** Whether this gateway can record for its fleet, as far as it knows. */
    canRecord: () => isReadable && database.state() !== 'refused',
    errors: database.errors,
    /** Stops, and records the final heights that wait. @param withinMs for how long at most */
    async flush(withinMs: number): Promise<void> {
      isStopped = true;
      database.stop();
      clearTimeout(timer);
      if (database.state() !== 'recording' || !isOpen) return;
      await waitAtMost(withinMs, (working ?? Promise.resolve()).then(recordQueue));
    },
  };
}

/**
 * The first heights of the queue up to a gap, which a skipped height leaves. What is below a gap can be of a branch although what is
 * above it is of the chain. So each run is compared with the node before the next one is recorded.
 */
function firstRun(queue: readonly FinalBlock[]): readonly FinalBlock[] {
  const lowest = queue[0]?.exchange.beaconHeight ?? 0;
  return queue.slice(0, HEIGHTS_PER_CHECK).filter(({ exchange }, index) => exchange.beaconHeight === lowest + index);
}
