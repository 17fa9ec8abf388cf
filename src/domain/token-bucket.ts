/** The size of a token bucket: the points that it regains per second, and the points that it can hold. */
export type RateLimit = { readonly pointsPerSecond: number; readonly burst: number };

/**
 * The level of a bucket at a moment, in milliseconds of any one clock.
 *
 * The unit is a thousandth of a point. A rate of one point per second is one unit per millisecond, so that nothing is
 * rounded, and no bucket gives more than it received.
 */
export type TokenBucket = { readonly thousandths: number; readonly at: number };

/** A full bucket. */
export function fullBucket({ burst }: RateLimit, now: number): TokenBucket {
  return { thousandths: burst * 1_000, at: now };
}

/** The bucket with the points that it regained since its last change. A clock that is set back adds nothing. */
export function refill(bucket: TokenBucket, { pointsPerSecond, burst }: RateLimit, now: number): TokenBucket {
  const elapsedMs = Math.max(0, now - bucket.at);
  return { thousandths: Math.min(burst * 1_000, bucket.thousandths + elapsedMs * pointsPerSecond), at: now };
}

/**
 * Milliseconds until a bucket has enough points for a cost, of which some may be paid already; 0 if it has enough now.
 *
 * A cost above the size of the bucket needs a full bucket and leaves a debt. Otherwise it could never be paid.
 */
export function msUntilAvailable(bucket: TokenBucket, rate: RateLimit, points: number, paid = 0): number {
  const missing = (Math.min(points, rate.burst) - paid) * 1_000 - bucket.thousandths;
  return Math.max(0, Math.ceil(missing / rate.pointsPerSecond));
}

/** The bucket after a withdrawal of points. */
export function drain({ thousandths, at }: TokenBucket, points: number): TokenBucket {
  return { thousandths: thousandths - points * 1_000, at };
}
