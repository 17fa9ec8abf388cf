import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhen,
  type IBackoffFactory,
  type IBreaker,
} from 'cockatiel';
import { UpstreamBadShapeError, UpstreamBusyError, UpstreamError, UpstreamRpcError } from '../errors.ts';
import { createBackOff } from './back-off.ts';

/** Leaves an upstream alone while it is down, so that it is not asked in vain and can come back. */
export type Circuit = {
  /**
   * Asks for what is followed, unless the upstream is being left alone. How these calls go decides whether it is.
   *
   * @throws what the call fails with; while nothing is asked, what the last one failed with
   */
  run<T>(ask: () => Promise<T>): Promise<T>;
  /**
   * Asks for what a client wants, unless the upstream is being left alone. However it goes, nobody else is the worse for
   * it, unless the upstream says that it wants to be left alone.
   *
   * @throws as above
   */
  pass<T>(ask: () => Promise<T>): Promise<T>;
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

/** What an upstream asks for is respected up to here: a mistyped header must not end the service for a day. */
const MAX_RETRY_AFTER_MS = 5 * 60_000;

/**
 * Makes the circuit breaker of one upstream. It opens after a few outages in a row, or at once where the upstream says how
 * long to wait; then one call is let through after a pause with jitter, and closes it or begins a longer pause.
 */
export function createCircuit({ maxPauseMs, onChange = () => {} }: CircuitOptions): Circuit {
  let last: unknown;
  const policy = circuitBreaker(handleWhen(isFailure), {
    breaker: openWhenAsked(new ConsecutiveBreaker(OUTAGES_UNTIL_OPEN), () => retryAfterOf(last) > 0),
    halfOpenAfter: pauses(createBackOff(maxPauseMs), () => retryAfterOf(last)),
  });

  policy.onBreak(() => onChange(true));
  policy.onReset(() => onChange(false));

  /** A call that tries whether the upstream is back has to show it: what is given up meanwhile does not. */
  function isFailure(error: unknown): boolean {
    return isOutage(error) || (policy.state === CircuitState.HalfOpen && !isAnswer(error));
  }

  async function run<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await policy.execute(() => noteOutage(ask));
    } catch (error) {
      throw error instanceof BrokenCircuitError ? last : error;
    }
  }

  async function noteOutage<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (isOutage(error)) last = error;
      throw error;
    }
  }

  async function pass<T>(ask: () => Promise<T>): Promise<T> {
    if (policy.state !== CircuitState.Closed) throw last;
    try {
      return await ask();
    } catch (error) {
      if (retryAfterOf(error) > 0) await run(() => Promise.reject(error)).catch(() => {});
      throw error;
    }
  }

  return { run, pass };
}

/** That the upstream is not there; what we gave up ourselves says nothing about it. */
function isOutage(error: unknown): boolean {
  return error instanceof UpstreamError && !isAnswer(error) && !(error instanceof UpstreamBusyError);
}

/** An answer, also a wrong one, shows that the upstream is there. */
function isAnswer(error: unknown): boolean {
  return error instanceof UpstreamRpcError || error instanceof UpstreamBadShapeError;
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
