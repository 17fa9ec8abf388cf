import { describe, expect, test } from 'vitest';
import { mapValues, valuesOf } from '../../src/live/iterate.ts';
import { createLatest } from '../../src/live/latest.ts';

const END = { done: true, value: undefined };
const value = (of: unknown) => ({ done: false, value: of });

describe('what does a listener hear', () => {
  test('the current value at once, then each new one', async () => {
    const latest = createLatest<number>();
    expect(latest.current()).toBeUndefined();
    latest.publish(1);
    const heard = valuesOf(latest.listen);
    expect(await heard.next()).toEqual(value(1));
    const next = heard.next();
    latest.publish(2);
    expect(await next).toEqual(value(2));
    expect(latest.current()).toBe(2);
  });

  test('nothing before there is a value', async () => {
    const latest = createLatest<number>();
    const next = valuesOf(latest.listen).next();
    expect(await Promise.race([next, Promise.resolve('nothing yet')])).toBe('nothing yet');
    latest.publish(1);
    expect(await next).toEqual(value(1));
  });

  test('only the newest, where it was slow: nothing queues for it', async () => {
    const latest = createLatest<number>();
    const slow = valuesOf(latest.listen);
    for (let number = 1; number <= 10_000; number++) latest.publish(number);
    expect(await slow.next()).toEqual(value(10_000));
    const next = slow.next();
    expect(await Promise.race([next, Promise.resolve('nothing more')])).toBe('nothing more');
    latest.publish(10_001);
    expect(await next).toEqual(value(10_001));
  });

  test('values that are false in themselves too, even no value', async () => {
    const latest = createLatest<number | undefined>();
    latest.publish(0);
    const heard = valuesOf(latest.listen);
    expect(await heard.next()).toEqual(value(0));
    latest.publish(undefined);
    expect(await heard.next()).toEqual(value(undefined));
  });

  test('the same as every other, at its own speed', async () => {
    const latest = createLatest<number>();
    const [fast, slow] = [valuesOf(latest.listen), valuesOf(latest.listen)];
    latest.publish(1);
    expect(await fast.next()).toEqual(value(1));
    latest.publish(2);
    expect(await fast.next()).toEqual(value(2));
    expect(await slow.next()).toEqual(value(2));
  });
});

describe('when does a listener end', () => {
  test('when it is returned, which also ends a next that waits', async () => {
    const latest = createLatest<number>();
    const heard = valuesOf(latest.listen);
    const waiting = heard.next();
    expect(latest.listeners()).toBe(1);
    expect(await heard.return?.()).toEqual(END);
    expect(await waiting).toEqual(END);
    expect(latest.listeners()).toBe(0);

    latest.publish(1);
    expect(await heard.next()).toEqual(END);
    expect(await heard.return?.()).toEqual(END);
  });

  test('with it goes a value that it has not taken', async () => {
    const latest = createLatest<number>();
    const heard = valuesOf(latest.listen);
    latest.publish(1);
    await heard.return?.();
    expect(await heard.next()).toEqual(END);
  });

  test('when its loop is left', async () => {
    const latest = createLatest<number>();
    latest.publish(1);
    for await (const heard of valuesOf(latest.listen)) {
      expect([heard, latest.listeners()]).toEqual([1, 1]);
      break;
    }
    expect(latest.listeners()).toBe(0);
  });
});

describe('what becomes of values on their way', () => {
  test('each is turned into another; what becomes nothing is passed over', async () => {
    const latest = createLatest<number>();
    const odd = mapValues(valuesOf(latest.listen), (number) => (number % 2 === 1 ? `odd ${number}` : undefined));
    const heard = odd.next();
    latest.publish(2);
    await Promise.resolve();
    latest.publish(3);
    expect(await heard).toEqual(value('odd 3'));
  });

  test('returning ends the source, and a next that waits', async () => {
    const latest = createLatest<number>();
    const mapped = mapValues(valuesOf(latest.listen), (number) => number);
    const waiting = mapped.next();
    expect(await mapped.return?.()).toEqual(END);
    expect(await waiting).toEqual(END);
    expect(latest.listeners()).toBe(0);
  });
});

test('many listeners are told in turns, so that others are not kept waiting, and each gets the newest', async () => {
  const latest = createLatest<number>();
  const listeners = Array.from({ length: 40 }, () => valuesOf(latest.listen));
  const told: number[] = [];
  const all = listeners.map((listener) => listener.next().then(({ value }) => told.push(Number(value))));
  latest.publish(1);
  const toldAtOnce = await new Promise<number>((resolve) => setImmediate(() => resolve(told.length)));
  expect(toldAtOnce).toBeLessThan(40);
  latest.publish(2);
  await Promise.all(all);
  expect(told).toHaveLength(40);
  expect(told.at(-1)).toBe(2);
  await Promise.all(listeners.map((listener) => listener.return?.()));
});
