import { setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createTurns } from '../../src/upstream/turns.ts';
import { failureOf } from './failure.ts';

/** Turns, and calls that end when a test says so. */
function turnsForTest(options: { atOnce?: number; waiting?: number; waitMs?: number } = {}) {
  const turns = createTurns('MARKET_DATA', { atOnce: 2, waiting: 1, waitMs: 10_000, ...options });
  const asked: string[] = [];
  function ask(name: string) {
    const answer = Promise.withResolvers<string>();
    const taken = turns.take(() => {
      asked.push(name);
      return answer.promise;
    });
    return { taken, answer };
  }
  return { ask, asked };
}

describe('how much is asked of an upstream at once', () => {
  test('so much, the rest one after another as turns come, and more than may wait is refused at once', async () => {
    const { ask, asked } = turnsForTest();
    const [first, second, third] = [ask('first'), ask('second'), ask('third')];
    expect(asked).toEqual(['first', 'second']);
    expect(await failureOf(ask('fourth').taken)).toEqual({
      code: 'UPSTREAM_BUSY',
      retryable: true,
      message: 'The market-data host is asked for too much at once.',
      extensions: { upstream: 'MARKET_DATA' },
    });

    second.answer.resolve('2');
    expect(await second.taken).toBe('2');
    await expect.poll(() => asked).toEqual(['first', 'second', 'third']);
    first.answer.reject(new Error('it failed'));
    await expect(first.taken).rejects.toThrow('it failed');
    third.answer.resolve('3');
    expect(await third.taken).toBe('3');
  });

  test('who has waited for too long is refused, and is not asked for; whose turn has come is not hurried', async () => {
    const { ask, asked } = turnsForTest({ atOnce: 1, waitMs: 20 });
    const [first, second] = [ask('first'), ask('second')];
    expect(await failureOf(second.taken)).toMatchObject({ code: 'UPSTREAM_BUSY' });
    first.answer.resolve('1');
    expect(await first.taken).toBe('1');
    await immediate();
    const third = ask('third');
    third.answer.resolve('3');
    expect(await third.taken).toBe('3');
    expect(asked).toEqual(['first', 'third']);
  });
});
