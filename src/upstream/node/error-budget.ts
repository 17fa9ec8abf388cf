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

const MINUTE_MS = 60_000;

/** Creates a full budget. It can fall below zero, because all calls that are under way can fail. */
export function createErrorBudget({ burst, perMinute }: ErrorBudgetOptions): ErrorBudget {
  let left = burst;
  let at = performance.now();

  function refill(): void {
    const elapsedMs = performance.now() - at;
    at += elapsedMs;
    left = Math.min(burst, left + (elapsedMs * perMinute) / MINUTE_MS);
  }

  return {
    has(errors) {
      refill();
      return left >= errors;
    },
    spend() {
      refill();
      left -= 1;
    },
    earn(errors) {
      refill();
      left = Math.min(burst, left + errors);
    },
  };
}
