import { describe, expect, test } from 'vitest';
import { createBroadcast, onEach, type Subscriber } from '../../../src/live/broadcast/broadcast.ts';
import { toAsyncValues } from '../../support/async-values.ts';

const END = { done: true, value: undefined };
const value = (of: unknown) => ({ done: false, value: of });

describe('what a subscriber receives', () => {
  test('the current value at once, then each new one', async () => {
    const latest = createBroadcast<number>();
    expect(latest.current()).toBeUndefined();
    latest.publish(1);
    const values = toAsyncValues(latest.subscribe);
    expect(await values.next()).toEqual(value(1));
    const next = values.next();
    latest.publish(2);
    expect(await next).toEqual(value(2));
    expect(latest.current()).toBe(2);
  });

  test('nothing before there is a value', async () => {
    const latest = createBroadcast<number>();
    const next = toAsyncValues(latest.subscribe).next();
    expect(await Promise.race([next, Promise.resolve('nothing yet')])).toBe('nothing yet');
    latest.publish(1);
    expect(await next).toEqual(value(1));
  });

  test('only the newest if it was slow: nothing queues for it', async () => {
    const latest = createBroadcast<number>();
    const slow = toAsyncValues(latest.subscribe);
    for (let number = 1; number <= 10_000; number++) latest.publish(number);
    expect(await slow.next()).toEqual(value(10_000));
    const next = slow.next();
    expect(await Promise.race([next, Promise.resolve('nothing more')])).toBe('nothing more');
    latest.publish(10_001);
    expect(await next).toEqual(value(10_001));
  });

  test('also falsy values, even undefined', async () => {
    const latest = createBroadcast<number | undefined>();
    latest.publish(0);
    const values = toAsyncValues(latest.subscribe);
    expect(await values.next()).toEqual(value(0));
    latest.publish(undefined);
    expect(await values.next()).toEqual(value(undefined));
  });

  test('the same values as the others, at its own speed', async () => {
    const latest = createBroadcast<number>();
    const [fast, slow] = [toAsyncValues(latest.subscribe), toAsyncValues(latest.subscribe)];
    latest.publish(1);
    expect(await fast.next()).toEqual(value(1));
    latest.publish(2);
    expect(await fast.next()).toEqual(value(2));
    expect(await slow.next()).toEqual(value(2));
  });
});

describe('when a subscription ends', () => {
  test('when return is called, which also ends a pending next', async () => {
    const latest = createBroadcast<number>();
    const values = toAsyncValues(latest.subscribe);
    const waiting = values.next();
    expect(latest.subscribers()).toBe(1);
    expect(await values.return?.()).toEqual(END);
    expect(await waiting).toEqual(END);
    expect(latest.subscribers()).toBe(0);

    latest.publish(1);
    expect(await values.next()).toEqual(END);
    expect(await values.return?.()).toEqual(END);
  });

  test('a value that was not read is dropped', async () => {
    const latest = createBroadcast<number>();
    const values = toAsyncValues(latest.subscribe);
    latest.publish(1);
    await values.return?.();
    expect(await values.next()).toEqual(END);
  });

  test('when its loop is left', async () => {
    const latest = createBroadcast<number>();
    latest.publish(1);
    for await (const received of toAsyncValues(latest.subscribe)) {
      expect([received, latest.subscribers()]).toEqual([1, 1]);
      break;
    }
    expect(latest.subscribers()).toBe(0);
  });
});

test('many subscribers are notified in several turns of the event loop, and each gets the newest value', async () => {
  const latest = createBroadcast<number>();
  const subscribers = Array.from({ length: 40 }, () => toAsyncValues(latest.subscribe));
  const received: number[] = [];
  const all = subscribers.map((subscriber) => subscriber.next().then(({ value }) => received.push(Number(value))));
  latest.publish(1);
  const receivedInOneTurn = await new Promise<number>((resolve) => setImmediate(() => resolve(received.length)));
  expect(receivedInOneTurn).toBeLessThan(40);
  latest.publish(2);
  await Promise.all(all);
  expect(received).toHaveLength(40);
  expect(received.at(-1)).toBe(2);
  await Promise.all(subscribers.map((subscriber) => subscriber.return?.()));
});

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

  test('of the gateway itself is not counted', () => {
    const latest = createBroadcast<number>();
    const received: number[] = [];
    const own = onEach(latest.subscribe, (value) => received.push(value));
    const subscription = latest.subscribe(createRecorder().subscriber);
    latest.publish(1);
    expect([received, latest.subscribers()]).toEqual([[1], 1]);
    own.cancel();
    own.cancel();
    expect(latest.subscribers()).toBe(1);
    subscription.cancel();
    expect(latest.subscribers()).toBe(0);
  });

  test('that throws does not keep the value from others, nor the next value', async () => {
    const latest = createBroadcast<number>();
    const broken = onEach(latest.subscribe, () => {
      throw new Error('broken');
    });
    const received: number[] = [];
    onEach(latest.subscribe, (value) => received.push(value));
    expect(() => latest.publish(1)).toThrow('broken');
    await expect.poll(() => received).toEqual([1]);
    broken.cancel();
    latest.publish(2);
    expect(received).toEqual([1, 2]);
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
