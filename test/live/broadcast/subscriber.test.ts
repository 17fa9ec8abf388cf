import { describe, expect, test } from 'vitest';
import { toAsyncValues } from '../../../src/live/broadcast/async-values.ts';
import type { Subscriber } from '../../../src/live/broadcast/broadcast.ts';
import { createBroadcast } from '../../../src/live/broadcast/broadcast.ts';

/** A subscriber that records the values that it receives. */
function createRecorder() {
  const received: number[] = [];
  const subscriber: Subscriber<number> = {
    onNext: (value) => received.push(value),
    onError(error) {
      throw error;
    },
  };
  return { received, subscriber };
}

describe('a subscriber', () => {
  test('receives nothing before it requests, then the newest value at once, and nothing more before it requests again', () => {
    const latest = createBroadcast<number>();
    const { received, subscriber } = createRecorder();
    const subscription = latest.subscribe(subscriber);
    latest.publish(1);
    latest.publish(2);
    expect(received).toEqual([]);
    subscription.request();
    expect(received).toEqual([2]);
    latest.publish(3);
    expect(received).toEqual([2]);
    subscription.request();
    subscription.request();
    expect(received).toEqual([2, 3]);
    latest.publish(4);
    expect(received).toEqual([2, 3, 4]);
  });

  test('is counted once for each value that it skips', () => {
    const latest = createBroadcast<number>();
    const { subscriber } = createRecorder();
    const subscription = latest.subscribe(subscriber);
    for (const value of [1, 2, 3]) latest.publish(value);
    expect(latest.skippedValues()).toBe(2);
    subscription.request();
    latest.publish(4);
    expect(latest.skippedValues()).toBe(2);
  });

  test('receives nothing after it has cancelled, even if it had requested', () => {
    const latest = createBroadcast<number>();
    const { received, subscriber } = createRecorder();
    const subscription = latest.subscribe(subscriber);
    subscription.request();
    subscription.cancel();
    latest.publish(1);
    subscription.request();
    expect([received, latest.subscribers()]).toEqual([[], 0]);
  });

  test('may request the next value while it receives one, and cancel while others are notified', async () => {
    const latest = createBroadcast<number>();
    const received: number[] = [];
    const subscriptions = Array.from({ length: 40 }, (_, index) => {
      const subscription = latest.subscribe({
        onNext(value) {
          received.push(value);
          // The last one would be notified in a later turn.
          if (index === 0) subscriptions[39]?.cancel();
          subscription.request();
        },
        onError() {},
      });
      return subscription;
    });
    for (const subscription of subscriptions) subscription.request();
    latest.publish(1);
    await expect.poll(() => received.length).toBe(39);
    latest.publish(2);
    await expect.poll(() => received.filter((value) => value === 2).length).toBe(39);
    expect([received.length, latest.subscribers(), latest.skippedValues()]).toEqual([78, 39, 0]);
  });
});

describe('an async iterator', () => {
  test('subscribes at its first next', async () => {
    const latest = createBroadcast<number>();
    const values = toAsyncValues(latest.subscribe);
    expect(latest.subscribers()).toBe(0);
    const next = values.next();
    expect(latest.subscribers()).toBe(1);
    latest.publish(1);
    expect(await next).toEqual({ done: false, value: 1 });
    await values.return?.();
    expect(latest.subscribers()).toBe(0);
  });

  test('returns values in order, one for each next', async () => {
    const latest = createBroadcast<number>();
    const values = toAsyncValues(latest.subscribe);
    const both = Promise.all([values.next(), values.next()]);
    latest.publish(1);
    latest.publish(2);
    expect((await both).map(({ value }) => value)).toEqual([1, 2]);
  });

  test('throws once why no more values come, and is at its end then', async () => {
    const subscribers: Subscriber<number>[] = [];
    const values = toAsyncValues<number>((subscriber) => {
      subscribers.push(subscriber);
      return { request() {}, cancel() {} };
    });
    const both = Promise.allSettled([values.next(), values.next()]);
    subscribers[0]?.onError(new Error('broken'));
    const end = { done: true, value: undefined };
    expect(await both).toEqual([
      { status: 'rejected', reason: new Error('broken') },
      { status: 'fulfilled', value: end },
    ]);
    expect(await values.next()).toEqual(end);
  });
});
