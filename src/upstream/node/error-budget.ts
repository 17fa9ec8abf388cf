import { drain, fullBucket, refill } from '../../domain/token-bucket.ts';

/** How many errors of one node the gateway may still cause: nodes count them, and refuse clients that cause too many. */
export type ErrorBudget = {
  /** Whether that many more errors may be caused now. */
  has(errors: number): boolean;
  /** The node responded with an error. */
  spend(): void;
  /** That many errors may be caused again: the node responded without one, or a reserved one was not caused. */
  earn(errors: number): void;
};

type ErrorBudgetOptions = {
  /** How many errors may be caused at once. */
  readonly burst: number;
  /** How many more may be caused each minute. */
  readonly perMinute: number;
};

/** Creates a full budget, a token bucket. It can fall below zero, because all calls that are under way can fail. */
export function createErrorBudget({ burst, perMinute }: ErrorBudgetOptions): ErrorBudget {
  const rate = { burst, pointsPerSecond: perMinute / 60 };
  let bucket = fullBucket(rate, performance.now());

  function add(errors: number): void {
    const now = performance.now();
    // What comes back is never more than the budget.
    bucket = refill(drain(refill(bucket, rate, now), -errors), rate, now);
  }

  return {
    has(errors) {
      add(0);
      return bucket.thousandths >= errors * 1_000;
    },
    spend: () => add(-1),
    earn: add,
  };
}
