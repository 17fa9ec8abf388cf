import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  halfJitterGenerator,
  handleWhen,
  type IBackoffFactory,
  type IBreaker,
} from 'cockatiel';
import { UpstreamBadShapeError, UpstreamBusyError, UpstreamError, UpstreamRpcError } from '../errors.ts';

/** Leaves an upstream alone while it is down, so that it is not asked in vain and can come back. */
export type Circuit = {
  /**
   * Asks, unless the upstream is being left alone.
   *
   * @param isExcused which failures say nothing about an upstream that is not left alone
   * @throws what the call fails with; while nothing is asked, what the last one failed with
   */
  run<T>(ask: () => Promise<T>, isExcused?: (error: UpstreamError) => boolean): Promise<T>;
};

/** How long an upstream is left alone. */
export type CircuitOptions = {
  /** At the most, except where the upstream itself asks for longer. It begins with 1/32 of that and doubles. */
  readonly maxPauseMs: number;
  /** Told when the upstream begins to be left alone, and when it no longer is. */
  readonly onChange?: (isOpen: boolean) => void;
};

/** So many outages one after another, without a success between them. */
const OUTAGES_UNTIL_OPEN = 3;
const DOUBLINGS = 5;

/** What an upstream asks for is respected up to here: a mistyped header must not end the service for a day. */
const MAX_RETRY_AFTER_MS = 5 * 60_000;

/**
 * Makes the circuit breaker of one upstream. It opens after a few outages in a row, or at once where the upstream says how
 * long to wait; then one call is let through after a pause with jitter, and closes it or begins a longer pause.
 */
export function createCircuit({ maxPauseMs, onChange = () => {} }: CircuitOptions): Circuit {
  let last: unknown;
  const excused = new WeakSet<UpstreamError>();
  const outages = handleWhen((error) => isOutage(error) && !excused.has(error));
  const policy = circuitBreaker(outages, {
    breaker: openWhenAsked(new ConsecutiveBreaker(OUTAGES_UNTIL_OPEN), () => retryAfterOf(last) > 0),
    halfOpenAfter: pauses(
      new ExponentialBackoff({
        initialDelay: maxPauseMs / 2 ** DOUBLINGS,
        maxDelay: maxPauseMs,
        generator: halfJitterGenerator,
      }),
      () => retryAfterOf(last),
    ),
  });

  policy.onBreak(() => onChange(true));
  policy.onReset(() => onChange(false));

  async function run<T>(ask: () => Promise<T>, isExcused = (_error: UpstreamError) => false): Promise<T> {
    try {
      return await policy.execute(() => noteFailure(ask, isExcused));
    } catch (error) {
      throw error instanceof BrokenCircuitError ? last : error;
    }
  }

  async function noteFailure<T>(ask: () => Promise<T>, isExcused: (error: UpstreamError) => boolean): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (isOutage(error)) {
        if (policy.state === CircuitState.Closed && isExcused(error)) excused.add(error);
        else last = error;
      }
      throw error;
    }
  }

  return { run };
}

/** An answer, also a wrong one, shows that the upstream is there; what we gave up ourselves says nothing about it. */
function isOutage(error: unknown): error is UpstreamError {
  const isAnswer = error instanceof UpstreamRpcError || error instanceof UpstreamBadShapeError;
  return error instanceof UpstreamError && !isAnswer && !(error instanceof UpstreamBusyError);
}

function retryAfterOf(error: unknown): number {
  const asked = error instanceof UpstreamError ? error.retryAfterMs : undefined;
  return Math.min(asked ?? 0, MAX_RETRY_AFTER_MS);
}

function openWhenAsked(breaker: IBreaker, isAsked: () => boolean): IBreaker {
  return {
    state: breaker.state,
    success: (state) => breaker.success(state),
    failure: (state) => breaker.failure(state) || isAsked(),
  };
}

/** Pauses that are never shorter than what the upstream asks for. */
function pauses(factory: IBackoffFactory<unknown>, askedMs: () => number): IBackoffFactory<unknown> {
  return {
    next() {
      const backoff = factory.next(undefined);
      return { duration: Math.max(backoff.duration, askedMs()), ...pauses(backoff, askedMs) };
    },
  };
}
