import { randomUUID } from 'node:crypto';
import { createScript, listOf, type Redis } from './redis.ts';
import type { RedisReply } from './redis-client.ts';

/**
 * The lease on following the upstreams, which one replica of the fleet holds at a time. Its value is the fencing number and
 * the id of the replica. Each write of a leader compares it in the same script, so that a leader that was paused cannot write
 * after its successor.
 */
export type Lease = {
  /** The id of this replica. */
  readonly id: string;
  /**
   * Takes the lease if nobody has it.
   *
   * @param chain the name of the chain that this replica follows
   * @returns whether the lease was taken, and which chain the fleet follows if that is another one
   * @throws RedisUnavailableError
   */
  acquire(chain: string): Promise<{ readonly isAcquired: boolean; readonly otherChain: string | undefined }>;
  /** Keeps the lease. @returns whether this replica still has it, and the id of another one that requests it, if one does */
  renew(chain: string): Promise<{ readonly isHeld: boolean; readonly challenger: string | undefined }>;
  /** The value of the lease; `undefined` if nobody has it. */
  holder(): Promise<string | undefined>;
  /** The name of the chain that the fleet follows; `undefined` if Redis has none. */
  chainName(): Promise<string | undefined>;
  /** Requests the lease from the leader, because it cannot read the nodes and this replica can. */
  challenge(): Promise<void>;
  /** Gives the lease back. */
  release(): Promise<void>;
  /**
   * Adds a message to a stream, if this replica still has the lease.
   *
   * @param trim the arguments of XTRIM
   * @returns the id of the entry; `undefined` if the replica no longer has the lease
   */
  publish(stream: string, message: Buffer, trim?: readonly [string, string]): Promise<string | undefined>;
  /** The value with which this replica holds the lease; `undefined` if it does not. */
  held(): string | undefined;
};

/** A leader renews its lease three times in this time. */
export const LEASE_MS = 3_000;

/** Time after which the data of a fleet in Redis expires, once its last replica has stopped. */
const EXPIRY_MS = 3_600_000;

/**
 * The fencing number grows, also where Redis has lost all keys: it is at least the time of Redis in milliseconds. The chain
 * is compared first.
 */
const ACQUIRE = createScript(`
  local chain = redis.call('GET', KEYS[3])
  if chain and ARGV[2] ~= '' and chain ~= ARGV[2] then return {0, chain} end
  if redis.call('EXISTS', KEYS[1]) == 1 then return {0} end
  local time = redis.call('TIME')
  local fence = math.max(tonumber(redis.call('GET', KEYS[2]) or '0') + 1, time[1] * 1000 + math.floor(time[2] / 1000))
  local value = string.format('%.0f', fence) .. ':' .. ARGV[1]
  redis.call('SET', KEYS[2], string.format('%.0f', fence), 'PX', ARGV[4])
  if ARGV[2] ~= '' then redis.call('SET', KEYS[3], ARGV[2], 'PX', ARGV[4]) end
  redis.call('SET', KEYS[1], value, 'NX', 'PX', ARGV[3])
  return {1, value}`);

const RENEW = createScript(`
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {0} end
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  if ARGV[3] ~= '' then redis.call('SET', KEYS[3], ARGV[3], 'PX', ARGV[4]) end
  return {1, redis.call('GET', KEYS[2]) or ''}`);

const RELEASE = createScript(`
  if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1], KEYS[2]) end
  return 1`);

const PUBLISH = createScript(`
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return false end
  local id = redis.call('XADD', KEYS[2], '*', 'm', ARGV[2])
  if ARGV[4] then redis.call('XTRIM', KEYS[2], ARGV[4], ARGV[5]) end
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
  return id`);

/** Creates the lease of this replica, which does not have it yet. */
export function createLease(redis: Redis, leaseMs: number): Lease {
  const id = randomUUID();
  const lease = redis.fleetKey('lease');
  const fence = redis.fleetKey('fence');
  const chainKey = redis.fleetKey('chain');
  const challenger = redis.fleetKey('challenger');
  let value: string | undefined;

  return {
    id,
    async acquire(chain) {
      const reply = await redis.run(ACQUIRE, [lease, fence, chainKey], [id, chain, String(leaseMs), String(EXPIRY_MS)]);
      const [isAcquired, text] = listOf(reply);
      if (isAcquired !== 1) return { isAcquired: false, otherChain: textOf(text) };
      value = textOf(text);
      return { isAcquired: true, otherChain: undefined };
    },
    async renew(chain) {
      if (value === undefined) return { isHeld: false, challenger: undefined };
      const args = [value, String(leaseMs), chain, String(EXPIRY_MS)];
      const [isHeld, requester] = listOf(await redis.run(RENEW, [lease, challenger, chainKey], args));
      if (isHeld !== 1) value = undefined;
      return { isHeld: isHeld === 1, challenger: textOf(requester) || undefined };
    },
    holder: async () => textOf(await redis.command(lease, 'GET', lease)),
    chainName: async () => textOf(await redis.command(chainKey, 'GET', chainKey)),
    async challenge() {
      await redis.command(challenger, 'SET', challenger, id, 'PX', String(2 * leaseMs));
    },
    async release() {
      const held = value;
      value = undefined;
      if (held !== undefined) await redis.run(RELEASE, [lease, challenger], [held]);
    },
    async publish(stream, message, trim) {
      if (value === undefined) return undefined;
      const reply = await redis.run(PUBLISH, [lease, stream], [value, message, String(EXPIRY_MS), ...(trim ?? [])]);
      if (reply === null) value = undefined;
      return textOf(reply);
    },
    held: () => value,
  };
}

function textOf(reply: RedisReply | undefined): string | undefined {
  return Buffer.isBuffer(reply) ? reply.toString() : undefined;
}
