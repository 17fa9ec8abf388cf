import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { holding, LOCK_MS, release } from './lock.ts';
import { createRedisClock, listOf, type Redis, type RedisClock } from './redis.ts';
import { decodeValue, encodeValue, type FleetWatcher } from './values.ts';

/** A value, and how long ago its upstream sent it. */
type Aged<Value> = { readonly value: Value; readonly ageMs: number };

/** Reads a value from Redis, or from its upstream for the fleet. Fails only if the upstream fails. */
type ReadAged<Value> = (id: string, read: () => Promise<Value>) => Promise<Aged<Value>>;

type ReadOnceOptions<Value> = {
  readonly redis: Redis;
  /** What is read, in the keys and in the metrics. */
  readonly kind: 'order_book' | 'state' | 'trades';
  /** How long a value may be used after its upstream sent it. */
  readonly ttlMs: number;
  /** How long a read waits for another replica. */
  readonly maxWaitMs: number;
  /** What is stored for a value; `undefined` if it is not for the fleet. By default, the value. */
  readonly pack?: (value: Value) => unknown;
  /** The value of what {@link pack} returned. */
  readonly unpack?: (packed: unknown) => Value;
  readonly watcher: FleetWatcher;
};

/** From one look for the value of another replica to the next. It is doubled until the maximum. */
const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 100;

/** The clock of Redis can be another one after a failover. */
const MAX_CLOCK_ERROR_MS = 1_000;

/**
 * Looks for a value, and takes its lock if there is none.
 *
 * Keys: the value, its lock. Arguments: the token of the lock, and after how many ms it is free again. Replies with the time of
 * Redis in ms, with 1 if the lock was taken, and with the value.
 */
const LOOK = `
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local value = redis.pcall('GET', KEYS[1])
if type(value) == 'string' then return { now, 0, value } end
if type(value) == 'table' then redis.call('UNLINK', KEYS[1]) end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return { now, 1 } end
local ttl = redis.call('PTTL', KEYS[2])
if ttl < 0 or ttl > tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
return { now, 0 }
`;

/**
 * Writes a value and frees its lock, unless the lock was lost: a replica that was paused does not write what is old by now.
 *
 * Keys: the value, its lock. Arguments: the token of the lock, the value, and until when it is stored, in ms of Redis.
 */
const STORE = `
if redis.pcall('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
redis.call('UNLINK', KEYS[2])
return 1
`;

/**
 * Creates the reads of one kind. Of the replicas that need a value at the same time, the one that gets its lock reads it, and
 * the others wait for the value. No read waits longer than three commands of Redis may take, unless another replica is reading.
 */
export function createReadOnce<Value>(options: ReadOnceOptions<Value>): ReadAged<Value> {
  const { redis, kind, ttlMs, maxWaitMs, watcher } = options;
  const { pack = (value) => value, unpack = (packed) => packed as Value } = options;

  // The braces put what belongs to one id into one slot of a cluster. An id may have been sent by a client.
  const keyOf = (id: string) => redis.key(kind, `{${encodeURIComponent(id.toWellFormed())}}`);
  const keysOf = (id: string): [string, string] => [keyOf(id), `${keyOf(id)}:lock`];

  /** Looks for a value until there is one, or this replica has the lock. Then it knows the time of Redis. @throws as `Redis.run` */
  async function find(id: string, token: string): Promise<Aged<Value> | RedisClock | undefined> {
    const begunAt = performance.now();
    const clock = createRedisClock();
    let pauseMs = FIRST_PAUSE_MS;
    for (let hasDiscarded = false; ; ) {
      const sentAt = performance.now();
      const [time, lock, bytes] = listOf(await redis.run(LOOK, keysOf(id), [token, String(LOCK_MS)]));
      const redisNow = Number(String(time));
      clock.observe(redisNow);
      if (lock === 1) return clock;
      if (Buffer.isBuffer(bytes)) {
        const found = readValue(id, bytes, redisNow);
        if (found !== undefined) {
          const hasWaited = pauseMs > FIRST_PAUSE_MS;
          if (hasWaited) watcher.waited(kind, (performance.now() - begunAt) / 1_000);
          watcher.ended(kind, hasWaited ? 'waited' : 'hit');
          // It was on its way for a part of this time.
          return { value: found.value, ageMs: found.ageMs + performance.now() - sentAt };
        }
        if (hasDiscarded) return undefined;
        hasDiscarded = true;
        await redis.command(keyOf(id), 'UNLINK', keyOf(id));
      } else {
        if (performance.now() - begunAt + pauseMs > maxWaitMs) return undefined;
        await sleep(pauseMs);
        pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      }
    }
  }

  /** Reads a value that Redis has. @returns `undefined` if it cannot be used */
  function readValue(id: string, bytes: Buffer, redisNow: number): Aged<Value> | undefined {
    watcher.moved(kind, 'in', bytes.length);
    const stored = (decodeValue(bytes) ?? {}) as Partial<Stored>;
    const ageMs = redisNow - (stored.observedAt ?? 0);
    const isUsable = stored.id === id && ageMs >= -MAX_CLOCK_ERROR_MS && ageMs <= ttlMs + MAX_CLOCK_ERROR_MS;
    if (isUsable) return { value: unpack(stored.packed), ageMs: Math.max(0, ageMs) };
    watcher.damaged(kind);
    return undefined;
  }

  /** Reads from the upstream, while the other replicas wait for it. */
  async function readForAll(id: string, token: string, clock: RedisClock, read: () => Promise<Value>): Promise<Value> {
    const value = await holding(redis, { key: keysOf(id)[1], token }, read);
    const observedAt = Math.floor(clock.toRedis(performance.now()));
    // Without Redis, only this replica has the value.
    store(id, token, value, observedAt).catch(() => {});
    return value;
  }

  /** @throws Error if Redis cannot be used */
  async function store(id: string, token: string, value: Value, observedAt: number): Promise<void> {
    const packed = pack(value);
    if (packed === undefined) return release(redis, { key: keysOf(id)[1], token });
    const bytes = encodeValue({ id, observedAt, packed } satisfies Stored);
    watcher.moved(kind, 'out', bytes.length);
    await redis.run(STORE, keysOf(id), [token, bytes, String(observedAt + ttlMs)]);
  }

  return async (id, read) => {
    const token = randomUUID();
    const found = redis.isAvailable() ? await find(id, token).catch(() => undefined) : undefined;
    if (found !== undefined && 'value' in found) return found;
    watcher.ended(kind, found === undefined ? 'alone' : 'read');
    const value = await (found === undefined ? read() : readForAll(id, token, found, read));
    return { value, ageMs: 0 };
  };
}

/** What Redis has of a value. */
type Stored = { readonly id: string; readonly observedAt: number; readonly packed: unknown };
