import type { NodeFault } from '../faults.ts';

/** A limit on the JSON errors of one client. */
type ErrorLimit = Extract<NodeFault, { kind: 'error-limit' }>;

const HOUR_MS = 3_600_000;

/** Creates the counts of JSON errors of each client, for each limit. */
export function createErrorLimits(): {
  /** Whether a client has caused more errors than the limit allows within the window. */
  isExceeded(limit: ErrorLimit, client: string): boolean;
  /** Counts an error of a client. */
  count(limit: ErrorLimit, client: string): void;
} {
  const counts = new WeakMap<ErrorLimit, Map<string, { errors: number; lastAt: number }>>();

  function countOf(limit: ErrorLimit, client: string): { errors: number; lastAt: number } {
    const clients = counts.get(limit) ?? new Map<string, { errors: number; lastAt: number }>();
    counts.set(limit, clients);
    const known = clients.get(client);
    const isOver = known === undefined || performance.now() - known.lastAt >= (limit.windowMs ?? HOUR_MS);
    const count = isOver ? { errors: 0, lastAt: performance.now() } : known;
    clients.set(client, count);
    return count;
  }

  return {
    isExceeded: (limit, client) => countOf(limit, client).errors > limit.errors,
    count(limit, client) {
      const count = countOf(limit, client);
      count.errors += 1;
      count.lastAt = performance.now();
    },
  };
}
