import { setTimeout as sleep } from 'node:timers/promises';

/** When and how often something is asked again. */
export type RetryPolicy = {
  /** How often at the most, after the first time. */
  readonly times: number;
  /** How long to wait before each further time; at once where nothing is said. */
  readonly delayMs?: number | undefined;
  /** Which failures are worth it. */
  readonly when: (error: unknown) => boolean;
  /** Ends the waiting; what it fails with then is the reason that is given there. */
  readonly signal?: AbortSignal | undefined;
};

/** Asks, and asks again as the policy says; the last failure is the caller's. */
export async function retry<T>(ask: () => Promise<T>, policy: RetryPolicy): Promise<T> {
  const { times, delayMs = 0, when, signal } = policy;
  for (let left = times; ; left--) {
    try {
      return await ask();
    } catch (error) {
      if (left === 0 || !when(error)) throw error;
      if (delayMs > 0) await sleep(delayMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}
