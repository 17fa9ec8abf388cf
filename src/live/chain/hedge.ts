import { UpstreamTimeoutError } from '../../errors.ts';
import { waitAtMost } from '../../turns/wait-at-most.ts';

/** One attempt to read something. The signal aborts it when its result is no longer needed. */
export type Attempt<T> = (signal: AbortSignal) => Promise<T>;

/**
 * Hedged requests: makes one attempt after another, and returns the first success. The next attempt begins when those in
 * progress have failed, or after the delay, without aborting the others. So an attempt that hangs costs one delay, and one that is
 * only slow is not lost.
 *
 * @param next creates the next attempt; `undefined` if there is none now
 * @param options the delay, and the time for all attempts together
 * @throws the errors of all attempts, in order, as an AggregateError
 */
export async function hedge<T>(
  next: () => Promise<Attempt<T> | undefined>,
  { delayMs, timeoutMs }: { readonly delayMs: number; readonly timeoutMs: number },
): Promise<T> {
  const end = new AbortController();
  const deadline = setTimeout(() => end.abort(new UpstreamTimeoutError('NODE', timeoutMs, {})), timeoutMs);
  const attempts: Promise<T>[] = [];
  try {
    for (;;) {
      const following = next();
      // To look for the next node can take longer than an attempt in progress.
      const success = Promise.any(attempts).then(
        (value) => ({ value }),
        () => undefined,
      );
      const early = await Promise.race([success, following.then(() => undefined)]);
      if (early !== undefined) return early.value;
      const attempt = await following;
      if (attempt !== undefined) attempts.push(attempt(end.signal));
      const result = Promise.any(attempts);
      if (!(await waitAtMost(delayMs, result))) continue;
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
