import { createScript } from './redis.ts';

/**
 * Looks for a value, and takes its lock if there is none.
 *
 * Keys: the value, its lock. Arguments: the token of the lock, and after how many ms it is free again. Replies with the time of
 * Redis in ms, with 1 if the lock was taken, and with the value.
 */
export const LOOK = createScript(`
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
export const RENEW = createScript(`
if redis.pcall('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
`);

/** Frees a lock. Key: the lock. Argument: its token. */
export const RELEASE = createScript(`
if redis.pcall('GET', KEYS[1]) == ARGV[1] then redis.call('UNLINK', KEYS[1]) end
return 0
`);

/**
 * Writes a value and frees its lock, unless the lock was lost: a replica that was paused does not write what is old by now.
 *
 * Keys: the value, its lock. Arguments: the token of the lock, the value, and until when it is stored, in ms of Redis.
 */
export const STORE = createScript(`
if redis.pcall('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
redis.call('UNLINK', KEYS[2])
return 1
`);
