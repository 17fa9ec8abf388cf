import { randomUUID } from 'node:crypto';
import { listOf, type Redis } from './redis.ts';

/** The replicas of a fleet, as this one sees them. */
export type Members = {
  /** How many replicas there are, with this one. */
  count(): number;
  /** Whether this replica writes the history, and reads missing heights for it: one of the fleet does, and each that is alone. */
  isRecorder(): boolean;
  /** Leaves the fleet: another replica becomes the recorder. */
  leave(): void;
};

/** A replica that has not reported for this time is gone. */
const TTL_MS = 3_000;

/** From one report to the next. */
const REPORT_MS = 1_000;

/**
 * Reports that a replica lives, and makes it the recorder if there is none.
 *
 * Keys: the replicas, the recorder. Arguments: this replica, and after how many ms it is gone. Replies with the number of
 * replicas, and with 1 if this one is the recorder.
 */
const REPORT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if type(redis.pcall('ZADD', KEYS[1], now, ARGV[1])) == 'table' then
  redis.call('DEL', KEYS[1])
  redis.call('ZADD', KEYS[1], now, ARGV[1])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ARGV[2], '+inf')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local recorder = redis.pcall('GET', KEYS[2])
if recorder == ARGV[1] or type(recorder) ~= 'string' then redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2]) end
return { redis.call('ZCARD', KEYS[1]), redis.call('GET', KEYS[2]) == ARGV[1] and 1 or 0 }
`;

/** Starts to report. @param isMember whether this gateway takes part */
export function createMembers(redis: Redis, isMember: () => boolean): Members {
  const replica = randomUUID();
  const keys: [string, string] = [redis.fleetKey('replicas'), redis.fleetKey('recorder')];
  let count = 1;
  let recordsUntil = Number.NEGATIVE_INFINITY;
  let isLeaving = false;

  async function report(): Promise<void> {
    if (isLeaving || !redis.isAvailable() || !isMember()) return;
    const sentAt = performance.now();
    const [replicas, isRecorder] = listOf(await redis.run(REPORT, keys, [replica, String(TTL_MS)]));
    count = Math.max(1, Number(replicas));
    if (isRecorder === 1) recordsUntil = sentAt + TTL_MS;
  }

  const reportAgain = () => void report().catch(() => {});
  const timer = setInterval(reportAgain, REPORT_MS).unref();
  redis.onChange(reportAgain);
  reportAgain();

  return {
    count: () => (redis.isAvailable() && isMember() ? count : 1),
    isRecorder: () => !redis.isAvailable() || !isMember() || performance.now() < recordsUntil,
    leave() {
      isLeaving = true;
      // The last replica records until its end.
      if (count > 1) recordsUntil = Number.NEGATIVE_INFINITY;
      clearInterval(timer);
    },
  };
}
