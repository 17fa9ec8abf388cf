import type { UpstreamErrorCode } from '../domain/error-codes.ts';
import type { Instant } from '../domain/instant.ts';
import { type AnyUpstream, type Upstream, UpstreamError } from '../errors.ts';

/** How the calls to one upstream went. */
export type UpstreamHealth<Name extends AnyUpstream = Upstream> = {
  readonly upstream: Name;
  /** It is configured, and its last call succeeded. Errors that are no fault of the host do not count. */
  readonly healthy: boolean;
  readonly lastSuccessAt: Instant | undefined;
  readonly lastErrorAt: Instant | undefined;
  readonly lastErrorCode: UpstreamErrorCode | undefined;
};

/** Records how the calls to one host go. */
export type HealthRecord<Name extends AnyUpstream = Upstream> = ReturnType<typeof createHealthRecord<Name>>;

/** The outcome of one call. */
export type UpstreamCall = {
  readonly upstream: AnyUpstream;
  readonly method: string;
  /** `OK`, or the code of the error. */
  readonly outcome: UpstreamErrorCode | 'OK';
  readonly seconds: number;
};

/** Creates the record of a host that was not called yet. `onCall` is called when a call has ended. */
export function createHealthRecord<Name extends AnyUpstream>(
  upstream: Name,
  now: () => Instant,
  onCall: (call: UpstreamCall) => void = () => {},
) {
  let health: UpstreamHealth<Name> = {
    upstream,
    healthy: false,
    lastSuccessAt: undefined,
    lastErrorAt: undefined,
    lastErrorCode: undefined,
  };

  /**
   * Records the outcome of a call and returns it.
   *
   * @param method the name of the call in metrics, one of a few
   * @param isFault whether an error counts as a fault of the host; by default each does
   */
  async function watch<T>(
    method: string,
    call: Promise<T>,
    isFault: (error: UpstreamError) => boolean = () => true,
  ): Promise<T> {
    const start = performance.now();
    const end = (outcome: UpstreamCall['outcome']) =>
      onCall({ upstream, method, outcome, seconds: (performance.now() - start) / 1_000 });
    try {
      const response = await call;
      end('OK');
      health = { ...health, healthy: true, lastSuccessAt: now() };
      return response;
    } catch (error) {
      if (error instanceof UpstreamError) end(error.code);
      if (error instanceof UpstreamError && isFault(error)) {
        health = { ...health, healthy: false, lastErrorAt: now(), lastErrorCode: error.code };
      }
      throw error;
    }
  }

  return { watch, read: () => health };
}

/** The health of an upstream with several hosts: healthy if one of them is, with the newest success and error of all. */
export function healthOfAll(hosts: readonly UpstreamHealth[]): UpstreamHealth {
  const successes = hosts.flatMap(({ lastSuccessAt }) => lastSuccessAt ?? []);
  return {
    ...hosts.reduce((a, b) => ((b.lastErrorAt ?? 0) > (a.lastErrorAt ?? 0) ? b : a)),
    healthy: hosts.some(({ healthy }) => healthy),
    lastSuccessAt: successes.length === 0 ? undefined : Math.max(...successes),
  };
}
