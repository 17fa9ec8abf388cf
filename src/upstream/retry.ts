import { setTimeout as sleep } from 'node:timers/promises';

/** When and how often a call is repeated. */
export type RetryPolicy = {
  /** At most so often, after the first call. */
  readonly times: number;
  /** Pause before each repetition; none by default. */
  readonly delayMs?: number | undefined;
  /** After which errors it is repeated. */
  readonly when: (error: unknown) => boolean;
  /** Aborts a pause: `retry` then fails with its reason. */
  readonly signal?: AbortSignal | undefined;
};

/** Makes a call, and repeats it as the policy says. @throws the error of the last call */
export async function retry<T>(call: () => Promise<T>, policy: RetryPolicy): Promise<T> {
  const { times, delayMs = 0, when, signal } = policy;
  for (let left = times; ; left--) {
    try {
      return await call();
    } catch (error) {
      if (left === 0 || !when(error)) throw error;
      if (delayMs > 0) await sleep(delayMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}
