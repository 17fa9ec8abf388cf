import type { Judge } from './judge.ts';

/** Longer than any response takes on a machine that is busy with other work. */
const LIMIT_SECONDS = 30;

/** There was no response within the limit. */
class NoResponseError extends Error {}

/**
 * A response, if it comes within the limit. Only seconds count in which this process runs: if it is stopped for a while, the gateway
 * has not failed.
 *
 * @throws NoResponseError
 */
export async function withinLimit<T>(response: Promise<T>): Promise<T> {
  const { promise: limit, reject } = Promise.withResolvers<never>();
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += 1;
    if (seconds === LIMIT_SECONDS) reject(new NoResponseError(`none within ${LIMIT_SECONDS} s`));
  }, 1_000);
  try {
    return await Promise.race([response, limit]);
  } finally {
    clearInterval(timer);
  }
}

/**
 * Reports that a request has failed. When a run is over, a failed request only means that the gateway has crashed, which is reported
 * already. One without a response is reported then too.
 */
export function failWithout(
  { judge, signal }: { readonly judge: Judge; readonly signal: AbortSignal },
  what: string,
  error: unknown,
  detail?: unknown,
): void {
  if (!signal.aborted || error instanceof NoResponseError) judge.fail(`no response: ${what}: ${error}`, detail);
}
