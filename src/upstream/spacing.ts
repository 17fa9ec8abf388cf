import { UpstreamBadStatusError, UpstreamFilteredError } from '../errors.ts';

/** Spaces the calls to a host that limits their rate. A host that does not is called at once. */
export type Spacing = {
  /**
   * Makes a call when its turn has come. A call that the host refuses with status 429 is made again, unless the host said how
   * long to wait: then it is for the circuit breaker to wait.
   *
   * @throws what the call failed with the last time, or the reason of the signal
   */
  run<T>(call: () => Promise<T>, turn: TurnOfCall): Promise<T>;
  /** How far apart calls are made now, at least; 0 where they are not spaced. */
  spaceMs(): number;
};

/** What a call is, for its turn. */
export type TurnOfCall = {
  readonly method: string;
  /** Calls for clients come after those that follow the chain. */
  readonly isForClient: boolean;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
};

/** How calls are spaced. */
export type SpacingOptions = {
  /** The space after the first refusal, unless the host says how long to wait. It doubles at later ones. */
  readonly firstMs: number;
};

const MAX_SPACE_MS = 5_000;

/** A call that was refused is made again so often. */
const TIMES_AGAIN = 2;

/** Each space is up to this much longer, so that several gateways do not call at the same moments. */
const JITTER = 0.25;

/** After so many first spaces without a refusal the space is halved. The time doubles where that was too early. */
const SPACES_UNTIL_EASED = 8;
const MAX_UNTIL_EASED_MS = 10 * 60_000;

/** Creates the spacing of one host, of which nothing is known yet. */
export function createSpacing({ firstMs }: SpacingOptions): Spacing {
  const queues: Record<'following' | 'forClients', (() => void)[]> = { following: [], forClients: [] };
  /** What succeeded since the space was last made larger: a method that is always refused is not refused for its rate. */
  const succeeded = new Set<string>();
  let spaceMs = 0;
  let nextAt = 0;
  let refusedAt = 0;
  let untilEasedMs = SPACES_UNTIL_EASED * firstMs;
  let isEased = false;
  let isReleasing = false;

  async function releaseInTurn(): Promise<void> {
    isReleasing = true;
    for (;;) {
      // While it waits, a refusal can put the next turn off.
      for (let waitMs = nextAt - performance.now(); waitMs > 0; waitMs = nextAt - performance.now())
        await sleep(waitMs);
      const release = queues.following.shift() ?? queues.forClients.shift();
      if (release === undefined) break;
      nextAt = performance.now() + spaceMs * (1 + Math.random() * JITTER);
      release();
    }
    isReleasing = false;
  }

  function turn({ isForClient, signal }: TurnOfCall): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = isForClient ? queues.forClients : queues.following;
    const leave = () => {
      const place = queue.indexOf(release);
      if (place >= 0) queue.splice(place, 1);
      reject(signal?.reason);
    };
    const release = () => {
      signal?.removeEventListener('abort', leave);
      resolve();
    };
    signal?.addEventListener('abort', leave, { once: true });
    queue.push(release);
    if (!isReleasing) void releaseInTurn();
    return promise;
  }

  function ease(): void {
    if (spaceMs === 0 || performance.now() - refusedAt < untilEasedMs) return;
    spaceMs = spaceMs > firstMs ? spaceMs / 2 : 0;
    if (spaceMs === 0) untilEasedMs = SPACES_UNTIL_EASED * firstMs;
    isEased = spaceMs > 0;
    refusedAt = performance.now();
  }

  function widen(method: string, begunAt: number, retryAfterMs: number): void {
    const isLarger = spaceMs === 0 || succeeded.has(method);
    // Calls that were under way together are one refusal.
    if (begunAt >= refusedAt && isLarger) {
      if (isEased) untilEasedMs = Math.min(2 * untilEasedMs, MAX_UNTIL_EASED_MS);
      isEased = false;
      spaceMs = Math.max(2 * spaceMs, firstMs);
      succeeded.clear();
    }
    spaceMs = Math.min(Math.max(spaceMs, retryAfterMs), MAX_SPACE_MS);
    refusedAt = performance.now();
    nextAt = Math.max(nextAt, refusedAt + spaceMs);
  }

  async function run<T>(call: () => Promise<T>, turnOfCall: TurnOfCall): Promise<T> {
    for (let left = TIMES_AGAIN; ; left--) {
      ease();
      if (spaceMs > 0) await turn(turnOfCall);
      const begunAt = performance.now();
      try {
        const answer = await call();
        if (spaceMs > 0) succeeded.add(turnOfCall.method);
        return answer;
      } catch (error) {
        if (!isRefusedForRate(error)) throw error;
        widen(turnOfCall.method, begunAt, error.retryAfterMs ?? 0);
        if (left === 0 || error.retryAfterMs !== undefined) throw error;
      }
    }
  }

  return { run, spaceMs: () => spaceMs };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const TOO_MANY_REQUESTS = 429;

function isRefusedForRate(error: unknown): error is UpstreamBadStatusError | UpstreamFilteredError {
  const hasStatus = error instanceof UpstreamBadStatusError || error instanceof UpstreamFilteredError;
  return hasStatus && error.status === TOO_MANY_REQUESTS;
}
