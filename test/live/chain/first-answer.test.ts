import { describe, expect, test } from 'vitest';
import { type Ask, type FirstAnswerOptions, firstAnswer } from '../../../src/live/chain/first-answer.ts';

const tooLate = () => new Error('too late');
const patient = { shareMs: 10_000, timeoutMs: 20_000, tooLate };

/** Some who are asked: each answers, fails, or never says anything; who was asked, and who was told that it is over. */
function several(...answers: (string | Error | undefined)[]) {
  const asked: number[] = [];
  const released: number[] = [];
  const asks = answers.map(
    (answer, index): Ask<string> =>
      (signal) => {
        asked.push(index);
        signal.addEventListener('abort', () => released.push(index));
        if (answer === undefined) {
          return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        }
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
  );
  return { asks, asked, released };
}

/** Asks these, in order. */
function first<T>(asks: readonly Ask<T>[], options: FirstAnswerOptions): Promise<T> {
  const left = [...asks];
  return firstAnswer(async () => left.shift(), options);
}

describe('who is asked', () => {
  test('the first alone, where it answers', async () => {
    const { asks, asked } = several('a', 'b');
    expect(await first(asks, patient)).toBe('a');
    expect(asked).toEqual([0]);
  });

  test('the next at once after a failure', async () => {
    const { asks, asked } = several(new Error('one'), new Error('two'), 'c', 'd');
    expect(await first(asks, patient)).toBe('c');
    expect(asked).toEqual([0, 1, 2]);
  });

  test('the next as well after the share of one that hangs, which is then told that it is over', async () => {
    const { asks, asked, released } = several(undefined, 'b');
    expect(await first(asks, { ...patient, shareMs: 5 })).toBe('b');
    expect([asked, released]).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });

  test('one that is only slow is not given up for the next', async () => {
    const slow = Promise.withResolvers<string>();
    const askNext: Ask<string> = () => {
      slow.resolve('slow');
      return new Promise(() => {});
    };
    const answer = first([() => slow.promise, askNext], { ...patient, shareMs: 5 });
    expect(await answer).toBe('slow');
  });
});

describe('who comes later', () => {
  test('is asked when a share of the time is over, also where there was nobody else before', async () => {
    const later = several('later');
    const { asks } = several(undefined);
    const all = [...asks, undefined, undefined, ...later.asks];
    expect(await firstAnswer(async () => all.shift(), { ...patient, shareMs: 2 })).toBe('later');
  });

  test('is not waited for where all have failed', async () => {
    const { asks } = several(new Error('one'));
    const all = [...asks, undefined, ...several('later').asks];
    await expect(firstAnswer(async () => all.shift(), patient)).rejects.toThrow(AggregateError);
  });
});

describe('what if nobody answers', () => {
  test('all failures are told, in order', async () => {
    const { asks } = several(new Error('one'), new Error('two'));
    const error = await first(asks, patient).catch((reason: AggregateError) => reason.errors);
    expect(error).toEqual([new Error('one'), new Error('two')]);
  });

  test('those who have not answered in time are told that it is too late', async () => {
    const { asks, asked } = several(undefined, new Error('two'), undefined);
    const error = await first(asks, { shareMs: 5, timeoutMs: 30, tooLate }).catch(
      (reason: AggregateError) => reason.errors,
    );
    expect(error).toEqual([new Error('too late'), new Error('two'), new Error('too late')]);
    expect(asked).toEqual([0, 1, 2]);
  });
});
