import type { Redis } from './redis.ts';
import type { FleetWatcher } from './watcher.ts';

/** How the values of a source are published. */
export type PollCodec<T> = {
  /** Puts the values of a source in order: the height of a head, or the time of Redis in ms. */
  rankOf(value: T): number;
  /** Whether a poll found nothing new. */
  isUnchanged(value: T, previous: T | undefined): boolean;
  /** The values that are published for one: itself, and what was filled in below it. */
  all(value: T): readonly T[];
  /** @throws Error if Redis cannot be used */
  pack(value: T): Promise<unknown>;
  /** The newest of some values, which come in the order of their ranks; `undefined` if none is newer than the previous one. */
  unpack(packed: readonly unknown[], previous: T | undefined): Promise<T | undefined>;
  /** The value if a later poll, at a time of `performance.now()`, has found nothing new. */
  polledAgain(value: T, at: number): T;
};

/** What the polls of all sources have in common. */
export type PollContext = {
  readonly redis: Redis;
  readonly clock: RedisClock;
  /** Whether this gateway takes part: not if the fleet follows another chain. */
  readonly isMember: () => boolean;
  /** How many replicas there are. */
  readonly replicas: () => number;
  readonly watcher: FleetWatcher;
};

/** How one source is polled. */
export type PollOptions<T> = {
  readonly name: 'head' | 'pairs' | 'tickers';
  /** What its keys begin with: the name, and the format of the values if it can differ between versions of the gateway. */
  readonly keyPrefix: string;
  /** How many values Redis keeps. */
  readonly keep: number;
  readonly codec: PollCodec<T>;
};

/** The monotonic clock of this gateway and that of Redis. The clocks of two replicas may differ by minutes. */
type RedisClock = {
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
