import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { UpstreamBusyError } from '../../src/errors.ts';
import { createBulkhead } from '../../src/turns/bulkhead.ts';
import type { Requester } from '../../src/turns/fair-queue.ts';
import { SOMEONE } from '../upstream/connect.ts';
import { failureOf } from '../upstream/failure.ts';

const BUSY = {
  code: 'UPSTREAM_BUSY',
  retryable: true,
  message: 'The market-data host is not called now, because too many requests wait for it.',
  extensions: { upstream: 'MARKET_DATA' },
};

/** A bulkhead, and calls that end when a test says so. */
function bulkheadForTest(options: { maxConcurrent?: number; maxQueued?: number; maxWaitMs?: number } = {}) {
  const bulkhead = createBulkhead({
    busy: () => new UpstreamBusyError('MARKET_DATA'),
    ...{ maxConcurrent: 2, maxQueued: 1, maxWaitMs: 10_000 },
    ...options,
  });
  const called: string[] = [];
  function call(name: string, requester: Requester = SOMEONE) {
    const answer = Promise.withResolvers<string>();
    const queued = bulkhead.queue(() => {
      called.push(name);
      return answer.promise;
    });
    return { result: queued.wait(requester), join: queued.wait, end: () => answer.resolve(name), fail: answer.reject };
  }
  return { call, called };
}

describe('the limits of a bulkhead', () => {
  test('so many calls at once, the rest in the queue, and one that does not fit into it is refused at once', async () => {
    const { call, called } = bulkheadForTest();
    const [first, second, third] = [call('first'), call('second'), call('third')];
    expect(called).toEqual(['first', 'second']);
    expect(await failureOf(call('fourth').result)).toEqual(BUSY);

    second.end();
    expect(await second.result).toBe('second');
    await expect.poll(() => called).toEqual(['first', 'second', 'third']);
    first.fail(new Error('it failed'));
    await expect(first.result).rejects.toThrow('it failed');
    third.end();
    expect(await third.result).toBe('third');
  });

  test('a call that waited for too long is refused and not made; one that has begun has no time limit here', async () => {
    const { call, called } = bulkheadForTest({ maxConcurrent: 1, maxWaitMs: 20 });
    const [first, second] = [call('first'), call('second')];
    expect(await failureOf(second.result)).toEqual(BUSY);
    first.end();
    expect(await first.result).toBe('first');
    await nextTurn();
    const third = call('third');
    third.end();
    expect(await third.result).toBe('third');
    expect(called).toEqual(['first', 'third']);
  });
});

describe('the order of the queue', () => {
  test('after a call of a client with very many requests comes that of a client with few', async () => {
    const { call, called } = bulkheadForTest({ maxConcurrent: 1, maxQueued: 100 });
    const [chart, other] = [{ client: 'chart' }, { client: 'other' }];
    const points = Array.from({ length: 64 }, (_, n) => call(`point ${n}`, chart));
    const single = call('single', other);
    for (const { end } of points) end();
    single.end();
    expect(await single.result).toBe('single');
    await Promise.all(points.map(({ result }) => result));
    expect(called.slice(0, 5)).toEqual(['point 0', 'point 1', 'single', 'point 2', 'point 3']);
    expect(called.length).toBe(65);
  });

  test('a call that two clients wait for comes when it is due for either, and is made once', async () => {
    const { call, called } = bulkheadForTest({ maxConcurrent: 1, maxQueued: 100 });
    const points = Array.from({ length: 10 }, (_, n) => call(`point ${n}`, { client: 'chart' }));
    const last = points.at(-1);
    const joined = last?.join({ client: 'other' });
    for (const { end } of points) end();
    expect(await Promise.all(points.map(({ result }) => result))).toHaveLength(10);
    expect([await joined, await last?.join({ client: 'after it has begun' })]).toEqual(['point 9', 'point 9']);
    expect(called).toHaveLength(10);
  });
});

describe('which calls are refused', () => {
  test('the newest ones of a client that fills the queue, and none of any other client', async () => {
    const { call, called } = bulkheadForTest({ maxConcurrent: 1, maxQueued: 3 });
    const greedy = { client: 'greedy' };
    const [running, ...waiting] = ['1', '2', '3', '4'].map((name) => call(name, greedy));
    const single = call('single', { client: 'other' });
    expect(await failureOf(waiting[2]?.result ?? Promise.resolve())).toEqual(BUSY);
    for (const each of [running, ...waiting, single]) each?.end();
    expect(await Promise.all([running?.result, waiting[0]?.result, waiting[1]?.result, single.result])).toEqual([
      '1',
      '2',
      '3',
      'single',
    ]);
    expect(called).toEqual(['1', '2', 'single', '3']);
  });

  test('of several waits for one call each ends when its own time is over; a later one still gets the response', async () => {
    const { call, called } = bulkheadForTest({ maxConcurrent: 1, maxWaitMs: 20 });
    const running = call('running');
    const shared = call('shared', { client: 'early' });
    const late = shared.join({ client: 'late' });
    expect(await failureOf(shared.result)).toEqual(BUSY);
    running.end();
    shared.end();
    expect(await late).toBe('shared');
    expect(called).toEqual(['running', 'shared']);
  });
});
