import { setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createTurns } from '../../src/upstream/turns.ts';
import { failureOf } from './failure.ts';

/** Turns, and calls that end when a test says so. */
function turnsForTest(options: { atOnce?: number; waiting?: number; timeoutMs?: number } = {}) {
  const turns = createTurns('MARKET_DATA', { atOnce: 2, waiting: 1, timeoutMs: 10_000, ...options });
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

  test('waiting for a turn is part of the time that an answer may take, and who has given up is not asked for', async () => {
    const { ask, asked } = turnsForTest({ atOnce: 1, timeoutMs: 20 });
    const [first, second] = [ask('first'), ask('second')];
    const late = { code: 'UPSTREAM_TIMEOUT', message: 'The market-data host did not answer within 20 ms.' };
    expect(await failureOf(first.taken)).toMatchObject(late);
    expect(await failureOf(second.taken)).toMatchObject(late);
    first.answer.resolve('too late');
    await immediate();
    const third = ask('third');
    third.answer.resolve('3');
    expect(await third.taken).toBe('3');
    expect(asked).toEqual(['first', 'third']);
  });
});
