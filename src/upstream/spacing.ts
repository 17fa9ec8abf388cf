import { UpstreamBadStatusError, UpstreamFilteredError } from '../errors.ts';

/** Keeps a time between the calls to a host that limits their rate. Other hosts are called at once. */
export type Spacing = ReturnType<typeof createSpacing>;

/** What is known of a call. */
export type SpacedCall = {
  readonly method: string;
  /** Calls for heads go first, but at most a few of them before another call that waits. */
  readonly isForHead: boolean;
  readonly signal?: AbortSignal | undefined;
};

const MAX_SPACE_MS = 5_000;

/** Number of times that a rejected call is repeated. */
const MAX_RETRIES = 2;

/**
 * A method makes the space longer at most this number of times in a row. If that does not help, or if the method has never succeeded, it
 * is perhaps rejected for another reason.
 */
const MAX_DOUBLINGS = 2;

/** Each space is up to this much longer, so that several gateways do not call at the same moments. */
const JITTER = 0.25;

/** Number of calls for heads that go before another call that waits: a new head usually takes as many. */
const CALLS_BEFORE_OTHERS = 3;

/** Minimum time for which a call waits if others go first. */
const MIN_WAIT_MS = 1;

/** After this many times `firstMs` without a rejected call, the space is halved. If that was too early, the time doubles. */
const SPACES_UNTIL_EASED = 8;
const MAX_UNTIL_EASED_MS = 10 * 60_000;

/**
 * Creates the spacing of one host, which is not spaced yet.
 *
 * @param firstMs the space after the first rejected call, unless the host sends `Retry-After`. It doubles with each further one
 */
export function createSpacing(firstMs: number) {
  /** How many calls wait. */
  const waiting = { forHeads: 0, others: 0 };
  /** How many calls for heads in a row went before others that wait. */
  let before = 0;
  /** How often each method that has succeeded has made the space longer since. */
  const doublings = new Map<string, number>();
  let spaceMs = 0;
  let nextAt = 0;
  let rejectedAt = 0;
  let untilEasedMs = SPACES_UNTIL_EASED * firstMs;
  let isEased = false;

  /** Whether calls of the other kind go first. */
  function mustWait(isForHead: boolean): boolean {
    // If a space is longer than the interval of the polls, one of them always waits.
    const areOthersNext = waiting.others > 0 && (waiting.forHeads === 0 || before >= CALLS_BEFORE_OTHERS);
    return isForHead === areOthersNext;
  }

  async function turn({ isForHead, signal }: SpacedCall): Promise<void> {
    const kind = isForHead ? 'forHeads' : 'others';
    waiting[kind] += 1;
    try {
      // While it waits, other calls go first, or a rejected call postpones the next turn.
      for (let now = performance.now(); now < nextAt || mustWait(isForHead); now = performance.now())
        await sleep(Math.max(nextAt - now, MIN_WAIT_MS), signal);
      nextAt = performance.now() + spaceMs * (1 + Math.random() * JITTER);
      before = isForHead && waiting.others > 0 ? before + 1 : 0;
    } finally {
      waiting[kind] -= 1;
    }
  }

  function ease(): void {
    if (spaceMs === 0 || performance.now() - rejectedAt < untilEasedMs) return;
    spaceMs = spaceMs > firstMs ? spaceMs / 2 : 0;
    if (spaceMs === 0) untilEasedMs = SPACES_UNTIL_EASED * firstMs;
    isEased = spaceMs > 0;
    rejectedAt = performance.now();
  }

  function widen(method: string, begunAt: number, retryAfterMs: number): void {
    const doubled = doublings.get(method) ?? MAX_DOUBLINGS;
    const isLarger = spaceMs === 0 || doubled < MAX_DOUBLINGS;
    // Calls that were in progress together count once.
    if (begunAt >= rejectedAt && isLarger) {
      if (isEased) untilEasedMs = Math.min(2 * untilEasedMs, MAX_UNTIL_EASED_MS);
      isEased = false;
      spaceMs = Math.max(2 * spaceMs, firstMs);
      doublings.set(method, doubled + 1);
    }
    spaceMs = Math.min(Math.max(spaceMs, retryAfterMs), MAX_SPACE_MS);
    rejectedAt = performance.now();
    nextAt = Math.max(nextAt, rejectedAt + spaceMs);
  }

  /**
   * Makes a call, and waits for its turn first if calls are spaced. A call that the host rejects with status 429 is repeated.
   * If the response has `Retry-After`, it is not: then the circuit breaker waits.
   *
   * @throws the error of the last call, or the reason of the signal
   */
  async function run<T>(call: () => Promise<T>, options: SpacedCall): Promise<T> {
    for (let left = MAX_RETRIES; ; left--) {
      ease();
      if (spaceMs > 0) await turn(options);
      const begunAt = performance.now();
      try {
        const response = await call();
        doublings.set(options.method, 0);
        return response;
      } catch (error) {
        if (!isRateLimited(error)) throw error;
        widen(options.method, begunAt, error.retryAfterMs ?? 0);
        if (left === 0 || error.retryAfterMs !== undefined) throw error;
      }
    }
  }

  /** `spaceMs`: the minimum time between two calls now; 0 if they are not spaced. */
  return { run, spaceMs: () => spaceMs };
}

/** Waits for a time. @throws the reason of the signal */
async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const abort = () => reject(signal?.reason);
  signal?.addEventListener('abort', abort);
  await promise.finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  });
}

const TOO_MANY_REQUESTS = 429;

function isRateLimited(error: unknown): error is UpstreamBadStatusError | UpstreamFilteredError {
  const hasStatus = error instanceof UpstreamBadStatusError || error instanceof UpstreamFilteredError;
  return hasStatus && error.status === TOO_MANY_REQUESTS;
}
