import { UpstreamTimeoutError } from '../../errors.ts';
import { isSettledWithin } from '../broadcast/wait-at-most.ts';

/** One attempt to read something. The signal aborts it when its result is no longer needed. */
export type Attempt<T> = (signal: AbortSignal) => Promise<T>;

/** When the next attempt begins, and when all end. */
export type HedgeOptions = {
  /** How long the attempts under way are waited for before the next one begins too. */
  readonly delayMs: number;
  /** For all attempts together. */
  readonly timeoutMs: number;
};

/**
 * Hedged requests: makes one attempt after another, and returns the first success. The next attempt begins when those under
 * way have failed, or after the delay, without aborting the others. So an attempt that hangs costs one delay, and one that is
 * only slow is not lost.
 *
 * @param next creates the next attempt; `undefined` if there is none now
 * @throws the errors of all attempts, in order, as an AggregateError
 */
export async function hedge<T>(
  next: () => Promise<Attempt<T> | undefined>,
  { delayMs, timeoutMs }: HedgeOptions,
): Promise<T> {
  const end = new AbortController();
  const deadline = setTimeout(() => end.abort(new UpstreamTimeoutError('NODE', timeoutMs, {})), timeoutMs);
  const attempts: Promise<T>[] = [];
  try {
    for (;;) {
      const attempt = await next();
      if (attempt !== undefined) attempts.push(attempt(end.signal));
      const result = Promise.any(attempts);
      if (!(await isSettledWithin(delayMs, result))) continue;
      try {
        return await result;
      } catch (error) {
        if (attempt === undefined) throw error;
      }
    }
  } finally {
    clearTimeout(deadline);
    end.abort(new Error('another attempt was faster'));
  }
}
