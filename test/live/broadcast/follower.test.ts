import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { UpstreamTimeoutError } from '../../../src/errors.ts';
import { createFollower, type FollowerOptions, type Watcher } from '../../../src/live/broadcast/follower.ts';
import { toAsyncValues } from '../../support/async-values.ts';

/** A watcher that records its notifications. */
function recordingWatcher(): Watcher & { readonly notified: string[] } {
  const notified: string[] = [];
  return {
    notified,
    failed: (error) => notified.push(error instanceof Error ? error.message : String(error)),
    recovered: () => notified.push('recovered'),
  };
}

/** Follows what `read` returns, with a millisecond between two reads. */
function follow<T>(read: FollowerOptions<T>['read'], options: Partial<FollowerOptions<T>> = {}) {
  const watcher = recordingWatcher();
  const follower = createFollower<T>({
    read,
    intervalMs: () => 1,
    upstream: 'NODE',
    timeoutMs: 10_000,
    watcher,
    ...options,
  });
  onTestFinished(follower.stop);
  return { follower, notified: watcher.notified };
}

/** Returns these values in turn and throws the errors; after that a read never ends. */
function script<T>(...answers: (T | Error)[]): () => Promise<T> {
  return async () => {
    const answer = answers.shift();
    if (answer === undefined) return new Promise<T>(() => {});
    if (answer instanceof Error) throw answer;
    return answer;
  };
}

/** Reads that end when a test says so; `end` returns when the next one has begun. */
function stepped<T>() {
  let begun = Promise.withResolvers<PromiseWithResolvers<T>>();
  return {
    read(): Promise<T> {
      const reading = Promise.withResolvers<T>();
      begun.resolve(reading);
      return reading.promise;
    },
    async end(answer: T | Error): Promise<void> {
      const reading = await begun.promise;
      begun = Promise.withResolvers();
      if (answer instanceof Error) reading.reject(answer);
      else reading.resolve(answer);
      await begun.promise;
    },
  };
}

describe('what a follower returns', () => {
  test('the first value to all who wait for it, and later the last good one', async () => {
    const { follower } = follow(script('a', 'b'));
    expect(follower.current()).toBeUndefined();
    expect(await Promise.all([follower.get(), follower.get()])).toEqual(['a', 'a']);
    await expect.poll(() => follower.current()).toBe('b');
    expect(await follower.get()).toBe('b');
  });

  test('the error of the first read to all who wait for it; the next read may succeed', async () => {
    const { follower, notified } = follow(script<string>(new Error('broken'), 'a'));
    await expect(follower.get()).rejects.toThrow('broken');
    await expect.poll(() => follower.current()).toBe('a');
    expect(notified).toEqual(['broken', 'recovered']);
  });

  test('the timeout error to a caller that waits too long', async () => {
    const { follower } = follow(script<string>(), { timeoutMs: 1 });
    await expect(follower.get()).rejects.toThrow('The node did not respond within 1 ms.');
  });

  test('the timeout error to a caller that waits when it is stopped, which is no defect', async () => {
    const reading = Promise.withResolvers<string>();
    const { follower } = follow(() => reading.promise);
    const waiting = follower.get();
    follower.stop();
    reading.resolve('too late for anyone');
    await expect(waiting).rejects.toThrow(UpstreamTimeoutError);
  });
});

describe('what a follower publishes', () => {
  test('each new value, but not the same one again', async () => {
    const { follower } = follow(script('a', 'a', 'a', 'b'));
    const values = toAsyncValues(follower.subscribe);
    expect(await values.next()).toEqual({ done: false, value: 'a' });
    expect(await values.next()).toEqual({ done: false, value: 'b' });
    expect(follower.subscribers()).toBe(1);
  });

  test('a read gets the previous value', async () => {
    const previous: unknown[] = [];
    const { follower } = follow<number>(async (before) => {
      previous.push(before);
      if (before === 3) return new Promise<number>(() => {});
      return (before ?? 0) + 1;
    });
    await expect.poll(() => follower.current()).toBe(3);
    await expect.poll(() => previous).toEqual([undefined, 1, 2, 3]);
  });

  test('reads never overlap', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let current = 0;
    let most = 0;
    const { follower } = follow<number>(async (before = 0) => {
      most = Math.max(most, ++current);
      await new Promise((resolve) => setTimeout(resolve, 3));
      current--;
      return before + 1;
    });
    await vi.advanceTimersByTimeAsync(40);
    expect(follower.current()).toBeGreaterThan(5);
    expect(most).toBe(1);
  });

  test('a read that is requested takes the place of the next one', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let reads = 0;
    const { follower } = follow(async () => ++reads, { intervalMs: () => 100 });
    await vi.advanceTimersByTimeAsync(50);
    expect([follower.readNow(), reads]).toEqual([true, 2]);
    await vi.advanceTimersByTimeAsync(99);
    expect(reads).toBe(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(reads).toBe(3);
  });

  test('nothing after it was stopped, not even a read in progress', async () => {
    const begun = Promise.withResolvers<void>();
    const reading = Promise.withResolvers<string>();
    const { follower, notified } = follow(() => {
      begun.resolve();
      return reading.promise;
    });
    await begun.promise;
    follower.stop();
    reading.resolve('a');
    await new Promise(setImmediate);
    expect([follower.current(), notified]).toEqual([undefined, []]);
  });
});

test('a value is published although a part of the gateway throws when it is notified first; that is logged', async () => {
  const { follower, notified } = follow(script('a', 'a', 'b'), {
    beforePublish(value) {
      if (value === 'a') throw new Error('a fault');
    },
  });
  const values = toAsyncValues(follower.subscribe);
  expect(await values.next()).toMatchObject({ value: 'a' });
  expect(await values.next()).toMatchObject({ value: 'b' });
  expect(notified).toEqual(['a fault', 'recovered']);
});

describe('while reads fail', () => {
  test('the last good value stays, and the watcher is notified once of each kind of error and once of the recovery', async () => {
    const { read, end } = stepped<string>();
    const { follower, notified } = follow(read);
    await end('a');
    expect(follower.isFailing()).toBe(false);

    for (const message of ['broken', 'broken', 'broken otherwise', 'broken']) {
      await end(new Error(message));
      expect([follower.isFailing(), await follower.get()]).toEqual([true, 'a']);
    }
    expect(notified).toEqual(['broken', 'broken otherwise', 'broken']);

    await end('b');
    expect([follower.isFailing(), await follower.get()]).toEqual([false, 'b']);
    await end('b');
    await end(new Error('broken'));
    expect(notified).toEqual(['broken', 'broken otherwise', 'broken', 'recovered', 'broken']);
  });
});

describe('the error of reads that fail', () => {
  const reasonOf = (value: Promise<unknown>) => value.catch((error: unknown) => error);

  test('is the same object for all callers while it repeats, so that work on it is done once', async () => {
    const { read, end } = stepped<string>();
    const { follower } = follow(read);
    const first = reasonOf(follower.get());
    await end(new Error('unreachable'));
    const second = reasonOf(follower.get());
    await end(new Error('unreachable'));
    expect(await first).toEqual(new Error('unreachable'));
    expect(await second).toBe(await first);

    const third = reasonOf(follower.get());
    await end(new Error('another'));
    expect(await third).toEqual(new Error('another'));
  });

  test('is the same object for all who wait too long for one read', async () => {
    const { follower } = follow(script<string>(), { timeoutMs: 5 });
    const [first, second] = await Promise.all([reasonOf(follower.get()), reasonOf(follower.get())]);
    expect([first, second === first]).toEqual([new UpstreamTimeoutError('NODE', 5, {}), true]);
  });
});
