import { describe, expect, test } from 'vitest';
import { toAsyncValues } from '../../../src/live/broadcast/async-values.ts';
import { createBroadcast } from '../../../src/live/broadcast/broadcast.ts';
import type { Subscriber } from '../../../src/live/broadcast/subscriber.ts';

/** Someone who notes what it hears. */
function createNoter() {
  const heard: number[] = [];
  const subscriber: Subscriber<number> = {
    onNext: (value) => heard.push(value),
    onError(error) {
      throw error;
    },
  };
  return { heard, subscriber };
}

describe('who listens', () => {
  test('hears nothing before it asks, then the newest at once, and nothing more before it asks again', () => {
    const latest = createBroadcast<number>();
    const { heard, subscriber } = createNoter();
    const subscription = latest.subscribe(subscriber);
    latest.publish(1);
    latest.publish(2);
    expect(heard).toEqual([]);
    subscription.request();
    expect(heard).toEqual([2]);
    latest.publish(3);
    expect(heard).toEqual([2]);
    subscription.request();
    subscription.request();
    expect(heard).toEqual([2, 3]);
    latest.publish(4);
    expect(heard).toEqual([2, 3, 4]);
  });

  test('is counted once for each value that it passes over', () => {
    const latest = createBroadcast<number>();
    const { subscriber } = createNoter();
    const subscription = latest.subscribe(subscriber);
    for (const value of [1, 2, 3]) latest.publish(value);
    expect(latest.skippedValues()).toBe(2);
    subscription.request();
    latest.publish(4);
    expect(latest.skippedValues()).toBe(2);
  });

  test('hears nothing once it has ended, though it had asked', () => {
    const latest = createBroadcast<number>();
    const { heard, subscriber } = createNoter();
    const subscription = latest.subscribe(subscriber);
    subscription.request();
    subscription.cancel();
    latest.publish(1);
    subscription.request();
    expect([heard, latest.subscribers()]).toEqual([[], 0]);
  });

  test('may ask for the next while it is told, and leave while others are', async () => {
    const latest = createBroadcast<number>();
    const heard: number[] = [];
    const places = Array.from({ length: 40 }, (_, index) => {
      const place = latest.subscribe({
        onNext(value) {
          heard.push(value);
          // The one who is told last, and would be in a later turn.
          if (index === 0) places[39]?.cancel();
          place.request();
        },
        onError() {},
      });
      return place;
    });
    for (const place of places) place.request();
    latest.publish(1);
    await expect.poll(() => heard.length).toBe(39);
    latest.publish(2);
    await expect.poll(() => heard.filter((value) => value === 2).length).toBe(39);
    expect([heard.length, latest.subscribers(), latest.skippedValues()]).toEqual([78, 39, 0]);
  });
});

describe('who iterates', () => {
  test('listens from its first next on', async () => {
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

  test('gets values in the order in which it asks, one for each time', async () => {
    const latest = createBroadcast<number>();
    const values = toAsyncValues(latest.subscribe);
    const both = Promise.all([values.next(), values.next()]);
    latest.publish(1);
    latest.publish(2);
    expect((await both).map(({ value }) => value)).toEqual([1, 2]);
  });

  test('is told why nothing comes any more, once, and has reached the end then', async () => {
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
