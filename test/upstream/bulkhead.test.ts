import { setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createBulkhead } from '../../src/upstream/bulkhead.ts';
import type { Requester } from '../../src/upstream/fair-queue.ts';
import { SOMEONE } from './connect.ts';
import { failureOf } from './failure.ts';

const BUSY = {
  code: 'UPSTREAM_BUSY',
  retryable: true,
  message: 'The market-data host has too many queued requests.',
  extensions: { upstream: 'MARKET_DATA' },
};

/** Turns, and calls that end when a test says so. */
function turnsForTest(options: { maxConcurrent?: number; maxQueued?: number; maxWaitMs?: number } = {}) {
  const turns = createBulkhead('MARKET_DATA', { maxConcurrent: 2, maxQueued: 1, maxWaitMs: 10_000, ...options });
  const asked: string[] = [];
  function ask(name: string, requester: Requester = SOMEONE) {
    const answer = Promise.withResolvers<string>();
    const turn = turns.queue(() => {
      asked.push(name);
      return answer.promise;
    });
    return { taken: turn.wait(requester), join: turn.wait, end: () => answer.resolve(name), fail: answer.reject };
  }
  return { ask, asked };
}

describe('how much is asked of an upstream at once', () => {
  test('so much, the rest one after another as turns come, and more than may wait is refused at once', async () => {
    const { ask, asked } = turnsForTest();
    const [first, second, third] = [ask('first'), ask('second'), ask('third')];
    expect(asked).toEqual(['first', 'second']);
    expect(await failureOf(ask('fourth').taken)).toEqual(BUSY);

    second.end();
    expect(await second.taken).toBe('second');
    await expect.poll(() => asked).toEqual(['first', 'second', 'third']);
    first.fail(new Error('it failed'));
    await expect(first.taken).rejects.toThrow('it failed');
    third.end();
    expect(await third.taken).toBe('third');
  });

  test('who has waited for too long is refused, and is not asked for; whose turn has come is not hurried', async () => {
    const { ask, asked } = turnsForTest({ maxConcurrent: 1, maxWaitMs: 20 });
    const [first, second] = [ask('first'), ask('second')];
    expect(await failureOf(second.taken)).toEqual(BUSY);
    first.end();
    expect(await first.taken).toBe('first');
    await immediate();
    const third = ask('third');
    third.end();
    expect(await third.taken).toBe('third');
    expect(asked).toEqual(['first', 'third']);
  });
});

describe('whose turn is it', () => {
  test('after a call of someone who asks for very much, that of someone who asks for little', async () => {
    const { ask, asked } = turnsForTest({ maxConcurrent: 1, maxQueued: 100 });
    const [chart, other] = [{ client: 'chart' }, { client: 'other' }];
    const points = Array.from({ length: 64 }, (_, n) => ask(`point ${n}`, chart));
    const single = ask('single', other);
    for (const { end } of points) end();
    single.end();
    expect(await single.taken).toBe('single');
    await Promise.all(points.map(({ taken }) => taken));
    expect(asked.slice(0, 5)).toEqual(['point 0', 'point 1', 'single', 'point 2', 'point 3']);
    expect(asked.length).toBe(65);
  });

  test('what someone else waits for too comes when it is due for any of them, and is asked for once', async () => {
    const { ask, asked } = turnsForTest({ maxConcurrent: 1, maxQueued: 100 });
    const points = Array.from({ length: 10 }, (_, n) => ask(`point ${n}`, { client: 'chart' }));
    const last = points.at(-1);
    const joined = last?.join({ client: 'other' });
    for (const { end } of points) end();
    expect(await Promise.all(points.map(({ taken }) => taken))).toHaveLength(10);
    expect([await joined, await last?.join({ client: 'too late to wait' })]).toEqual(['point 9', 'point 9']);
    expect(asked).toHaveLength(10);
  });
});

describe('who is refused', () => {
  test('while one fills the queue, nobody else: its newest calls go', async () => {
    const { ask, asked } = turnsForTest({ maxConcurrent: 1, maxQueued: 3 });
    const greedy = { client: 'greedy' };
    const [running, ...waiting] = ['1', '2', '3', '4'].map((name) => ask(name, greedy));
    const single = ask('single', { client: 'other' });
    expect(await failureOf(waiting[2]?.taken ?? Promise.resolve())).toEqual(BUSY);
    for (const each of [running, ...waiting, single]) each?.end();
    expect(await Promise.all([running?.taken, waiting[0]?.taken, waiting[1]?.taken, single.taken])).toEqual([
      '1',
      '2',
      '3',
      'single',
    ]);
    expect(asked).toEqual(['1', '2', 'single', '3']);
  });

  test('of several who wait for one call, each when its own time is over; who came later still gets the answer', async () => {
    const { ask, asked } = turnsForTest({ maxConcurrent: 1, maxWaitMs: 20 });
    const running = ask('running');
    const shared = ask('shared', { client: 'early' });
    const late = shared.join({ client: 'late' });
    expect(await failureOf(shared.taken)).toEqual(BUSY);
    running.end();
    shared.end();
    expect(await late).toBe('shared');
    expect(asked).toEqual(['running', 'shared']);
  });
});
