import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createPollSchedule } from '../../../src/live/chain/poll-schedule.ts';

/** A schedule with a socket that is open, at height 100, whose polls a test ends by calling `intervalMs`. */
function schedule({ pollMs = 1_000 } = {}) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const state = { isFailing: false, isPolling: false, polls: 0 };
  const created = createPollSchedule(pollMs);
  const serve = (beaconHeight: number, hash = 'a') => created.published({ beaconHeight, hash });
  serve(100);
  created.push.changed(true);
  // The poll at the opening counts no more.
  vi.advanceTimersByTime(pollMs);
  created.onDue(() => {
    if (!state.isPolling) state.polls += 1;
    return !state.isPolling;
  });
  onTestFinished(() => void vi.useRealTimers());
  return { ...created, intervalMs: () => created.intervalMs(state.isFailing), state, serve };
}

const block = (height: number, hash = 'b') => ({ height, hash });

describe('the interval between polls', () => {
  test('is 10 s while a socket is open, and the setting without one', () => {
    const { intervalMs, push, state } = schedule();
    expect(intervalMs()).toBe(10_000);
    state.isFailing = true;
    expect(intervalMs()).toBe(1_000);
    state.isFailing = false;
    push.changed(true);
    push.changed(false);
    expect(intervalMs()).toBe(10_000);
    push.changed(false);
    expect(intervalMs()).toBe(1_000);
    expect(schedule({ pollMs: 30_000 }).intervalMs()).toBe(30_000);
  });

  test('is the setting again once no frame came for two heads, until the next frame', () => {
    const { intervalMs, serve, push } = schedule();
    serve(101);
    expect(intervalMs()).toBe(10_000);
    serve(102);
    expect(intervalMs()).toBe(1_000);
    push.received(block(102, 'a'));
    expect(intervalMs()).toBe(10_000);
    // The frame counts for the first of these heads only.
    for (const height of [103, 104, 105]) serve(height);
    expect(intervalMs()).toBe(1_000);
  });

  test.each([
    ['behind', -70],
    ['of another chain', 1e6],
  ])('is the setting too if only a node that is %s pushes its blocks', (_, height) => {
    const { intervalMs, serve, push } = schedule();
    for (const served of [101, 102]) {
      push.received(block(height + served));
      serve(served);
    }
    vi.advanceTimersByTime(10_000);
    expect(intervalMs()).toBe(1_000);
    push.received(block(103));
    serve(103, 'b');
    expect(intervalMs()).toBe(10_000);
  });
});

describe('a frame', () => {
  test('of a block that is not served polls at once', () => {
    const { push, state } = schedule();
    push.received(block(101));
    expect(state.polls).toBe(1);
  });

  test('of another block at the served height polls too, and one of the served or a lower block does not', () => {
    const { push, state } = schedule();
    push.received(block(100, 'b'));
    expect(state.polls).toBe(1);
    push.received(block(100, 'a'));
    push.received(block(99));
    expect(state.polls).toBe(1);
  });

  test('is named for the other gateways of a fleet until it is served: a higher one, and one in the place of another', () => {
    const { push, awaited, serve } = schedule();
    const names = [awaited()];
    for (const pushed of [block(100, 'b'), block(99), block(101, 'c'), block(101, 'd'), block(100, 'e')]) {
      push.received(pushed);
      names.push(awaited());
    }
    serve(101, 'd');
    names.push(awaited());
    expect(names).toEqual([undefined, '100:b', '100:b', '101:c', '101:d', '101:d', undefined]);
  });

  test('during a poll makes another poll at its end, unless the poll has read the block', () => {
    const { push, state, intervalMs, serve } = schedule();
    state.isPolling = true;
    push.received(block(101));
    push.changed(true);
    expect(intervalMs()).toBe(0);
    push.received(block(102, 'c'));
    serve(102, 'c');
    expect([intervalMs(), state.polls]).toEqual([10_000, 0]);
  });

  test('of a block that the API does not have yet polls again soon, then in each interval', () => {
    const { push, intervalMs, serve } = schedule();
    push.received(block(101));
    const intervals = Array.from({ length: 4 }, () => {
      vi.advanceTimersByTime(1_000);
      return intervalMs();
    });
    expect(intervals).toEqual([50, 100, 200, 400]);
    vi.advanceTimersByTime(1_000);
    expect([intervalMs(), intervalMs(), intervalMs()]).toEqual([800, 1_000, 1_000]);
    serve(101, 'b');
    expect(intervalMs()).toBe(10_000);
  });

  test('of a block in the place of the served one polls again too', () => {
    const { push, intervalMs, serve } = schedule();
    push.received(block(100, 'b'));
    expect(intervalMs()).toBeLessThan(1_000);
    serve(100, 'b');
    expect(intervalMs()).toBe(10_000);
  });

  test('of a block far above the served one polls once, and is not awaited', () => {
    const { push, state, intervalMs, awaited } = schedule();
    push.received(block(1e15));
    push.received(block(201));
    expect([state.polls, awaited(), intervalMs()]).toEqual([2, undefined, 10_000]);
    push.received(block(101));
    expect([awaited(), intervalMs()]).toEqual(['101:b', 50]);
    push.received(block(200));
    expect(awaited()).toBe('200:b');
  });

  test('that came before the first head is no longer awaited if it is far above it', () => {
    const { push, published, awaited } = createPollSchedule(1_000);
    push.received(block(1e15));
    push.received(block(101));
    expect(awaited()).toBe('1000000000000000:b');
    published({ beaconHeight: 100, hash: 'a' });
    expect(awaited()).toBeUndefined();
    push.received(block(101));
    expect(awaited()).toBe('101:b');
  });

  test('polls no more once its block is served', () => {
    const { push, intervalMs, serve } = schedule();
    push.received(block(101));
    serve(101, 'b');
    expect(intervalMs()).toBe(10_000);
  });
});

describe('many frames', () => {
  test('cause five polls at once, then one in each interval', () => {
    const { push, state, intervalMs, usualMs, serve } = schedule();
    for (let height = 101; height <= 300; height++) push.received(block(height));
    expect([state.polls, intervalMs(), usualMs()]).toEqual([5, 1_000, 1_000]);
    serve(300, 'b');
    expect(intervalMs()).toBe(1_000);
    vi.advanceTimersByTime(1_000);
    expect(intervalMs()).toBe(10_000);
    for (let height = 301; height <= 400; height++) push.received(block(height));
    expect(state.polls).toBe(6);
  });

  test('also do so if each poll finds a newer block', () => {
    const { push, state, intervalMs, serve } = schedule();
    let tip = 100;
    for (let ms = 0; ms < 10_000; ms += 20) {
      tip += 1;
      push.received(block(tip));
      const { polls } = state;
      if (polls > 0) serve(tip, 'b');
      intervalMs();
      vi.advanceTimersByTime(20);
    }
    expect(state.polls).toBeLessThanOrEqual(16);
  });
});

describe('a socket that opens or closes', () => {
  test('polls, because blocks may have been missed', () => {
    const { push, state } = schedule();
    push.changed(false);
    expect(state.polls).toBe(1);
    push.changed(true);
    expect(state.polls).toBe(2);
  });
});
