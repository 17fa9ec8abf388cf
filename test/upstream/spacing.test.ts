import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { UpstreamBadStatusError, UpstreamFilteredError, UpstreamTimeoutError } from '../../src/errors.ts';
import { createSpacing, type SpacedCall } from '../../src/upstream/spacing.ts';

const FIRST_MS = 250;
const tooMany = (retryAfterMs?: number) => new UpstreamBadStatusError('NODE', 429, '', {}, { retryAfterMs });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A host that allows so many calls a second, one at once, and the spacing in front of it. */
function hostWith(perSecond: number, retryAfterMs?: number) {
  const spacing = createSpacing(FIRST_MS);
  const outcomes: ('answered' | 'refused')[] = [];
  const answeredAt: number[] = [];
  let tokens = 1;
  let at = performance.now();

  async function answer(name: string): Promise<string> {
    tokens = Math.min(1, tokens + ((performance.now() - at) * perSecond) / 1_000);
    at = performance.now();
    outcomes.push(tokens < 1 ? 'refused' : 'answered');
    if (tokens < 1) throw tooMany(retryAfterMs);
    tokens -= 1;
    answeredAt.push(at);
    return name;
  }

  const call = (name = 'call', turn: Partial<SpacedCall> = {}) =>
    spacing.run(() => answer(name), { method: 'm', isForHead: true, ...turn });
  return { spacing, outcomes, answeredAt, call };
}

/** Settles a promise while time passes. */
async function settle<T>(promise: Promise<T>): Promise<T | Error> {
  const settled = promise.catch((error: Error) => error);
  let isSettled = false;
  settled.then(() => {
    isSettled = true;
  });
  while (!isSettled) await vi.advanceTimersByTimeAsync(10);
  return settled;
}

/** Calls again and again, each time after a pause. @returns the outcomes, to which it adds */
function repeat(call: () => Promise<string>, pauseMs = 1_000): string[] {
  const outcomes: string[] = [];
  async function next(): Promise<void> {
    outcomes.push(await call().catch(() => 'refused'));
    setTimeout(next, pauseMs);
  }
  next();
  return outcomes;
}

