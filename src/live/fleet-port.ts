import type { Instant } from '../domain/instant.ts';

/** What a gateway knows when it polls together with the others of a fleet. */
export type PollRequest<T> = {
  /** The newest value that this gateway has published. */
  readonly previous: T | undefined;
  /** The values that it remembers, ascending, with the newest. */
  readonly remembered: readonly T[];
  /** Takes values below the newest, which others have published while this gateway was alone. */
  remember?(values: readonly T[]): void;
  /** Minimum time between two reads of the upstream, by any gateway. */
  readonly idleMs: number;
  /** What a node has pushed and is not served yet: a reason to poll before that time is over. */
  readonly pushed?: string | undefined;
  /** Reads the upstream. If it returns the previous value, there is nothing new. */
  readonly read: (previous: T | undefined) => Promise<T>;
};

/** Polls an upstream together with the other gateways of a fleet: one of them reads it, and all get the value. */
export type FleetPoll<T> = {
  /**
   * Reads the upstream, or takes what another gateway has read since.
   *
   * @returns the newest value; `undefined` if there is none yet
   * @throws the error of `read`
   */
  poll(request: PollRequest<T>): Promise<T | undefined>;
  /** The time until the next poll of this gateway, if it would be `usualMs` alone. */
  intervalMs(usualMs: number): number;
  /** Calls a function when another gateway has published a value. The function returns whether it polls now. */
  onPublished(pollNow: () => boolean): void;
  /** Resolves when this gateway has all values that others have published before the call, or after some seconds. */
  untilCurrent(): Promise<void>;
};

/** Reads something once for all gateways of a fleet. */
export type ReadOnce<Key, Value> = (key: Key, read: () => Promise<Value>) => Promise<Value>;

/** A value, and when its upstream sent it. */
export type Observed<Value> = { readonly value: Value; readonly observedAt: Instant };

/** Reads alone, for a gateway without a fleet. */
export function readAlone<Value>(_key: unknown, read: () => Promise<Value>): Promise<Value> {
  return read();
}
