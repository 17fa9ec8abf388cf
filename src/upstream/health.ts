import type { Instant } from '../domain/instant.ts';
import { type Upstream, UpstreamError, type UpstreamErrorCode } from '../errors.ts';

/** How the calls to one upstream have gone. */
export type UpstreamHealth = {
  readonly upstream: Upstream;
  /** It is configured and its last call succeeded. */
  readonly healthy: boolean;
  readonly lastSuccessAt: Instant | undefined;
  readonly lastErrorAt: Instant | undefined;
  readonly lastErrorCode: UpstreamErrorCode | undefined;
};

/** Remembers how calls to one upstream go. */
export type HealthRecord = {
  /**
   * Passes a call's outcome through; of the failures, only those that are the upstream's fault are held against it.
   *
   * @param method what the call is named in figures: one of a few
   */
  watch<T>(method: string, call: Promise<T>, isFault?: (error: UpstreamError) => boolean): Promise<T>;
  read(): UpstreamHealth;
};

/** How one call went. */
export type UpstreamCall = {
  readonly upstream: Upstream;
  readonly method: string;
  /** `OK`, or the code of the error. */
  readonly outcome: UpstreamErrorCode | 'OK';
  readonly seconds: number;
};

/** Starts a record in which nothing has been asked yet; `onCall` is told of each call that has ended. */
export function createHealthRecord(
  upstream: Upstream,
  now: () => Instant,
  onCall: (call: UpstreamCall) => void = () => {},
): HealthRecord {
  let health: UpstreamHealth = {
    upstream,
    healthy: false,
    lastSuccessAt: undefined,
    lastErrorAt: undefined,
    lastErrorCode: undefined,
  };

  async function watch<T>(
    method: string,
    call: Promise<T>,
    isFault: (error: UpstreamError) => boolean = () => true,
  ): Promise<T> {
    const start = performance.now();
    const end = (outcome: UpstreamCall['outcome']) =>
      onCall({ upstream, method, outcome, seconds: (performance.now() - start) / 1_000 });
    try {
      const answer = await call;
      end('OK');
      health = { ...health, healthy: true, lastSuccessAt: now() };
      return answer;
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
  return hosts.reduce(ofBoth);
}

function ofBoth(a: UpstreamHealth, b: UpstreamHealth): UpstreamHealth {
  const newest = (b.lastErrorAt ?? 0) > (a.lastErrorAt ?? 0) ? b : a;
  const successes = [a.lastSuccessAt, b.lastSuccessAt].filter((instant) => instant !== undefined);
  return {
    ...newest,
    healthy: a.healthy || b.healthy,
    lastSuccessAt: successes.length === 0 ? undefined : Math.max(...successes),
  };
}
