import { createScript, listOf, type Redis } from './redis.ts';

/** Limits how many keys of a kind there are in Redis. Each key expires by itself, too. */
type BoundedKeys = {
  /** The key of one thing. */
  key(id: string): string;
  /** Counts a key that was written, and deletes the oldest ones above a number. @throws as `Redis.command` */
  added(id: string, max: number): Promise<void>;
};

/**
 * Adds to the index of a kind, which has the time of each key.
 *
 * Key: the index. Arguments: the id, after how many ms an index that nobody adds to is forgotten, and how many ids stay. Replies
 * with those that do not, each with its time behind it.
 */
const ADD = createScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if type(redis.pcall('ZADD', KEYS[1], now, ARGV[1])) == 'table' then
  redis.call('DEL', KEYS[1])
  redis.call('ZADD', KEYS[1], now, ARGV[1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local excess = redis.call('ZCARD', KEYS[1]) - ARGV[3]
return excess > 0 and redis.call('ZPOPMIN', KEYS[1], excess) or {}
`);

/** Creates the limit of a kind, whose keys all expire within a time. */
export function createBoundedKeys(
  redis: Pick<Redis, 'command' | 'fleetKey' | 'key' | 'run'>,
  kind: string,
  ttlMs: number,
): BoundedKeys {
  // The braces put what belongs to one id into one slot of a cluster. An id may have been sent by a client.
  const key = (id: string) => redis.key(kind, `{${encodeURIComponent(id.toWellFormed())}}`);
  return {
    key,
    async added(id, max) {
      const excess = await redis.run(ADD, [redis.fleetKey(`${kind}:index`)], [id, String(ttlMs), String(max)]);
      const ids = listOf(excess).filter((_, index) => index % 2 === 0);
      await Promise.all(ids.map((each) => redis.command(key(String(each)), 'UNLINK', key(String(each)))));
    },
  };
}
