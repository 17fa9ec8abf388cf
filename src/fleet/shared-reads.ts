import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBoundedKeys } from './bounded-keys.ts';
import { createScript, listOf, type Redis } from './redis.ts';
import type { RedisReply } from './redis-client.ts';
import { fromEnvelope, toEnvelope } from './shared-value.ts';

/** What the replicas of a fleet read once. */
type SharedKind = 'state' | 'order_book' | 'persisted_query';

/**
 * How a read went: `hit` from Redis, `waited` from Redis after another replica had read it, `read` by this replica for all, and
 * `alone` by this replica because Redis could not be used or the other replica took too long. Of a persisted query, `read` means
 * that no replica has it.
 */
type ReadOutcome = 'hit' | 'waited' | 'read' | 'alone';

/** Is notified of what happens to the values in Redis. */
export type SharedReadsWatcher = {
  ended(kind: SharedKind, outcome: ReadOutcome): void;
  /** A read has waited for another replica, for this time. */
  waited(kind: SharedKind, seconds: number): void;
  /** A value with this number of bytes was read from Redis or written to it. */
  moved(kind: SharedKind, direction: 'in' | 'out', bytes: number): void;
  /** A value could not be used: it is damaged, or of another version or chain. */
  damaged(kind: SharedKind): void;
};

/** A value, and how long ago its upstream sent it. */
type Aged<Value> = { readonly value: Value; readonly ageMs: number };

/** Reads a value from Redis, or from its upstream and shares it. Fails only if the upstream fails. */
type SharedReads<Value> = (id: string, read: () => Promise<Value>) => Promise<Aged<Value>>;

type SharedReadsOptions<Value> = {
  readonly redis: Pick<Redis, 'command' | 'fleetKey' | 'isAvailable' | 'key' | 'run'>;
  readonly kind: SharedKind;
  /** How long a value may be used after its upstream sent it. */
  readonly ttlMs: number;
  /** How long a read waits for another replica. */
  readonly maxWaitMs: number;
  /** The bytes of a value; `undefined` if it is not to be shared. */
  readonly encode: (value: Value) => Promise<Uint8Array | undefined>;
  /** `undefined` if the bytes are not those of a value. */
  readonly decode: (bytes: Buffer, id: string) => Promise<Value | undefined>;
  /** Maximum number of values of that size in Redis. */
  readonly maxValues: (bytes: number) => number;
  readonly watcher: SharedReadsWatcher;
};

/** A lock that its replica has not renewed for this time is free: the replica was stopped. */
const LOCK_MS = 1_500;
const RENEW_EVERY_MS = 400;

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
const LOOK = createScript(`
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local value = redis.pcall('GET', KEYS[1])
if type(value) == 'string' then return { now, 0, value } end
if type(value) == 'table' then redis.call('UNLINK', KEYS[1]) end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return { now, 1 } end
local ttl = redis.call('PTTL', KEYS[2])
if ttl < 0 or ttl > tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
return { now, 0 }
`);

/** Keeps a lock. Key: the lock. Arguments: its token, and after how many ms it is free. */
const RENEW = createScript(`
if redis.pcall('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
`);

/** Frees a lock. Key: the lock. Argument: its token. */
const RELEASE = createScript(`
if redis.pcall('GET', KEYS[1]) == ARGV[1] then redis.call('UNLINK', KEYS[1]) end
return 0
`);

/**
 * Writes a value and frees its lock, unless the lock was lost: a replica that was paused does not write what is old by now.
 *
 * Keys: the value, its lock. Arguments: the token of the lock, the value, and until when it is stored, in ms of Redis.
 */
const STORE = createScript(`
if redis.pcall('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
redis.call('UNLINK', KEYS[2])
return 1
`);

/**
 * Creates the reads of one kind. Of the replicas that need a value at the same time, the one that gets its lock reads it, and
 * the others wait for the value. No read waits longer than two commands of Redis may take, unless another replica is reading.
 */
