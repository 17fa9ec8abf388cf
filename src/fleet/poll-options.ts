import type { Members } from './members.ts';
import type { Redis, RedisClock } from './redis.ts';
import type { FleetWatcher } from './values.ts';

/** How one source is polled, and how its values are published. */
export type PollOptions<T> = {
  readonly name: 'head' | 'pairs' | 'tickers';
  /** What its keys begin with: the name, and the format of the values if it can differ between versions of the gateway. */
  readonly keyPrefix: string;
  /** How many values Redis keeps. */
  readonly keep: number;
  /** Puts the values of a source in order: the height of a head, or the time of Redis in ms. */
  rankOf(value: T): number;
  /** The values that are published for one: none if it is unchanged, else itself and what was filled in below it. */
  all(value: T, previous: T | undefined): readonly T[];
  /** Whether all upstreams of this replica that respond are behind a value; by default they are not. */
  isBehind?(value: T): boolean;
  /** @throws Error if Redis cannot be used */
  pack(value: T): Promise<unknown>;
  /** The newest of some values, which come in the order of their ranks; `undefined` if none is newer than the previous one. */
  unpack(packed: readonly unknown[], previous: T | undefined): Promise<T | undefined>;
  /** The value if a later poll, at a time of `performance.now()`, has found nothing new; by default it is the same. */
  polledAgain?(value: T, at: number): T;
};

/** What the polls of all sources have in common. */
export type PollContext = {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly members: Pick<Members, 'id' | 'takesPart' | 'count' | 'joinChain'>;
  readonly watcher: FleetWatcher;
};
