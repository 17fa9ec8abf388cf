import type { Instant } from '../../domain/instant.ts';
import type { RateLimit } from '../../graphql/limits.ts';

/**
 * What is in a bucket at a moment.
 *
 * It is counted in thousandths of a point: one point a second is one of them a millisecond, so whole milliseconds and
 * whole points need no rounding, and a bucket never gives more than it got.
 */
export type TokenBucket = { readonly thousandths: number; readonly at: Instant };

/** A bucket of that rate that holds all that it can. */
export function fullBucket({ burst }: RateLimit, now: Instant): TokenBucket {
  return { thousandths: burst * 1_000, at: now };
}

/** The bucket with what has come in since. A clock that is set back fills nothing, and holds nothing up. */
export function refill(bucket: TokenBucket, { pointsPerSecond, burst }: RateLimit, now: Instant): TokenBucket {
  const elapsedMs = Math.max(0, now - bucket.at);
  return { thousandths: Math.min(burst * 1_000, bucket.thousandths + elapsedMs * pointsPerSecond), at: now };
}

/**
 * Milliseconds until a bucket has what something costs, of which some points may be paid already; 0 where it has it now.
 *
 * What costs more than a bucket can hold needs a full one, and leaves a debt: otherwise it could never be had.
 */
export function msUntilAffordable(bucket: TokenBucket, rate: RateLimit, points: number, paid = 0): number {
  const missing = (Math.min(points, rate.burst) - paid) * 1_000 - bucket.thousandths;
  return Math.max(0, Math.ceil(missing / rate.pointsPerSecond));
}

/** The bucket without so many points. */
export function drain({ thousandths, at }: TokenBucket, points: number): TokenBucket {
  return { thousandths: thousandths - points * 1_000, at };
}
