import type { BeaconHeight } from '../domain/beacon-height.ts';
import { type Coverage, HistoryDatabaseError, type HistoryStore, type RecordedHeight } from './store.ts';
import type { TradeCoverage } from './trade-store.ts';

/** `refused` if only the operator can resolve the problem of the database. */
export type RecorderState = 'starting' | 'recording' | 'failing' | 'refused';

/** Is notified when the database begins to fail, and when it works again: once each. */
export type HistoryWatcher = {
  failed(error: unknown): void;
  recovered(): void;
  /** The database cannot be used until the operator has resolved its problem. */
  refused(error: unknown): void;
  /** The exchange states of the node have no time: their heights cannot be recorded. */
  untimed(): void;
  /** Final heights were dropped, because too many waited. They are read from the node later. */
  dropped(heights: number): void;
  /** These heights do not fit to the recorded ones: a node has shown a branch of the chain. */
  leftOut(heights: readonly BeaconHeight[]): void;
  /** These recorded heights were of a branch that was given up. The heights of the chain are read from the node later. */
  deleted(heights: readonly BeaconHeight[]): void;
  /** At all heights that could be compared, up to this one, the node has other blocks than the history. The recorded ones stay. */
  undecided(upTo: BeaconHeight): void;
};

/** How many of the newest gaps are compared to notice that a missing height was recorded. */
const GAPS_COMPARED = 8;

/** Creates what the recorder knows of a database: how its operations go, and what was recorded in it when it was last looked at. */
export function createRecorderDatabase(
  store: Pick<HistoryStore, 'coverage' | 'recentBlocks' | 'tradeCoverage'>,
  watcher: HistoryWatcher,
) {
  const listeners: (() => void)[] = [];
  let state: RecorderState = 'starting';
  /** Whether the last operation that records has failed. */
  let cannotWrite = false;
  let errors = 0;
  let isStopped = false;
  let coverage: Coverage | undefined;
  let version = 0;
  let isBeingFilled = false;
  let tradeCoverage: TradeCoverage | undefined;
  let tradesVersion = 0;

  async function read<T>(operation: () => Promise<T>, isIgnored?: (error: unknown) => boolean): Promise<T> {
    try {
      const result = await operation();
      if (state === 'failing' && cannotWrite) return result;
      if (state === 'failing') watcher.recovered();
      if (state !== 'refused') state = 'recording';
      return result;
    } catch (error) {
      // Whatever is in progress when the gateway stops fails.
      if (isStopped || isIgnored?.(error)) throw error;
      errors += 1;
      const isPermanent = error instanceof HistoryDatabaseError && error.isPermanent;
      if (isPermanent && state !== 'refused') watcher.refused(error);
      else if (state === 'recording' || state === 'starting') watcher.failed(error);
      state = isPermanent || state === 'refused' ? 'refused' : 'failing';
      throw error;
    }
  }

  function write<T>(operation: () => Promise<T>): Promise<T> {
    return read(async () => {
      try {
        const result = await operation();
        cannotWrite = false;
        return result;
      } catch (error) {
        cannotWrite = true;
        throw error;
      }
    });
  }

  async function isRecorded({ beaconHeight, hash, time }: RecordedHeight): Promise<boolean> {
    const [last] = await store.recentBlocks({ upTo: beaconHeight, last: 1 });
    return last?.beaconHeight === beaconHeight && last.hash === hash && last.time === time;
  }

  async function lookAtTrades(): Promise<void> {
    const after = await store.tradeCoverage();
    if (JSON.stringify(after) !== JSON.stringify(tradeCoverage)) tradesVersion += 1;
    tradeCoverage = after;
  }

  async function look(): Promise<void> {
    await lookAtTrades();
    const before = coverage;
    const after = await store.coverage(GAPS_COMPARED);
    // A branch may have been deleted.
    const isReplaced = before !== undefined && !(await isRecorded(before.last));
    coverage = after;
    const isHigher = (after?.last.beaconHeight ?? 0) > (before?.last.beaconHeight ?? 0);
    isBeingFilled = isReplaced || hasFilled(before, after);
    if (isHigher || isBeingFilled) version += 1;
    if (isHigher) for (const listener of listeners) listener();
  }

  return {
    /** Runs an operation that records nothing, and notes how it went, unless it failed with an error that is ignored. */
    read,
    /** The same for one that records. After it has failed, the database works again when the next one has not. */
    write,
    state: () => state,
    /** Number of operations that failed. */
    errors: () => errors,
    /** Whatever fails from now on is not noted, because the gateway stops. */
    stop() {
      isStopped = true;
    },
    /** Looks at what is recorded, by this gateway or by another one of the database. @throws HistoryDatabaseError */
    look,
    /** The same for trades alone. */
    lookAtTrades,
    /** Whether the last look has shown that heights below the highest one were recorded. */
    isBeingFilled: () => isBeingFilled,
    recorded: {
      /** `undefined` if nothing is recorded, or it is not known. */
      coverage: () => coverage,
      /** Of which blocks the trades are recorded; `undefined` if of none, or it is not known. */
      tradeCoverage: () => tradeCoverage,
      /** Changes each time something has been recorded, or a branch was deleted. What was read before may then be different. */
      version: () => version,
      /** Changes each time the trades of blocks have been recorded or deleted. */
      tradesVersion: () => tradesVersion,
      /** Calls a function each time when a height above all others has been recorded. */
      onRecorded: (listener: () => void): void => void listeners.push(listener),
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
