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

  function countOf(limit: ErrorLimit, caller: string): { errors: number; lastAt: number } {
    const callers = counts.get(limit) ?? new Map<string, { errors: number; lastAt: number }>();
    counts.set(limit, callers);
    const known = callers.get(caller);
    const isOver = known === undefined || performance.now() - known.lastAt >= (limit.windowMs ?? HOUR_MS);
    const count = isOver ? { errors: 0, lastAt: performance.now() } : known;
    callers.set(caller, count);
    return count;
  }

  return {
    isExceeded: (limit, caller) => countOf(limit, caller).errors > limit.errors,
    count(limit, caller) {
      const count = countOf(limit, caller);
      count.errors += 1;
      count.lastAt = performance.now();
    },
  };
}
