import { listOf, type Redis } from './redis.ts';

/**
 * When something happened, by the clock of Redis. The clocks of two replicas may differ by minutes: a replica measures
 * how far its own monotonic clock is from that of Redis, and never compares times of day.
 */
export type RedisClock = {
  /** Measures. @throws RedisUnavailableError */
  measure(): Promise<void>;
  /**
   * A moment of Redis, such as that in the id of a stream's entry, by the monotonic clock of this gateway. Never too late:
   * while Redis is slow, it can be too early by the time of a reply.
   */
  toLocal(redisMs: number): number;
  /** The reverse, also never too late. */
  toRedis(localMs: number): number;
};

/** Creates a clock that has not measured yet. */
export function createRedisClock(redis: Redis): RedisClock {
  const key = redis.fleetKey('lease');
  /** The time of Redis minus that of this gateway when the command was sent, and when its reply came. */
  let offset = { sentMs: 0, repliedMs: 0 };

  return {
    async measure() {
      const sentAt = performance.now();
      const reply = await redis.command(key, 'TIME');
      const [seconds, micros] = listOf(reply).map(Number);
      if (seconds === undefined || micros === undefined) return;
      const time = seconds * 1_000 + micros / 1_000;
      offset = { sentMs: time - sentAt, repliedMs: time - performance.now() };
    },
    toLocal: (redisMs) => Math.min(performance.now(), redisMs - offset.sentMs),
    toRedis: (localMs) => localMs + offset.repliedMs,
  };
}
