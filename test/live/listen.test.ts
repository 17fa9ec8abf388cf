import { describe, expect, test } from 'vitest';
import { valuesOf } from '../../src/live/iterate.ts';
import { createLatest } from '../../src/live/latest.ts';
import type { Listener } from '../../src/live/listen.ts';

/** Someone who notes what it hears. */
function createNoter() {
  const heard: number[] = [];
  const listener: Listener<number> = {
    hear: (value) => heard.push(value),
    fail(error) {
      throw error;
    },
  };
  return { heard, listener };
}

describe('who listens', () => {
  test('hears nothing before it asks, then the newest at once, and nothing more before it asks again', () => {
    const latest = createLatest<number>();
    const { heard, listener } = createNoter();
    const listening = latest.listen(listener);
    latest.publish(1);
    latest.publish(2);
    expect(heard).toEqual([]);
    listening.next();
    expect(heard).toEqual([2]);
    latest.publish(3);
    expect(heard).toEqual([2]);
    listening.next();
    listening.next();
    expect(heard).toEqual([2, 3]);
    latest.publish(4);
    expect(heard).toEqual([2, 3, 4]);
  });

  test('is counted once for each value that it passes over', () => {
    const latest = createLatest<number>();
    const { listener } = createNoter();
    const listening = latest.listen(listener);
    for (const value of [1, 2, 3]) latest.publish(value);
    expect(latest.skipped()).toBe(2);
    listening.next();
    latest.publish(4);
    expect(latest.skipped()).toBe(2);
  });

  test('hears nothing once it has ended, though it had asked', () => {
    const latest = createLatest<number>();
    const { heard, listener } = createNoter();
    const listening = latest.listen(listener);
    listening.next();
    listening.end();
    latest.publish(1);
    listening.next();
    expect([heard, latest.listeners()]).toEqual([[], 0]);
  });

  test('may ask for the next while it is told, and leave while others are', async () => {
    const latest = createLatest<number>();
    const heard: number[] = [];
    const places = Array.from({ length: 40 }, (_, index) => {
      const place = latest.listen({
        hear(value) {
          heard.push(value);
          // The one who is told last, and would be in a later turn.
          if (index === 0) places[39]?.end();
          place.next();
        },
        fail() {},
      });
      return place;
    });
    for (const place of places) place.next();
    latest.publish(1);
    await expect.poll(() => heard.length).toBe(39);
    latest.publish(2);
    await expect.poll(() => heard.filter((value) => value === 2).length).toBe(39);
    expect([heard.length, latest.listeners(), latest.skipped()]).toEqual([78, 39, 0]);
  });
});

describe('who iterates', () => {
  test('listens from its first next on', async () => {
    const latest = createLatest<number>();
    const values = valuesOf(latest.listen);
    expect(latest.listeners()).toBe(0);
    const next = values.next();
    expect(latest.listeners()).toBe(1);
    latest.publish(1);
    expect(await next).toEqual({ done: false, value: 1 });
    await values.return?.();
    expect(latest.listeners()).toBe(0);
  });

  test('gets values in the order in which it asks, one for each time', async () => {
    const latest = createLatest<number>();
    const values = valuesOf(latest.listen);
    const both = Promise.all([values.next(), values.next()]);
    latest.publish(1);
    latest.publish(2);
    expect((await both).map(({ value }) => value)).toEqual([1, 2]);
  });

  test('is told why nothing comes any more, once, and has reached the end then', async () => {
    const listeners: Listener<number>[] = [];
    const values = valuesOf<number>((listener) => {
      listeners.push(listener);
      return { next() {}, end() {} };
    });
    const both = Promise.allSettled([values.next(), values.next()]);
    listeners[0]?.fail(new Error('broken'));
    const end = { done: true, value: undefined };
    expect(await both).toEqual([
      { status: 'rejected', reason: new Error('broken') },
      { status: 'fulfilled', value: end },
    ]);
    expect(await values.next()).toEqual(end);
  });
});
