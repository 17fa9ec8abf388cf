import { describe, expect, test } from 'vitest';
import { UpstreamTimeoutError } from '../../../src/errors.ts';
import { type Attempt, hedge } from '../../../src/live/chain/hedge.ts';

const PATIENT = { delayMs: 10_000, timeoutMs: 20_000 };

/** Attempts that succeed, fail, or hang: which were made, and which were aborted. */
function several(...answers: (string | Error | undefined)[]) {
  const made: number[] = [];
  const aborted: number[] = [];
  const attempts = answers.map(
    (answer, index): Attempt<string> =>
      (signal) => {
        made.push(index);
        signal.addEventListener('abort', () => aborted.push(index));
        if (answer === undefined) return untilAborted(signal);
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
  );
  return { attempts, made, aborted };
}

/** Fails when the signal is aborted, also if it is already: on a busy machine, an attempt can begin after the timeout. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = () => reject(signal.reason);
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail);
  });
}

/** Makes these attempts, in order. */
function first<T>(attempts: readonly Attempt<T>[], options: Parameters<typeof hedge>[1]): Promise<T> {
  const left = [...attempts];
  return hedge(async () => left.shift(), options);
}

describe('which attempts are made', () => {
  test('the first alone, if it succeeds', async () => {
    const { attempts, made } = several('a', 'b');
    expect(await first(attempts, PATIENT)).toBe('a');
    expect(made).toEqual([0]);
  });

  test('the next at once after a failure', async () => {
    const { attempts, made } = several(new Error('one'), new Error('two'), 'c', 'd');
    expect(await first(attempts, PATIENT)).toBe('c');
    expect(made).toEqual([0, 1, 2]);
  });

  test('the next too after the delay if one hangs, which is then aborted', async () => {
    const { attempts, made, aborted } = several(undefined, 'b');
    expect(await first(attempts, { ...PATIENT, delayMs: 5 })).toBe('b');
    expect([made, aborted]).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });

  test('one that is only slow is not aborted for the next', async () => {
    const slow = Promise.withResolvers<string>();
    const attemptNext: Attempt<string> = () => {
      slow.resolve('slow');
      return new Promise(() => {});
    };
    const answer = first([() => slow.promise, attemptNext], { ...PATIENT, delayMs: 5 });
    expect(await answer).toBe('slow');
  });
});

test('an attempt that succeeds while the next one is looked for is not delayed', async () => {
  const slow = Promise.withResolvers<string>();
  const attempts = [() => slow.promise];
  async function next(): Promise<Attempt<string> | undefined> {
    const attempt = attempts.shift();
    if (attempt !== undefined) return attempt;
    slow.resolve('slow');
    return new Promise(() => {});
  }
  expect(await hedge(next, { ...PATIENT, delayMs: 5 })).toBe('slow');
});

describe('an attempt that is possible later', () => {
  test('is made after a delay, also if there was none before', async () => {
    const later = several('later');
    const { attempts } = several(undefined);
    const all = [...attempts, undefined, undefined, ...later.attempts];
    expect(await hedge(async () => all.shift(), { ...PATIENT, delayMs: 2 })).toBe('later');
  });

  test('is not waited for if all have failed', async () => {
    const { attempts } = several(new Error('one'));
    const all = [...attempts, undefined, ...several('later').attempts];
    await expect(hedge(async () => all.shift(), PATIENT)).rejects.toThrow(AggregateError);
  });
});

describe('if no attempt succeeds', () => {
  test('all errors are thrown, in order', async () => {
    const { attempts } = several(new Error('one'), new Error('two'));
    const error = await first(attempts, PATIENT).catch((reason: AggregateError) => reason.errors);
    expect(error).toEqual([new Error('one'), new Error('two')]);
  });

  test('those that have not ended in time are aborted with the timeout', async () => {
    const { attempts, made } = several(undefined, new Error('two'), undefined);
    const late = new UpstreamTimeoutError('NODE', 30, {});
    const error = await first(attempts, { delayMs: 5, timeoutMs: 30 }).catch((reason: AggregateError) => reason.errors);
    expect(error).toEqual([late, new Error('two'), late]);
    expect(made).toEqual([0, 1, 2]);
  });
});
