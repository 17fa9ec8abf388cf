import type { HistoryDatabase } from './store.ts';

/** What a gateway does for the history. */
export type HistoryRole = {
  /** Whether it writes to the database. */
  writes(): boolean;
  /** Whether it reads missing heights from the nodes. */
  readsNodes(): boolean;
};

/**
 * The role of a replica of a fleet: only one, the recorder, reads missing heights. All replicas use one database of PostgreSQL, so
 * that only the recorder writes to it. Any other database is of one replica, which records what is published. A gateway without a
 * fleet does everything.
 */
export function historyRole(database: HistoryDatabase, isRecorder = () => true): HistoryRole {
  return { writes: database.kind === 'postgresql' ? isRecorder : () => true, readsNodes: isRecorder };
}
