import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  halfJitterGenerator,
  handleWhen,
  type IBackoff,
  type IBackoffFactory,
  type IBreaker,
} from 'cockatiel';
import {
  ForeignNodeError,
  MAX_RETRY_AFTER_MS,
  UpstreamBadShapeError,
  UpstreamBusyError,
  UpstreamError,
  UpstreamRpcError,
} from '../errors.ts';

/** The circuit breaker of one host. While it is open, the host is not called, so that it can recover. */
export type Circuit = ReturnType<typeof createCircuit>;

type CircuitOptions = {
  /** The longest pause, unless the host sends a longer `Retry-After`. The first pause is 1/32 of it, and they double. */
  readonly maxPauseMs: number;
  /**
   * Whether calls of `runCounted` are made all the time, so that they show whether the host is back: by default they
   * are. In a fleet, another gateway can make them.
   */
  readonly isPolled?: (() => boolean) | undefined;
  /** Called when the circuit opens and when it closes. */
  readonly onChange?: (isOpen: boolean) => void;
};

const OUTAGES_UNTIL_OPEN = 3;

/** How often a pause doubles, from the first one to the longest. */
export const PAUSE_DOUBLINGS = 5;

/**
 * Creates the circuit breaker of one host. It opens after a few outages in a row, or at once after a response with
 * `Retry-After`. After a pause it is half-open: one call is made, which closes it or begins a longer pause.
 */
export function createCircuit({ maxPauseMs, isPolled = () => true, onChange = () => {} }: CircuitOptions) {
  let last: unknown;
  const initialDelay = maxPauseMs / 2 ** PAUSE_DOUBLINGS;
  // A pause lasts between half and all of its delay, so that several gateways do not come back at the same moment.
  const backOff = new ExponentialBackoff({ initialDelay, maxDelay: maxPauseMs, generator: halfJitterGenerator });

  /**
   * Begins a pause, at least as long as the host requests. cockatiel compares its duration with a time that has passed by a clock
   * which can be set back. So the duration only says whether the pause is over, by the monotonic clock.
   */
  function beginPause(before: IBackoffFactory<unknown>): IBackoff<unknown> {
    const pause = before.next(undefined);
    const end = performance.now() + Math.max(pause.duration, retryAfterOf(last));
    return {
      get duration() {
        return performance.now() < end ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
      },
      next: () => beginPause(pause),
    };
  }

  const policy = circuitBreaker(handleWhen(isFailure), {
    breaker: openAtOnceIf(new ConsecutiveBreaker(OUTAGES_UNTIL_OPEN), () => retryAfterOf(last) > 0),
    halfOpenAfter: { next: () => beginPause(backOff) },
  });

  policy.onFailure(({ reason }) => {
    if ('error' in reason && isOutage(reason.error)) last = reason.error;
  });
  policy.onBreak(() => onChange(true));
  policy.onReset(() => onChange(false));

  /** The call of a half-open circuit has to show that the host is back. One that was aborted does not. */
  function isFailure(error: unknown): boolean {
    return isOutage(error) || (policy.state === CircuitState.HalfOpen && !isResponse(error));
  }

  /**
   * Makes a call that follows the chain or the market. The outcome of these calls opens and closes the circuit.
   *
   * @throws the error of the call; while the circuit is open, that of the last outage
   */
  async function runCounted<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await policy.execute(call);
    } catch (error) {
      throw error instanceof BrokenCircuitError ? last : error;
    }
  }

  /**
   * Makes a call whose outcome does not change the circuit, unless the response has `Retry-After`: clients choose what they request.
   * While nothing follows the host, it shows whether the host is back.
   *
   * @throws as above
   */
  async function runUncounted<T>(call: () => Promise<T>): Promise<T> {
    if (policy.state !== CircuitState.Closed) {
      if (isPolled()) throw last;
      return runCounted(call);
    }
    try {
      return await call();
    } catch (error) {
      if (retryAfterOf(error) > 0) await runCounted(() => Promise.reject(error)).catch(() => {});
      throw error;
    }
  }

  return { runCounted, runUncounted };
}

/** Whether the error shows that the host is not there. A call that the gateway aborted shows nothing. */
function isOutage(error: unknown): boolean {
  return error instanceof UpstreamError && !isResponse(error) && !(error instanceof UpstreamBusyError);
}

/** A response, also a wrong one, shows that the host is there. */
function isResponse(error: unknown): boolean {
  return [UpstreamRpcError, UpstreamBadShapeError, ForeignNodeError].some((type) => error instanceof type);
}

function retryAfterOf(error: unknown): number {
  const retryAfterMs = error instanceof UpstreamError ? error.retryAfterMs : undefined;
  return Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
}

function openAtOnceIf(breaker: IBreaker, isRequested: () => boolean): IBreaker {
  return {
    state: breaker.state,
    success: (state) => breaker.success(state),
    failure: (state) => breaker.failure(state) || isRequested(),
  };
}
