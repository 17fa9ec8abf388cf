import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { listOf, type Redis } from './redis.ts';

/** What the gateways of a fleet read once, as a label of metrics. */
type FleetKind = 'head' | 'pairs' | 'tickers' | 'state' | 'order_book' | 'trades';

/**
 * How a read ended: with a value of Redis, at once or after another replica had read it; with one that this replica has read for
 * all; or alone, because Redis could not be used or another replica took too long.
 */
type ReadOutcome = 'hit' | 'waited' | 'read' | 'alone';

/** Is notified of what a gateway reads from Redis and publishes to it. */
export type FleetWatcher = {
  ended(kind: FleetKind, outcome: ReadOutcome): void;
  /** A read waited for another replica. */
  waited(kind: FleetKind, seconds: number): void;
  /** Bytes were read from Redis, or written to it. */
  moved(kind: FleetKind, direction: 'in' | 'out', bytes: number): void;
  /** A value in Redis cannot be used: it is damaged, or of another version. */
  damaged(kind: FleetKind): void;
};

const DIGEST_BYTES = 32;

/** Writes a value for Redis: the SHA-256 of what follows, and the value in the structured clone format of V8. */
export function encodeValue(value: unknown): Buffer {
  const body = serialize(value);
  return Buffer.concat([hash('sha256', body, 'buffer'), body]);
}

/** Reads what {@link encodeValue} wrote; `undefined` for anything else, and for a value of a V8 that is too new. */
export function decodeValue(bytes: Buffer): unknown {
  const body = bytes.subarray(DIGEST_BYTES);
  if (!hash('sha256', body, 'buffer').equals(bytes.subarray(0, DIGEST_BYTES))) return undefined;
  try {
    return deserialize(body);
  } catch {
    return undefined;
  }
}

/**
 * Reads the values of a kind from a rank on, in the order of their ranks, without damaged ones. Each is read with a command of its own,
 * which may take 500 ms: a head with 10,000 pools of V3 has 3 MB. The event loop is free in between. @throws Error if Redis cannot be used
 */
export async function readValues(
  { redis, watcher }: { readonly redis: Pick<Redis, 'command'>; readonly watcher: FleetWatcher },
  kind: FleetKind,
  key: string,
  from: number | undefined,
): Promise<readonly unknown[]> {
  const values: unknown[] = [];
  for (let lowest = from === undefined ? '-inf' : String(from); ; ) {
    const terms = [lowest, '+inf', 'WITHSCORES', 'LIMIT', '0', '1'];
    // A list with a pair, or with version 2 of the protocol, as in a cluster, a list of a value and its rank.
    const [bytes, rank] = listOf(await redis.command(key, 'ZRANGEBYSCORE', key, ...terms)).flat();
    if (rank === undefined) return values;
    lowest = `(${rank}`;
    if (!Buffer.isBuffer(bytes)) continue;
    watcher.moved(kind, 'in', bytes.length);
    const value = decodeValue(bytes);
    if (value === undefined) watcher.damaged(kind);
    else values.push(value);
    await nextTurn();
  }
}
