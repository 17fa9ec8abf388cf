import type { BeaconHeight } from '../domain/beacon-height.ts';
import { HistoryDatabaseError } from './store.ts';

/** Notes how the operations of the recorder on its database go. */
type DatabaseHealth = {
  /** Runs an operation of the database, and notes how it went. */
  use<T>(operation: () => Promise<T>): Promise<T>;
  state(): RecorderState;
  /** Number of operations that failed. */
  errors(): number;
  /** Whatever fails from now on is not noted, because the gateway stops. */
  stop(): void;
};

/** `refused` if only the operator can resolve the problem of the database. */
export type RecorderState = 'starting' | 'recording' | 'failing' | 'refused';

/** Is notified when the database begins to fail, and when it works again: once each. */
export type HistoryWatcher = {
  failed(error: unknown): void;
  recovered(): void;
  /** The database cannot be used until the operator has resolved its problem. */
  refused(error: unknown): void;
  /** Final heights were dropped, because too many waited. They are read from the node later. */
  dropped(heights: number): void;
  /** These heights do not fit to the recorded ones: a node has shown a branch of the chain. */
  leftOut(heights: readonly BeaconHeight[]): void;
  /** These recorded heights were of a branch that was given up. The heights of the chain are read from the node later. */
  deleted(heights: readonly BeaconHeight[]): void;
};

/** Starts with a database that was not used yet. */
export function createDatabaseHealth(watcher: HistoryWatcher): DatabaseHealth {
  let state: RecorderState = 'starting';
  let errors = 0;
  let isStopped = false;

  return {
    async use(operation) {
      try {
        const result = await operation();
        if (state === 'failing') watcher.recovered();
        if (state !== 'refused') state = 'recording';
        return result;
      } catch (error) {
        // Whatever is under way when the gateway stops fails.
        if (isStopped) throw error;
        errors += 1;
        const isPermanent = error instanceof HistoryDatabaseError && error.isPermanent;
        if (isPermanent && state !== 'refused') watcher.refused(error);
        else if (state === 'recording' || state === 'starting') watcher.failed(error);
        state = isPermanent || state === 'refused' ? 'refused' : 'failing';
        throw error;
      }
    },
    state: () => state,
    errors: () => errors,
    stop() {
      isStopped = true;
    },
  };
}
