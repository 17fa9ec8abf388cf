import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Nodes } from '../live/chain/nodes.ts';
import { listOf, type Redis } from './redis.ts';

/** The replicas of a fleet, as this one sees them, and the chain that all of them must follow. */
export type Members = ReturnType<typeof createMembers>;

/** The name of the chain is forgotten when no replica has published a head for this time. */
const CHAIN_TTL_MS = 3_600_000;

/** How long a gateway that starts waits for Redis, and for its nodes. */
const WAIT_FOR_REDIS_MS = 1_000;
const WAIT_FOR_NODES_MS = 2_000;

/** A replica that has not reported for this time is gone. */
const GONE_AFTER_MS = 3_000;

/** From one report to the next. */
const REPORT_MS = 1_000;

/**
 * Reports that a replica lives. One that can record becomes the recorder if there is none. One that cannot gives this up.
 *
 * Keys: the replicas, the recorder. Arguments: this replica, after how many ms it is gone, and 1 if it can record. Replies with the
 * number of replicas, and with 1 if this one is the recorder.
 */
const REPORT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if type(redis.pcall('ZADD', KEYS[1], now, ARGV[1])) == 'table' then
  redis.call('UNLINK', KEYS[1])
  redis.call('ZADD', KEYS[1], now, ARGV[1])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ARGV[2], '+inf')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local recorder = redis.pcall('GET', KEYS[2])
if recorder == ARGV[1] or type(recorder) ~= 'string' then
  if ARGV[3] == '1' then redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2]) else redis.call('UNLINK', KEYS[2]) end
end
return { redis.call('ZCARD', KEYS[1]), redis.call('GET', KEYS[2]) == ARGV[1] and 1 or 0 }
`;

/** Starts to report. @param onOtherChain is called once if the fleet follows another chain */
export function createMembers(redis: Redis, onOtherChain: (name: string) => void) {
  const id = randomUUID();
  const keys: [string, string] = [redis.fleetKey('replicas'), redis.fleetKey('recorder')];
  const chainKey = redis.fleetKey('chain');
  let otherChain: string | undefined;
  let count = 1;
  let recordsUntil = Number.NEGATIVE_INFINITY;
  let isLeaving = false;
  let canRecord = () => true;

  /** Whether this gateway takes part: Redis can be used, and the fleet follows its chain, as far as both are known. */
  const takesPart = () => redis.isAvailable() && otherChain === undefined;

  async function report(): Promise<void> {
    if (isLeaving || !takesPart()) return;
    const sentAt = performance.now();
    const reply = await redis.run(REPORT, keys, [id, String(GONE_AFTER_MS), canRecord() ? '1' : '0']);
    const [replicas, isRecorder] = listOf(reply);
    count = Math.max(1, Number(replicas));
    recordsUntil = isRecorder === 1 ? sentAt + GONE_AFTER_MS : Number.NEGATIVE_INFINITY;
  }

  /** Compares the chain of the fleet with one. @throws Error if Redis cannot be used */
  async function compare(name: string): Promise<void> {
    const reply = await redis.command(chainKey, 'GET', chainKey);
    if (reply === null || String(reply) === name || otherChain !== undefined) return;
    otherChain = String(reply);
    onOtherChain(otherChain);
  }

  const reportAgain = () => void report().catch(() => {});
  const timer = setInterval(reportAgain, REPORT_MS).unref();
  redis.onChange(reportAgain);
  reportAgain();

  return {
    id,
    takesPart,
    /** Notes that this gateway follows a chain. @throws Error if the fleet follows another one, or Redis cannot be used */
    async joinChain(name: string): Promise<void> {
      await compare(name);
      if (otherChain !== undefined) throw new Error('the fleet follows another chain');
      await redis.command(chainKey, 'SET', chainKey, name, 'PX', String(CHAIN_TTL_MS));
    },
    /**
     * Compares the chain of the fleet with that of the nodes, for a few seconds at most.
     *
     * @returns the name of the other chain; `undefined` if it is the same, or if that cannot be known now
     */
    async otherChain(nodes: Pick<Nodes, 'poll'>): Promise<string | undefined> {
      if (!(await redis.ready(WAIT_FOR_REDIS_MS))) return undefined;
      const tips = await Promise.race([nodes.poll().catch(() => []), sleep(WAIT_FOR_NODES_MS, [], { ref: false })]);
      const name = tips[0]?.tip.chainName;
      if (name !== undefined) await compare(name).catch(() => {});
      return otherChain;
    },
    /** How many replicas there are, with this one. */
    count: () => (takesPart() ? count : 1),
    /** Whether this replica writes the history, and reads missing heights for it: one of the fleet does, and each that is alone. */
    isRecorder: () => !takesPart() || performance.now() < recordsUntil,
    /** Lets this replica be the recorder only while a function returns true. */
    recordIf(condition: () => boolean): void {
      canRecord = condition;
    },
    /** Leaves the fleet: another replica becomes the recorder. */
    leave(): void {
      isLeaving = true;
      // The last replica records until its end.
      if (count > 1) recordsUntil = Number.NEGATIVE_INFINITY;
      clearInterval(timer);
    },
  };
}