export function createSharedReads<Value>(options: SharedReadsOptions<Value>): SharedReads<Value> {
  const { redis, kind, ttlMs, maxWaitMs, encode, decode, maxValues, watcher } = options;
  const keys = createBoundedKeys(redis, kind, ttlMs);
  const replica = randomUUID();
  let locks = 0;

  const keysOf = (id: string): [string, string] => [keys.key(id), `${keys.key(id)}:lock`];

  /** Looks for a value until there is one, or this replica has the lock. @throws Error if Redis cannot be used */
  async function find(id: string, token: string): Promise<Found<Value> | Locked | undefined> {
    const begunAt = performance.now();
    let hasWaited = false;
    let pauseMs = FIRST_PAUSE_MS;
    let hasDiscarded = false;
    for (;;) {
      const sentAt = performance.now();
      const look = readLook(await redis.run(LOOK, keysOf(id), [token, String(LOCK_MS)]));
      if (look.value !== undefined) {
        const found = await read(id, look.value, look.redisNow);
        // It was on its way for a part of this time.
        if (found !== undefined) return { ...found, ageMs: found.ageMs + performance.now() - sentAt, hasWaited };
        if (hasDiscarded) return undefined;
        hasDiscarded = true;
        await redis.command(keys.key(id), 'UNLINK', keys.key(id));
      } else if (look.isLocked) return { redisNow: look.redisNow, at: performance.now() };
      else {
        if (performance.now() - begunAt + pauseMs > maxWaitMs) return undefined;
        await sleep(pauseMs);
        hasWaited = true;
        pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      }
    }
  }

  /** Reads a value that Redis has. @returns `undefined` if it cannot be used */
  async function read(id: string, bytes: Buffer, redisNow: number): Promise<Aged<Value> | undefined> {
    watcher.moved(kind, 'in', bytes.length);
    const envelope = fromEnvelope(bytes, kind, id);
    const ageMs = redisNow - (envelope?.observedAt ?? 0);
    const isInTime = ageMs >= -MAX_CLOCK_ERROR_MS && ageMs <= ttlMs + MAX_CLOCK_ERROR_MS;
    const value = envelope && isInTime ? await decode(envelope.body, id) : undefined;
    if (value === undefined) watcher.damaged(kind);
    return value === undefined ? undefined : { value, ageMs: Math.max(0, ageMs) };
  }

  /** Reads from the upstream, while the other replicas wait for it. */
  async function readForAll(id: string, token: string, locked: Locked, readUpstream: () => Promise<Value>) {
    const renewal = setInterval(() => {
      redis.run(RENEW, [keysOf(id)[1]], [token, String(LOCK_MS)]).catch(() => {});
    }, RENEW_EVERY_MS);
    try {
      const value = await readUpstream();
      const observedAt = Math.floor(locked.redisNow + performance.now() - locked.at);
      share(id, token, value, observedAt).catch(() => {});
      return value;
    } catch (error) {
      redis.run(RELEASE, [keysOf(id)[1]], [token]).catch(() => {});
      throw error;
    } finally {
      clearInterval(renewal);
    }
  }

  /** @throws Error if Redis cannot be used */
  async function share(id: string, token: string, value: Value, observedAt: number): Promise<void> {
    const body = await encode(value).catch(() => undefined);
    if (body === undefined) return void (await redis.run(RELEASE, [keysOf(id)[1]], [token]));
    const bytes = toEnvelope({ kind, id, observedAt }, body);
    watcher.moved(kind, 'out', bytes.length);
    await redis.run(STORE, keysOf(id), [token, bytes, String(observedAt + ttlMs)]);
    await keys.added(id, maxValues(bytes.length));
  }

  return async (id, readUpstream) => {
    const token = `${replica}:${++locks}`;
    const begunAt = performance.now();
    const found = redis.isAvailable() ? await find(id, token).catch(() => undefined) : undefined;
    if (found !== undefined && 'value' in found) {
      if (found.hasWaited) watcher.waited(kind, (performance.now() - begunAt) / 1_000);
      watcher.ended(kind, found.hasWaited ? 'waited' : 'hit');
      return found;
    }
    watcher.ended(kind, found === undefined ? 'alone' : 'read');
    const value = await (found === undefined ? readUpstream() : readForAll(id, token, found, readUpstream));
    return { value, ageMs: 0 };
  };
}

/** A value from Redis, and whether another replica was still reading it. */
type Found<Value> = Aged<Value> & { readonly hasWaited: boolean };

/** This replica has the lock since a time of Redis, which was known here at a time of `performance.now()`. */
type Locked = { readonly redisNow: number; readonly at: number };

type Look = { readonly redisNow: number; readonly isLocked: boolean; readonly value: Buffer | undefined };

/** @throws Error if the reply is not that of the script */
function readLook(reply: RedisReply): Look {
  const [time, lock, value] = listOf(reply);
  const redisNow = Number(String(time));
  if (!Number.isSafeInteger(redisNow)) throw new Error('the reply of Redis contains neither a value nor a lock');
  return { redisNow, isLocked: lock === 1, value: Buffer.isBuffer(value) ? value : undefined };
}
