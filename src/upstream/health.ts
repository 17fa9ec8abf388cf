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
  /** Passes a call's outcome through; of the failures, only those that are the upstream's fault are held against it. */
  watch<T>(call: Promise<T>, isFault?: (error: UpstreamError) => boolean): Promise<T>;
  read(): UpstreamHealth;
};

/** Starts a record in which nothing has been asked yet. */
export function createHealthRecord(upstream: Upstream, now: () => Instant): HealthRecord {
  let health: UpstreamHealth = {
    upstream,
    healthy: false,
    lastSuccessAt: undefined,
    lastErrorAt: undefined,
    lastErrorCode: undefined,
  };

  async function watch<T>(call: Promise<T>, isFault: (error: UpstreamError) => boolean = () => true): Promise<T> {
    try {
      const answer = await call;
      health = { ...health, healthy: true, lastSuccessAt: now() };
      return answer;
    } catch (error) {
      if (error instanceof UpstreamError && isFault(error)) {
        health = { ...health, healthy: false, lastErrorAt: now(), lastErrorCode: error.code };
      }
      throw error;
    }
  }

  return { watch, read: () => health };
}
