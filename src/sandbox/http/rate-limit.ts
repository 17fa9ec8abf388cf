import type { AnyFault } from '../faults.ts';

type RateLimit = AnyFault & { readonly kind: 'rate-limit' };

/** The token buckets of a host: one for each active rate limit. */
type RateLimits = {
  /** Takes a token for a call from the bucket of each limit. @returns the refusal if a bucket is empty */
  refusal(faults: readonly AnyFault[]): (AnyFault & { readonly kind: 'status' }) | undefined;
};

/** Creates the buckets of a host. Each is full at its first call. */
export function createRateLimits(): RateLimits {
  const buckets = new WeakMap<RateLimit, { tokens: number; at: number }>();

  function take(limit: RateLimit): boolean {
    const now = performance.now();
    const { perSecond, burst = 1 } = limit;
    const bucket = buckets.get(limit) ?? { tokens: burst, at: now };
    buckets.set(limit, bucket);
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) * perSecond) / 1_000);
    bucket.at = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  return {
    refusal(faults) {
      const exceeded = faults.filter((fault) => fault.kind === 'rate-limit').find((limit) => !take(limit));
      if (exceeded === undefined) return undefined;
      const { perSecond, retryAfter = false } = exceeded;
      const after = retryAfter ? { retryAfter: Math.ceil(1 / perSecond) } : {};
      return { kind: 'status', status: 429, body: 'Too Many Requests\n', ...after };
    },
  };
}
