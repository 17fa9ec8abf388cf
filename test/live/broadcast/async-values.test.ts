import { describe, expect, test } from 'vitest';
import { toAsyncValues } from '../../../src/live/broadcast/async-values.ts';
import { createBroadcast, type Subscriber } from '../../../src/live/broadcast/broadcast.ts';

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
