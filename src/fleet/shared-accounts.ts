import { createHash, randomUUID } from 'node:crypto';
import type { RateLimit } from '../domain/token-bucket.ts';
import { createScript, listOf, type Redis } from './redis.ts';
import type { RedisReply } from './redis-client.ts';

/** What one replica has taken from the bucket of a client since it last settled, and what it believes to be left. */
export type Spending = {
  readonly client: string;
  /** In thousandths of a point. */
  readonly spent: number;
  /** In thousandths of a point. Other replicas may have taken more, but never less was taken. */
  readonly left: number;
};

/** The accounts that all replicas of a fleet keep together. */
export type SharedAccounts = {
  /**
   * Takes what one replica has spent from the accounts, and shows that the replica lives.
   *
   * @returns what is left in each, in thousandths of a point and in the order of the spendings; fails if nothing is known
   */
  settle(rate: RateLimit, spendings: readonly Spending[]): Promise<Settled>;
};

/** The accounts after a settlement, and the number of replicas that settled within the last seconds. */
export type Settled = { readonly left: readonly number[]; readonly replicas: number };

/** A replica that has not settled for this time is not counted any more. */
const REPLICA_TTL_MS = 5_000;

/**
 * Settles the accounts of clients by the clock of Redis. An account is what was left at a time, and is forgotten once it is
 * full again. One that cannot be read counts as full, and is overwritten.
 *
 * Keys: the replicas, then the accounts. Arguments: this replica, after how many ms one is forgotten, the size of an account and
 * what it regains in a ms in thousandths of a point, then for each account what was spent and what the replica believes to be
 * left. Replies with the number of replicas, then what is left in each account.
 */
const SETTLE = createScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local size, perMs = tonumber(ARGV[3]), tonumber(ARGV[4])
local added = redis.pcall('ZADD', KEYS[1], now, ARGV[1])
if type(added) == 'table' then
  redis.call('DEL', KEYS[1])
  redis.call('ZADD', KEYS[1], now, ARGV[1])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ARGV[2], '+inf')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local reply = { redis.call('ZCARD', KEYS[1]) }
for i = 2, #KEYS do
  local spent, believed = tonumber(ARGV[2 * i + 1]), tonumber(ARGV[2 * i + 2])
  local left, at = size, now
  local stored = redis.pcall('GET', KEYS[i])
  if type(stored) == 'string' then
    local storedLeft, storedAt = string.match(stored, '^(-?%d+) (%d+)$')
    if storedLeft then left, at = tonumber(storedLeft), math.min(now, tonumber(storedAt)) end
  end
  left = math.min(size, left + (now - at) * perMs) - spent
  left = math.max(math.min(left, believed), -1e15)
  local fullInMs = math.min(math.ceil((size - left) / perMs), 86400000)
  if fullInMs > 0 then
    redis.call('SET', KEYS[i], string.format('%.0f %.0f', left, now), 'PX', string.format('%.0f', fullInMs))
  else
    redis.call('DEL', KEYS[i])
  end
  reply[i] = string.format('%.0f', left)
end
return reply
`);

/**
 * Creates the accounts of clients that the replicas of a fleet keep in Redis.
 *
 * @param onSettled called after each settlement. @param onSettled.replicas `undefined` if it failed
 */
export function createSharedAccounts(
  redis: Pick<Redis, 'run' | 'fleetKey'>,
  onSettled: (replicas: number | undefined) => void,
): SharedAccounts {
  const replica = randomUUID();
  return {
    async settle({ pointsPerSecond, burst }, spendings) {
      // Replicas with other limits, during a change of the settings, count for themselves.
      const kind = `${pointsPerSecond}:${burst}`;
      const keys = spendings.map(({ client }) => redis.fleetKey(`account:${kind}:${hashOf(client)}`));
      const args = spendings.flatMap(({ spent, left }) => [wholeNumber(spent), wholeNumber(left)]);
      const terms = [replica, String(REPLICA_TTL_MS), String(burst * 1_000), String(pointsPerSecond)];
      try {
        const reply = await redis.run(SETTLE, [redis.fleetKey(`accounts:${kind}`), ...keys], [...terms, ...args]);
        const settled = readReply(reply, spendings.length);
        onSettled(settled.replicas);
        return settled;
      } catch (error) {
        onSettled(undefined);
        throw error;
      }
    },
  };
}

/** Addresses are personal data: Redis gets 128 bits of their hash. */
function hashOf(client: string): string {
  return createHash('sha256').update(client).digest('base64url').slice(0, 22);
}

function wholeNumber(value: number): string {
  return value.toFixed(0);
}

/** Reads the reply of the script. @throws Error for any other */
function readReply(reply: RedisReply, accounts: number): Settled {
  const numbers = listOf(reply).map((each) => Number(String(each)));
  const [replicas, ...left] = numbers;
  if (replicas === undefined || left.length !== accounts || !numbers.every(Number.isSafeInteger))
    throw new Error('the reply of Redis does not contain the accounts');
  return { replicas, left };
}
