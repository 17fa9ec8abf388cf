/** The text of a key; empty if it has none. */
const TEXT_OF = `
local function textOf(key)
  local value = redis.pcall('GET', key)
  return type(value) == 'string' and value or ''
end
`;

/**
 * Looks for a newer value, and takes the slot in which one replica reads the upstream, if the newest is known.
 *
 * Keys: the slot, the version, when any replica polled last, and what was pushed.
 *
 * Arguments: this replica, the version that it knows, whether it wants to read ('1'), whether something was pushed ('1'), after how many
 * ms the slot is free, for how long what was pushed is left to this replica, and for how many ms a slot can be occupied: it is longer if
 * the clock of Redis was set back since.
 *
 * Replies with the time of Redis in ms, 1 if the slot was taken, the version, and when any replica polled.
 */
export const LOOK = `${TEXT_OF}
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local version, isTaken = textOf(KEYS[2]), 0
if version == ARGV[2] and ARGV[3] == '1' then
  if ARGV[4] == '1' then
    redis.call('SET', KEYS[4], ARGV[1], 'NX', 'PX', ARGV[6])
    if textOf(KEYS[4]) == ARGV[1] and textOf(KEYS[1]) == 'idle' then redis.call('UNLINK', KEYS[1]) end
  end
  if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[5]) then isTaken = 1 end
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 or left > tonumber(ARGV[7]) then redis.call('PEXPIRE', KEYS[1], ARGV[5]) end
end
return { now, isTaken, version, textOf(KEYS[3]) }
`;

/**
 * Ends a read: publishes values, unless another replica has published since. For a while, nobody reads then.
 *
 * Keys: the slot, the version, when any replica polled last, the values.
 *
 * Arguments: this replica, the version that it knows, the next version, for how many ms nobody reads, how many values stay, after how
 * many ms all is forgotten, the channel, the message, the time of the poll, then the rank and the bytes of each value.
 *
 * Replies with 1, or with 0 if another replica has published.
 *
 * If only one value stays, it is the last one that was published: its rank can be lower than that of the value before it, because the
 * clock of Redis can go back.
 */
export const PUBLISH = `${TEXT_OF}
local slot = textOf(KEYS[1])
if textOf(KEYS[2]) ~= ARGV[2] then
  if slot == ARGV[1] then redis.call('UNLINK', KEYS[1]) end
  return 0
end
if #ARGV > 9 then
  if ARGV[5] == '1' or type(redis.pcall('ZCARD', KEYS[4])) == 'table' then redis.call('UNLINK', KEYS[4]) end
  for i = 10, #ARGV, 2 do
    redis.call('ZREMRANGEBYSCORE', KEYS[4], ARGV[i], ARGV[i])
    redis.call('ZADD', KEYS[4], ARGV[i], ARGV[i + 1])
  end
  redis.call('ZREMRANGEBYRANK', KEYS[4], 0, -(ARGV[5] + 1))
  redis.call('SET', KEYS[2], ARGV[3])
end
redis.call('PEXPIRE', KEYS[4], ARGV[6])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
redis.call('SET', KEYS[3], ARGV[9], 'PX', ARGV[6])
if slot == ARGV[1] or slot == '' then redis.call('SET', KEYS[1], 'idle', 'PX', ARGV[4]) end
if #ARGV > 9 then redis.call('PUBLISH', ARGV[7], ARGV[8]) end
return 1
`;
