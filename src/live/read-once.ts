import type { Instant } from '../domain/instant.ts';

/** Reads something once for all replicas of a fleet. */
export type ReadOnce<Key, Value> = (key: Key, read: () => Promise<Value>) => Promise<Value>;

/** A value, and when its upstream sent it. */
export type Observed<Value> = { readonly value: Value; readonly observedAt: Instant };

/** Reads alone, for a gateway without a fleet. */
export function readAlone<Value>(_key: unknown, read: () => Promise<Value>): Promise<Value> {
  return read();
}
