/** The monotonic clock of this gateway and that of Redis. The clocks of two replicas may differ by minutes. */
export type RedisClock = {
  /** Is called with the time of Redis when a reply has come. */
  observe(redisNow: number): void;
  /** A moment of `performance.now()` by the clock of Redis. */
  toRedis(localMs: number): number;
  /** A moment of Redis by `performance.now()`, never in the future. */
  toLocal(redisMs: number): number;
};

/** Creates a clock that has observed nothing yet. */
export function createRedisClock(): RedisClock {
  let offset = 0;
  return {
    observe(redisNow) {
      offset = redisNow - performance.now();
    },
    toRedis: (localMs) => localMs + offset,
    toLocal: (redisMs) => Math.min(performance.now(), redisMs - offset),
  };
}
