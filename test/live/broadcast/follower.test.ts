import { describe, expect, onTestFinished, test } from 'vitest';
import { toAsyncValues } from '../../../src/live/broadcast/async-values.ts';
import { createFollower, type FollowerOptions, type Watcher } from '../../../src/live/broadcast/follower.ts';

/** A watcher that writes down what it is told. */
function recordingWatcher(): Watcher & { readonly told: string[] } {
  const told: string[] = [];
  return {
    told,
    failed: (error) => told.push(error instanceof Error ? error.message : String(error)),
    recovered: () => told.push('recovered'),
  };
}

/** Follows what `read` gives, each time a millisecond after the last. */
function follow<T>(read: FollowerOptions<T>['read'], options: Partial<FollowerOptions<T>> = {}) {
  const watcher = recordingWatcher();
  const tooLate = () => new Error('too late');
  const follower = createFollower<T>({
    read,
    intervalMs: 1,
    maxWaitMs: 10_000,
    timeoutError: tooLate,
    watcher,
    ...options,
  });
  onTestFinished(follower.stop);
  return { follower, told: watcher.told };
}

/** Gives each of these in turn, throwing errors; then it is asked in vain. */
function script<T>(...answers: (T | Error)[]): () => Promise<T> {
  return async () => {
    const answer = answers.shift();
    if (answer === undefined) return new Promise<T>(() => {});
    if (answer instanceof Error) throw answer;
    return answer;
  };
}

/** Readings that end when a test says so; `give` returns when the next one has begun. */
function stepped<T>() {
  let begun = Promise.withResolvers<PromiseWithResolvers<T>>();
  return {
    read(): Promise<T> {
      const reading = Promise.withResolvers<T>();
      begun.resolve(reading);
      return reading.promise;
    },
    async give(answer: T | Error): Promise<void> {
      const reading = await begun.promise;
      begun = Promise.withResolvers();
      if (answer instanceof Error) reading.reject(answer);
      else reading.resolve(answer);
      await begun.promise;
    },
  };
}

describe('what does a follower give', () => {
  test('the first value to whoever waits for it, and later the last good one', async () => {
    const { follower } = follow(script('a', 'b'));
    expect(follower.current()).toBeUndefined();
    expect(await Promise.all([follower.get(), follower.get()])).toEqual(['a', 'a']);
    await expect.poll(() => follower.current()).toBe('b');
    expect(await follower.get()).toBe('b');
  });

  test('the failure of the first reading to whoever waits for it; the next may succeed', async () => {
    const { follower, told } = follow(script<string>(new Error('broken'), 'a'));
    await expect(follower.get()).rejects.toThrow('broken');
    await expect.poll(() => follower.current()).toBe('a');
    expect(told).toEqual(['broken', 'recovered']);
  });

  test('what it was told to say, to whoever waits too long', async () => {
    const { follower } = follow(script<string>(), { maxWaitMs: 1 });
    await expect(follower.get()).rejects.toThrow('too late');
  });

  test('an error to whoever waits when it is stopped', async () => {
    const reading = Promise.withResolvers<string>();
    const { follower } = follow(() => reading.promise);
    const waiting = follower.get();
    follower.stop();
    reading.resolve('too late for anyone');
    await expect(waiting).rejects.toBeInstanceOf(Error);
  });
});

describe('what is published', () => {
  test('each new value, but not the same one again', async () => {
    const { follower } = follow(script('a', 'a', 'a', 'b'));
    const heard = toAsyncValues(follower.subscribe);
    expect(await heard.next()).toEqual({ done: false, value: 'a' });
    expect(await heard.next()).toEqual({ done: false, value: 'b' });
    expect(follower.subscribers()).toBe(1);
  });

  test('the previous value is given to the reading', async () => {
    const previous: unknown[] = [];
    const { follower } = follow<number>(async (before) => {
      previous.push(before);
      if (before === 3) return new Promise<number>(() => {});
      return (before ?? 0) + 1;
    });
    await expect.poll(() => follower.current()).toBe(3);
    await expect.poll(() => previous).toEqual([undefined, 1, 2, 3]);
  });

  test('readings never overlap', async () => {
    let underWay = 0;
    let most = 0;
    let readings = 0;
    const { follower } = follow(async () => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, 3));
      underWay--;
      return ++readings;
    });
    await expect.poll(() => follower.current()).toBeGreaterThan(5);
    expect(most).toBe(1);
  });

  test('nothing after it was stopped, not even a reading that was under way', async () => {
    const reading = Promise.withResolvers<string>();
    const { follower, told } = follow(() => reading.promise);
    follower.stop();
    reading.resolve('a');
    await reading.promise;
    await Promise.resolve();
    expect([follower.current(), told]).toEqual([undefined, []]);
  });
});

describe('what happens while reading fails', () => {
  test('the last good value stays, and it is told once how it broke and once that it healed', async () => {
    const { read, give } = stepped<string>();
    const { follower, told } = follow(read);
    await give('a');
    expect(follower.isFailing()).toBe(false);

    for (const message of ['broken', 'broken', 'broken otherwise', 'broken']) {
      await give(new Error(message));
      expect([follower.isFailing(), await follower.get()]).toEqual([true, 'a']);
    }
    expect(told).toEqual(['broken', 'broken otherwise', 'broken']);

    await give('b');
    expect([follower.isFailing(), await follower.get()]).toEqual([false, 'b']);
    await give('b');
    await give(new Error('broken'));
    expect(told).toEqual(['broken', 'broken otherwise', 'broken', 'recovered', 'broken']);
  });
});

describe('the error of readings that fail', () => {
  const reasonOf = (value: Promise<unknown>) => value.catch((error: unknown) => error);

  test('is the same object for everyone while it repeats, so that what is made of it is made once', async () => {
    const { read, give } = stepped<string>();
    const { follower } = follow(read);
    const first = reasonOf(follower.get());
    await give(new Error('unreachable'));
    const second = reasonOf(follower.get());
    await give(new Error('unreachable'));
    expect(await first).toEqual(new Error('unreachable'));
    expect(await second).toBe(await first);

    const third = reasonOf(follower.get());
    await give(new Error('another'));
    expect(await third).toEqual(new Error('another'));
  });

  test('is the same object for all who wait too long for one reading', async () => {
    const { follower } = follow(script<string>(), { maxWaitMs: 5 });
    const [first, second] = await Promise.all([reasonOf(follower.get()), reasonOf(follower.get())]);
    expect([first, second === first]).toEqual([new Error('too late'), true]);
  });
});
