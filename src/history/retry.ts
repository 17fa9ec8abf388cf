/** Repeats something after a failure, later each time. */
export type Retry = {
  /** Schedules the next attempt, unless one is scheduled. */
  later(): void;
  isPending(): boolean;
  /** The next failure begins with the first pause again. */
  succeeded(): void;
  stop(): void;
};

/** Creates a retry that doubles its pauses up to the longest. */
export function createRetry({ firstMs, maxMs }: { firstMs: number; maxMs: number }, attempt: () => void): Retry {
  let timer: NodeJS.Timeout | undefined;
  let nextMs = firstMs;

  return {
    later() {
      if (timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        attempt();
      }, nextMs);
      nextMs = Math.min(2 * nextMs, maxMs);
    },
    isPending: () => timer !== undefined,
    succeeded() {
      nextMs = firstMs;
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
