import { expect, onTestFinished, test, vi } from 'vitest';
import { holding, LOCK_MS } from '../../src/fleet/lock.ts';
import type { Redis } from '../../src/fleet/redis.ts';

/** A lock that is held for work, and after how many ms it is free, as it is sent to Redis. */
function heldLock() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const sent: unknown[] = [];
  const run: Redis['run'] = async (_script, _keys, [_token, ms]) => {
    sent.push(ms);
    return 0;
  };
  const work = Promise.withResolvers<string>();
  const held = holding({ run }, { key: 'lock', token: 'this replica' }, () => work.promise);
  return { sent, work, held };
}

test('a lock is renewed twice before it would be free, until the work is done', async () => {
  const { sent, work, held } = heldLock();
  vi.advanceTimersByTime(LOCK_MS - 1);
  expect(sent.length).toBeGreaterThanOrEqual(2);
  expect(new Set(sent)).toEqual(new Set([String(LOCK_MS)]));
  work.resolve('done');
  expect(await held).toBe('done');
  expect(vi.getTimerCount()).toBe(0);
});

test('a lock is free as soon as the work has failed, and not renewed afterwards', async () => {
  const { sent, work, held } = heldLock();
  work.reject(new Error('no node'));
  await expect(held).rejects.toThrow('no node');
  expect(sent).toEqual(['0']);
  expect(vi.getTimerCount()).toBe(0);
});
