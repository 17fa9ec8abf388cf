import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { HeightNotAvailableError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import { createBranches } from './branches.ts';
import { createConfirmation, type FinalHead } from './confirmation.ts';
import { createDatabaseHealth, type HistoryWatcher, type RecorderState } from './database-health.ts';
import { createRetry } from './retry.ts';
import type { HistoryRole } from './role.ts';
import {
  type Coverage,
  type FinalBlock,
  HistoryDatabaseError,
  type HistoryStore,
  type RecordedHeight,
} from './store.ts';

/** Records each height that was published, once it is final. It never delays a head: the database is written later. */
export type Recorder = {
  /** Adds each head that is published. */
  add(head: Head): void;
  /** Records final blocks that were read for it. @returns the heights that were left out @throws HistoryDatabaseError */
  record(blocks: readonly FinalBlock[]): Promise<readonly BeaconHeight[]>;
  /** Resolves when the database has been opened and is surely of this chain. @throws HistoryDatabaseError if it cannot be */
  ready(): Promise<void>;
  /** The heads in memory; see `History.unrecorded`. */
  unrecorded(): readonly Head[];
  version(): number;
  fills(): number;
  /** Whether another replica was recording missing heights, when the database was last looked at. */
  isFilledByOther(): boolean;
  onRecorded(listener: () => void): void;
  status(): RecorderStatus;
  /** Stops, and records what is final and confirmed, within a time. @param withinMs maximum time */
  flush(withinMs: number): Promise<void>;
};

/** The recorder as operators see it. */
export type RecorderStatus = {
  readonly state: RecorderState;
  /** What was recorded when something was last recorded, without the gaps; `undefined` if nothing is, or it is not known. */
  readonly coverage: Coverage | undefined;
  /** Number of final heights that wait to be recorded. */
  readonly waiting: number;
  /** Number of operations of the database that failed. */
  readonly errors: number;
};

type RecorderOptions = {
  readonly store: HistoryStore;
  readonly pastStates: Pick<PastStates, 'readInBackground' | 'isComplete'>;
  readonly watcher: HistoryWatcher;
  readonly role: HistoryRole;
};

/** Final heights that wait at most while the database fails, and heights that wait to be read again. */
const MAX_WAITING = 64;

/** Blocks that are given to the database together. */
const BLOCKS_AT_ONCE = 16;

/** Time from the first head until the database is opened, because clients wait for their first responses in that time. */
const OPEN_AFTER_MS = 100;

/** How often a height is read again before it is left to the backfill. */
const MAX_READS = 5;

/** Pauses after a failure of the database, and after one of a node. */
const RETRY = { firstMs: 500, maxMs: 30_000 };

const HOUR_MS = 3_600_000;

/** The gaps that show whether another replica has recorded a missing height. */
const GAPS_COMPARED = 8;

/** Starts to record. The database is first used when a head is published. */
export function createRecorder({ store, pastStates, watcher, role }: RecorderOptions): Recorder {
  const { readInBackground: readFinal, isComplete } = pastStates;
  const confirmation = createConfirmation();
  const listeners: (() => void)[] = [];
  /** Final blocks that are not recorded yet. */
  let queue: readonly FinalBlock[] = [];
  /** Heads whose block must be read again. */
  let doubtful: readonly (FinalHead & { readonly reads: number })[] = [];
  let newest: Head | undefined;
  let coverage: Coverage | undefined;
  let version = 0;
  let fills = 0;
  let opening: Promise<void> | undefined;
  let opener: NodeJS.Timeout | undefined;
  let isOpen = false;
  /** Whether the database is of this chain for certain. A replica that does not write relies on the one that does. */
  let isSure = false;
  let isFilledByOther = false;
  let working: Promise<void> | undefined;
  let prunedAt: Instant | undefined;
  let isStopped = false;
  const retryDatabase = createRetry(RETRY, work);
  const retryNode = createRetry(RETRY, work);
  const { use, ...health } = createDatabaseHealth(watcher, retryDatabase.succeeded);
  const branches = createBranches({ store, use, readFinal, mayWrite: role.writes, onDeleted });

  function openNow(): void {
    opener = undefined;
    ready().catch(() => {});
  }

  function isReady(): boolean {
    return isOpen && (isSure || !role.writes());
  }

  /** Opens the database once, and shares it among all who wait. */
  async function ready(): Promise<void> {
    if (isReady() && health.state() !== 'refused') return;
    if (newest === undefined) throw new HistoryDatabaseError('no height has been read yet');
    if (health.state() === 'refused') throw new HistoryDatabaseError('the database is refused', { isPermanent: true });
    const head = newest;
    opening ??= open(head).finally(() => {
      opening = undefined;
    });
    await opening;
  }

  async function open(head: Head): Promise<void> {
    await use(() => store.useChain(head.chainInfo.chainName));
    const writes = role.writes();
    if (writes) await branches.requireSameChain(head);
    coverage = await use(() => store.coverage(0));
    isSure = writes;
    isOpen = true;
  }

  /** Recorded heights were of a branch: what was computed from them is wrong. */
  async function onDeleted(heights: readonly BeaconHeight[]): Promise<void> {
    watcher.deleted(heights);
    coverage = await use(() => store.coverage(0));
    version += 1;
    fills += 1;
  }

  function work(): void {
    if (isStopped || health.state() === 'refused') return;
    working ??= workOnce().finally(() => {
      working = undefined;
    });
  }

  /** Records what waits, then reads what must be read again, until nothing is left or something fails. */
  async function workOnce(): Promise<void> {
    while (!isStopped && (queue.length > 0 || doubtful.length > 0 || branches.isSuspecting())) {
      try {
        await ready();
        if (!role.writes()) await lookForRecorded();
        // Meanwhile this replica may have taken over.
        if (!role.writes()) return;
        await ready();
        await recordQueue();
        await pruneHourly();
      } catch {
        // Its reason is noted in `use`; other reasons, such as a node that lags, end by themselves.
        return retryDatabase.later();
      }
      try {
        await readOneAgain();
        await deleteSuspected();
      } catch {
        return retryNode.later();
      }
    }
  }

  /** Looks for what another replica has recorded. What it has not yet recorded waits, because this replica may have to. */
  async function lookForRecorded(): Promise<void> {
    // The other replica reads these again, or the backfill does.
    doubtful = [];
    branches.forget();
    const before = coverage;
    const after = await use(() => store.coverage(GAPS_COMPARED));
    const isReplaced = before !== undefined && !(await use(() => isRecorded(before.last)));
    coverage = after;
    const last = coverage?.last.beaconHeight ?? 0;
    isFilledByOther = isReplaced || hasFilled(before, coverage);
    if (isFilledByOther) fills += 1;
    queue = queue.filter(({ exchange }) => exchange.beaconHeight > last);
    const isHigher = last > (before?.last.beaconHeight ?? 0);
    if (isHigher || isFilledByOther) version += 1;
    if (isHigher) for (const listener of listeners) listener();
  }

  /** Whether a block is still recorded: another replica may have deleted a branch. */
  async function isRecorded({ beaconHeight, hash, time }: RecordedHeight): Promise<boolean> {
    const [last] = await store.recentBlocks({ upTo: beaconHeight, last: 1 });
    return last?.beaconHeight === beaconHeight && last.hash === hash && last.time === time;
  }

  async function recordQueue(): Promise<void> {
    // Another replica may have taken over.
    while (queue.length > 0 && role.writes()) {
      const some = queue.slice(0, BLOCKS_AT_ONCE);
      await record(some);
      queue = queue.filter((waiting) => !some.includes(waiting));
    }
  }

  async function record(blocks: readonly FinalBlock[]): Promise<readonly BeaconHeight[]> {
    const before = coverage?.last.beaconHeight ?? 0;
    const leftOut = await use(() => store.record(blocks).catch((error) => recordAgain(blocks, error)));
    if (leftOut.length > 0) watcher.leftOut(leftOut);
    const tooEarly = leftOut.filter((height) => height > before);
    if (before > 0 && tooEarly.length > 0) branches.suspectBelow(Math.min(...tooEarly));
    version += 1;
    if (blocks.some(({ exchange: { beaconHeight } }) => beaconHeight < before)) fills += 1;
    coverage = await use(() => store.coverage(0));
    if ((coverage?.last.beaconHeight ?? 0) > before) for (const listener of listeners) listener();
    return leftOut;
  }

  /** Records blocks after an error, if recorded blocks of a branch were its cause. @throws the error otherwise */
  async function recordAgain(blocks: readonly FinalBlock[], error: unknown): Promise<readonly BeaconHeight[]> {
    const isPermanent = error instanceof HistoryDatabaseError && error.isPermanent;
    const highest = Math.max(...blocks.map(({ exchange: { beaconHeight } }) => beaconHeight));
    if (!isPermanent || !newest || !(await branches.deleteBelow(highest + 1, newest))) throw error;
    return store.record(blocks);
  }

  /** @throws HistoryDatabaseError if a node or the database could not be read */
  async function deleteSuspected(): Promise<void> {
    if (newest === undefined || !branches.isSuspecting()) return;
    await branches.deleteSuspected(newest);
    retryNode.succeeded();
  }

  /** @throws UpstreamError if a node could not be read */
  async function readOneAgain(): Promise<void> {
    const [first, ...others] = doubtful;
    if (first === undefined || newest === undefined) return;
    doubtful = others;
    if (!role.readsNodes()) return;
    try {
      const exchange = await readFinal(first.head.beaconHeight, newest);
      retryNode.succeeded();
      const block = toFinalBlock(first, exchange);
      // The block was replaced, and perhaps also those below it that are recorded.
      if (exchange.time !== undefined && exchange.time !== first.head.time)
        branches.suspectBelow(first.head.beaconHeight);
      if (block !== undefined && isComplete(exchange)) enqueue([block]);
    } catch (error) {
      if (error instanceof HeightNotAvailableError) return;
      if (first.reads + 1 < MAX_READS) doubtful = [...doubtful, { ...first, reads: first.reads + 1 }];
      throw error;
    }
  }

  async function pruneHourly(): Promise<void> {
    const now = newest?.time;
    if (now === undefined || (prunedAt !== undefined && now - prunedAt < HOUR_MS)) return;
    await use(() => store.prune(now));
    prunedAt = now;
  }

  function enqueue(blocks: readonly FinalBlock[]): void {
    const all = [...queue, ...blocks];
    if (all.length > MAX_WAITING) watcher.dropped(all.length - MAX_WAITING);
    queue = all.slice(-MAX_WAITING);
  }

  return {
    add(head) {
      newest = head;
      const final = confirmation.add(head);
      const certain = final.filter(({ head: { exchange }, toRead }) => toRead === 'nothing' && isComplete(exchange));
      enqueue(certain.map(({ head }) => blockOf(head, head.exchange)));
      const uncertain = final.filter((each) => !certain.includes(each)).map((each) => ({ ...each, reads: 0 }));
      doubtful = [...doubtful, ...uncertain].slice(-MAX_WAITING);
      if (!isReady() && !isStopped && queue.length === 0) opener ??= setTimeout(openNow, OPEN_AFTER_MS);
      if (!retryDatabase.isPending()) work();
    },
    record,
    ready,
    unrecorded: confirmation.chain,
    version: () => version,
    fills: () => fills,
    isFilledByOther: () => isFilledByOther && !role.writes(),
    onRecorded: (listener) => void listeners.push(listener),
    status: () => ({
      state: health.state(),
      coverage,
      waiting: queue.length + doubtful.length,
      errors: health.errors(),
    }),
    async flush(withinMs) {
      isStopped = true;
      health.stop();
      clearTimeout(opener);
      retryDatabase.stop();
      retryNode.stop();
      if (health.state() !== 'recording' || !isReady()) return;
      const timer = Promise.withResolvers<void>();
      const timeout = setTimeout(timer.resolve, withinMs);
      await Promise.race([(working ?? Promise.resolve()).then(recordQueue).catch(() => {}), timer.promise]);
      clearTimeout(timeout);
    },
  };
}

/** Whether heights below the highest one were recorded between two looks: heights above it change no gap. */
function hasFilled(before: Coverage | undefined, after: Coverage | undefined): boolean {
  if (before === undefined || after === undefined) return false;
  const missing = ({ first, last, heights, gaps }: Coverage) =>
    JSON.stringify([first.beaconHeight, last.beaconHeight - first.beaconHeight + 1 - heights, gaps]);
  return missing(before) !== missing(after);
}

/** The block with a state that was read when it was final; `undefined` if its time is not known for certain. */
function toFinalBlock({ head, toRead }: FinalHead, exchange: ExchangeState): FinalBlock | undefined {
  if (toRead !== 'everything') return blockOf(head, exchange);
  return exchange.time === undefined ? undefined : { hash: undefined, time: exchange.time, exchange };
}

function blockOf({ hash, time }: Head, exchange: ExchangeState): FinalBlock {
  return { hash, time, exchange };
}
