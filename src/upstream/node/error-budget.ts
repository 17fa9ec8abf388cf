/** How many errors of one node the gateway may still cause: nodes count them, and stop answering who causes too many. */
export type ErrorBudget = {
  /** Whether so many more errors may be caused now. */
  has(errors: number): boolean;
  /** The node responded with an error. */
  spend(): void;
  /** Some errors may be caused again: the node answered well, or one was set aside and not caused. */
  earn(errors: number): void;
};

/** The size of a budget. */
export type ErrorBudgetOptions = {
  /** How many errors may be caused at once. */
  readonly burst: number;
  /** How many come back each minute. */
  readonly perMinute: number;
};

const MINUTE_MS = 60_000;

/** Creates a budget of which nothing is spent. It can fall below zero: calls that are under way can all fail. */
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
