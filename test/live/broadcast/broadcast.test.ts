import { describe, expect, test } from 'vitest';
import { mapAsyncValues, toAsyncValues } from '../../../src/live/broadcast/async-values.ts';
import { createBroadcast } from '../../../src/live/broadcast/broadcast.ts';

const END = { done: true, value: undefined };
const value = (of: unknown) => ({ done: false, value: of });

describe('what does a subscriber hear', () => {
  test('the current value at once, then each new one', async () => {
    const latest = createBroadcast<number>();
    expect(latest.current()).toBeUndefined();
    latest.publish(1);
    const heard = toAsyncValues(latest.subscribe);
    expect(await heard.next()).toEqual(value(1));
    const next = heard.next();
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

  test('only the newest, where it was slow: nothing queues for it', async () => {
    const latest = createBroadcast<number>();
    const slow = toAsyncValues(latest.subscribe);
    for (let number = 1; number <= 10_000; number++) latest.publish(number);
    expect(await slow.next()).toEqual(value(10_000));
    const next = slow.next();
    expect(await Promise.race([next, Promise.resolve('nothing more')])).toBe('nothing more');
    latest.publish(10_001);
    expect(await next).toEqual(value(10_001));
  });

  test('values that are false in themselves too, even no value', async () => {
    const latest = createBroadcast<number | undefined>();
    latest.publish(0);
    const heard = toAsyncValues(latest.subscribe);
    expect(await heard.next()).toEqual(value(0));
    latest.publish(undefined);
    expect(await heard.next()).toEqual(value(undefined));
  });

  test('the same as every other, at its own speed', async () => {
    const latest = createBroadcast<number>();
    const [fast, slow] = [toAsyncValues(latest.subscribe), toAsyncValues(latest.subscribe)];
    latest.publish(1);
    expect(await fast.next()).toEqual(value(1));
    latest.publish(2);
    expect(await fast.next()).toEqual(value(2));
    expect(await slow.next()).toEqual(value(2));
  });
});

describe('when does a subscriber end', () => {
  test('when it is returned, which also ends a next that waits', async () => {
    const latest = createBroadcast<number>();
    const heard = toAsyncValues(latest.subscribe);
    const waiting = heard.next();
    expect(latest.subscribers()).toBe(1);
    expect(await heard.return?.()).toEqual(END);
    expect(await waiting).toEqual(END);
    expect(latest.subscribers()).toBe(0);

    latest.publish(1);
    expect(await heard.next()).toEqual(END);
    expect(await heard.return?.()).toEqual(END);
  });

  test('with it goes a value that it has not taken', async () => {
    const latest = createBroadcast<number>();
    const heard = toAsyncValues(latest.subscribe);
    latest.publish(1);
    await heard.return?.();
    expect(await heard.next()).toEqual(END);
  });

  test('when its loop is left', async () => {
    const latest = createBroadcast<number>();
    latest.publish(1);
    for await (const heard of toAsyncValues(latest.subscribe)) {
      expect([heard, latest.subscribers()]).toEqual([1, 1]);
      break;
    }
    expect(latest.subscribers()).toBe(0);
  });
});

describe('what becomes of values on their way', () => {
  test('each is turned into another; what becomes nothing is passed over', async () => {
    const latest = createBroadcast<number>();
    const odd = mapAsyncValues(toAsyncValues(latest.subscribe), (number) =>
      number % 2 === 1 ? `odd ${number}` : undefined,
    );
    const heard = odd.next();
    latest.publish(2);
    await Promise.resolve();
    latest.publish(3);
    expect(await heard).toEqual(value('odd 3'));
  });

  test('returning ends the source, and a next that waits', async () => {
    const latest = createBroadcast<number>();
    const mapped = mapAsyncValues(toAsyncValues(latest.subscribe), (number) => number);
    const waiting = mapped.next();
    expect(await mapped.return?.()).toEqual(END);
    expect(await waiting).toEqual(END);
    expect(latest.subscribers()).toBe(0);
  });
});

test('many subscribers are told in turns, so that others are not kept waiting, and each gets the newest', async () => {
  const latest = createBroadcast<number>();
  const subscribers = Array.from({ length: 40 }, () => toAsyncValues(latest.subscribe));
  const told: number[] = [];
  const all = subscribers.map((subscriber) => subscriber.next().then(({ value }) => told.push(Number(value))));
  latest.publish(1);
  const toldAtOnce = await new Promise<number>((resolve) => setImmediate(() => resolve(told.length)));
  expect(toldAtOnce).toBeLessThan(40);
  latest.publish(2);
  await Promise.all(all);
  expect(told).toHaveLength(40);
  expect(told.at(-1)).toBe(2);
  await Promise.all(subscribers.map((subscriber) => subscriber.return?.()));
});