describe('a host that limits the rate of calls', () => {
  test('is called less and less often, until it rejects hardly any call: all calls succeed', async () => {
    const { call, outcomes, answeredAt, spacing } = hostWith(2);
    for (let calls = 0; calls < 40; calls++) expect(await settle(call())).toBe('call');
    expect(spacing.spaceMs()).toBeGreaterThanOrEqual(FIRST_MS);
    expect(outcomes.slice(-20).filter((outcome) => outcome === 'refused').length).toBeLessThanOrEqual(4);
    const gaps = answeredAt.slice(1).map((at, index) => at - (answeredAt[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(2_500);
  });

  test('a call is repeated at most twice, then it fails', async () => {
    const { call, outcomes } = hostWith(0.01);
    await settle(call());
    expect(await settle(call())).toMatchObject({ code: 'UPSTREAM_BAD_STATUS', status: 429 });
    expect(outcomes).toEqual(['answered', 'refused', 'refused', 'refused']);
  });

  test('a call is not repeated after a response with Retry-After, and calls are spaced from then on', async () => {
    const { call, outcomes, spacing } = hostWith(2, 1_000);
    await settle(call());
    expect(await settle(call())).toMatchObject({ retryAfterMs: 1_000 });
    expect([outcomes, spacing.spaceMs()]).toEqual([['answered', 'refused'], 1_000]);
    expect(await settle(call())).toBe('call');
  });

  test('is called every five seconds at least, whatever Retry-After it sends', async () => {
    const { call, spacing } = hostWith(2, 3_600_000);
    await settle(call());
    expect(await settle(call())).toMatchObject({ retryAfterMs: 3_600_000 });
    expect(spacing.spaceMs()).toBe(5_000);
  });

  test('calls that were in progress together make the space longer once, also if one has succeeded since', async () => {
    const spacing = createSpacing(FIRST_MS);
    const run = (call: () => Promise<string>) => spacing.run(call, { method: 'm', isForHead: true });
    const rejectedLast = Promise.withResolvers<string>();
    const last = run(vi.fn(async () => 'last').mockReturnValueOnce(rejectedLast.promise));
    await vi.advanceTimersByTimeAsync(1);
    expect(await settle(run(vi.fn(async () => 'first').mockRejectedValueOnce(tooMany())))).toBe('first');
    rejectedLast.reject(tooMany());
    expect(await settle(last)).toBe('last');
    expect(spacing.spaceMs()).toBe(FIRST_MS);
  });

  test('spaces have jitter', async () => {
    const gaps = new Set<number>();
    for (let hosts = 0; hosts < 5; hosts++) {
      const { call, answeredAt } = hostWith(4);
      for (let calls = 0; calls < 4; calls++) await settle(call());
      gaps.add((answeredAt[3] ?? 0) - (answeredAt[2] ?? 0));
    }
    expect(gaps.size).toBeGreaterThan(1);
  });

  test('is called at once again when it has rejected no call for a while', async () => {
    const { call, spacing } = hostWith(2);
    for (let calls = 0; calls < 3; calls++) await settle(call());
    expect(spacing.spaceMs()).toBeGreaterThan(0);
    for (let waits = 0; waits < 4; waits++) {
      await vi.advanceTimersByTimeAsync(10_000);
      await settle(call());
    }
    expect(spacing.spaceMs()).toBe(0);
  });
});

describe('the order of spaced calls', () => {
  test('calls that follow the chain come before those of clients', async () => {
    const { call } = hostWith(2);
    await settle(call());
    await settle(call());
    const order: string[] = [];
    const note = (promise: Promise<string>) => promise.then((name) => order.push(name));
    const clients = ['a', 'b', 'c'].map((name) => note(call(name, { isForHead: false })));
    await settle(Promise.all([...clients, note(call('tip'))]));
    expect(order.indexOf('tip')).toBeLessThanOrEqual(1);
  });

  test('a call of a client comes after three others, also if one that follows the chain always waits', async () => {
    const { call, spacing } = hostWith(0.6);
    const order = repeat(() => call('tip'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(spacing.spaceMs()).toBe(2_000);
    order.length = 0;
    call('client', { isForHead: false }).then((name) => order.push(name));
    await vi.advanceTimersByTimeAsync(5 * 2_500);
    expect(order.indexOf('client')).toBe(3);
  });

  test('calls of clients do not use up a rate: the chain is followed', async () => {
    const { call } = hostWith(0.5);
    const tips = repeat(() => call('tip', { method: 'tip' }));
    repeat(() => call('client', { method: 'client', isForHead: false }), 100);
    await vi.advanceTimersByTimeAsync(300_000);
    tips.length = 0;
    await vi.advanceTimersByTimeAsync(300_000);
    expect(tips.filter((name) => name === 'tip').length).toBeGreaterThan(50);
  });

  test('a call that is aborted leaves the queue, and is not made', async () => {
    const { call, outcomes } = hostWith(2);
    await settle(call());
    await settle(call());
    const before = outcomes.length;
    const over = new AbortController();
    const waiting = call('given up', { signal: over.signal });
    over.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(outcomes.length).toBe(before);
  });

  test('a call that was aborted before does not wait', async () => {
    const { call } = hostWith(2);
    await settle(call());
    await settle(call());
    let reason: unknown;
    call('given up', { signal: AbortSignal.abort('enough') }).catch((error: unknown) => {
      reason = error;
    });
    await vi.advanceTimersByTimeAsync(0);
    expect(reason).toBe('enough');
  });
});

describe('errors that are no rate limit', () => {
  test.each([
    ['another status', new UpstreamBadStatusError('NODE', 503, '', {})],
    ['a page with another status', new UpstreamFilteredError('NODE', 403, {})],
    ['no answer', new UpstreamTimeoutError('NODE', 5, {})],
  ])('%s: the call fails at once', async (_, error) => {
    const spacing = createSpacing(FIRST_MS);
    let calls = 0;
    const fail = async () => {
      calls += 1;
      throw error;
    };
    await expect(spacing.run(fail, { method: 'm', isForHead: true })).rejects.toBe(error);
    expect([calls, spacing.spaceMs()]).toEqual([1, 0]);
  });

  test('a method that is always rejected does not make the others wait longer and longer', async () => {
    const spacing = createSpacing(FIRST_MS);
    const refuse = () => Promise.reject(tooMany());
    for (let calls = 0; calls < 5; calls++) {
      await settle(spacing.run(refuse, { method: 'refused', isForHead: false }));
      await settle(spacing.run(async () => 'tip', { method: 'tip', isForHead: true }));
    }
    expect(spacing.spaceMs()).toBe(FIRST_MS);
  });

  test('a method that is always rejected from a moment on makes the others wait no longer than half a second', async () => {
    const spacing = createSpacing(FIRST_MS);
    const method = { method: 'refused', isForHead: false };
    await spacing.run(async () => 'answer', method);
    for (let calls = 0; calls < 5; calls++) {
      await settle(spacing.run(refused, method));
      await settle(spacing.run(async () => 'tip', { method: 'tip', isForHead: true }));
    }
    expect(spacing.spaceMs()).toBe(2 * FIRST_MS);
  });

  test('an HTML page with status 429 is one', async () => {
    const spacing = createSpacing(FIRST_MS);
    const answers = [() => Promise.reject(new UpstreamFilteredError('NODE', 429, {})), async () => 'answer'];
    expect(await settle(spacing.run(() => (answers.shift() ?? refused)(), { method: 'm', isForHead: true }))).toBe(
      'answer',
    );
  });
});

const refused = () => Promise.reject(tooMany());
