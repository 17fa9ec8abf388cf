import type { Redis } from './redis.ts';

/**
 * How long ago something happened, by the clock of Redis. The clocks of two replicas may differ by minutes: a replica measures
 * how far its own monotonic clock is from that of Redis, and never compares times of day.
 */
export type RedisClock = {
  /** Measures. @throws RedisUnavailableError */
  measure(): Promise<void>;
  /** Milliseconds since a moment of Redis, such as that in the id of a stream's entry. At least 0. */
  ageMs(redisMs: number): number;
};

/** Creates a clock that has not measured yet. */
export function createRedisClock(redis: Redis): RedisClock {
  const key = redis.fleetKey('lease');
  let offsetMs = 0;

  return {
    async measure() {
      const before = performance.now();
      const reply = await redis.command(key, 'TIME');
      const after = performance.now();
      const [seconds, micros] = (Array.isArray(reply) ? reply : []).map(Number);
      // Half of the way there and back.
      if (seconds !== undefined && micros !== undefined)
        offsetMs = seconds * 1_000 + micros / 1_000 - (before + after) / 2;
    },
    ageMs: (redisMs) => Math.max(0, performance.now() + offsetMs - redisMs),
  };
}
