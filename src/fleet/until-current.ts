import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease } from './lease.ts';
import type { Redis } from './redis.ts';
import { hasEntryAfter } from './streams.ts';

type UntilCurrentOptions = {
  readonly redis: Redis;
  readonly lease: Pick<Lease, 'holder' | 'held'>;
  readonly isLeader: () => boolean;
  /** The id of the last head that was received from the streams; `undefined` while they are not read. */
  readonly receivedHead: () => string | undefined;
  /** Whether there is nothing to wait for: of another chain, or while Redis is gone. */
  readonly isApart: () => boolean;
  /** Called when this gateway is no longer the leader and does not know it. */
  readonly onLost: () => void;
};

/** The longest wait, and how often it is checked whether it is over. */
const MAX_WAIT_MS = 2_000;
const CHECK_AGAIN_MS = 10;

/**
 * Creates the function that resolves when this gateway has received all heads that were published before the call: it may have
 * just started, or was paused. It waits two seconds at most. All who call it meanwhile share the commands to Redis.
 */
export function createUntilCurrent(options: UntilCurrentOptions): () => Promise<void> {
  const { redis, lease, isLeader, receivedHead, isApart, onLost } = options;

  /** Whether nothing was published that this gateway does not have. @throws RedisUnavailableError */
  async function isCurrent(): Promise<boolean> {
    if (!redis.isAvailable()) return false;
    if (isLeader()) {
      const isHeld = (await lease.holder()) === lease.held();
      if (!isHeld) onLost();
      return isHeld && isLeader();
    }
    const received = receivedHead();
    return received !== undefined && !(await hasEntryAfter(redis, 'heads', received));
  }

  return createRunTogether(async () => {
    const until = performance.now() + MAX_WAIT_MS;
    while (!isApart() && performance.now() < until && !(await isCurrent().catch(() => false)))
      await sleep(CHECK_AGAIN_MS);
  });
}

/** Runs something once for all who wait for it. Each waits for a run that began after its call. */
function createRunTogether(run: () => Promise<void>): () => Promise<void> {
  let current = Promise.resolve();
  let next: Promise<void> | undefined;

  return () => {
    next ??= current.then(() => {
      next = undefined;
      current = run();
      return current;
    });
    return next;
  };
}
