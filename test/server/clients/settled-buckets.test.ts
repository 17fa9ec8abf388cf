import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { RateLimit } from '../../../src/domain/token-bucket.ts';
import type { Settled, SharedAccounts, Spending } from '../../../src/fleet/shared-accounts.ts';
import { createSettledBuckets } from '../../../src/server/clients/settled-buckets.ts';

const RATE: RateLimit = { pointsPerSecond: 10, burst: 100 };

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Lets time pass, and the turn of the event loop end. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await new Promise(setImmediate);
}

/** Accounts that a test settles by hand. */
function accountsByHand() {
  const waiting: { spendings: readonly Spending[]; resolve(settled: Settled): void; reject(error: Error): void }[] = [];
  const accounts: SharedAccounts = {
    settle(_rate, spendings) {
      const { promise, resolve, reject } = Promise.withResolvers<Settled>();
      waiting.push({ spendings, resolve, reject });
      return promise;
    },
  };
  /** The next settlement that has begun. */
  async function next() {
    while (waiting.length === 0) await pass(1);
    return waiting.shift() as (typeof waiting)[number];
  }
  return { accounts, next, begun: () => waiting.length };
}

function bucketsFor({ accounts }: { accounts: SharedAccounts }, clock = { now: 0 }) {
  const buckets = createSettledBuckets({ rate: RATE, accounts, now: () => clock.now });
  onTestFinished(buckets.close);
  return { buckets, pointsOf: (client: string) => buckets.of(client).level().thousandths / 1_000 };
}

describe('the buckets of one replica', () => {
  test('are charged at once, and lowered by what others have spent', async () => {
    const hand = accountsByHand();
    const { buckets, pointsOf } = bucketsFor(hand);
    (await hand.next()).resolve({ left: [], replicas: 2 });
    buckets.of('a').take(30);
    buckets.of('b').take(1);
    expect([pointsOf('a'), pointsOf('b')]).toEqual([70, 99]);
    const settlement = await hand.next();
    expect(settlement.spendings).toEqual([
      { client: 'a', spent: 30_000, left: 70_000 },
      { client: 'b', spent: 1_000, left: 99_000 },
    ]);
    buckets.of('a').take(5);
    settlement.resolve({ left: [40_000, 99_000], replicas: 2 });
    expect((await hand.next()).spendings).toEqual([{ client: 'a', spent: 5_000, left: 35_000 }]);
    expect([pointsOf('a'), pointsOf('b')]).toEqual([35, 99]);
  });

  test('are never raised by what the others say', async () => {
    const hand = accountsByHand();
    const { buckets, pointsOf } = bucketsFor(hand);
    (await hand.next()).resolve({ left: [], replicas: 2 });
    buckets.of('a').take(60);
    (await hand.next()).resolve({ left: [1e15], replicas: 2 });
    buckets.of('b').take(1);
    await hand.next();
    expect(pointsOf('a')).toBe(40);
  });

  test('give a part of what is left, and one operation more, until they are settled', async () => {
    const hand = accountsByHand();
    const { buckets, pointsOf } = bucketsFor(hand);
    (await hand.next()).resolve({ left: [], replicas: 4 });
    buckets.of('first').take(1);
    (await hand.next()).resolve({ left: [99_000], replicas: 4 });
    buckets.of('a').take(9);
    expect(pointsOf('a')).toBe(91);
    buckets.of('a').take(83);
    expect(pointsOf('a')).toBe(0);
    (await hand.next()).resolve({ left: [8_000], replicas: 4 });
    buckets.of('b').take(1);
    await hand.next();
    expect(pointsOf('a')).toBe(8);
  });

  test('settle much at once, and little within half a second', async () => {
    const hand = accountsByHand();
    const { buckets } = bucketsFor(hand);
    (await hand.next()).resolve({ left: [], replicas: 2 });
    buckets.of('a').take(1);
    (await hand.next()).resolve({ left: [99_000], replicas: 2 });
    await pass(0);
    buckets.of('a').take(1);
    await pass(100);
    expect(hand.begun()).toBe(0);
    buckets.of('a').take(30);
    await pass(0);
    expect(hand.begun()).toBe(1);
  });

  test('count alone while nothing can be settled, and say what is left afterwards', async () => {
    const hand = accountsByHand();
    const { buckets, pointsOf } = bucketsFor(hand);
    (await hand.next()).resolve({ left: [], replicas: 4 });
    buckets.of('a').take(40);
    (await hand.next()).reject(new Error('gone'));
    await new Promise(setImmediate);
    buckets.of('a').take(40);
    expect(pointsOf('a')).toBe(20);
    const { spendings } = await hand.next();
    expect(spendings).toEqual([{ client: 'a', spent: 40_000, left: 20_000 }]);
  });

  test('settle 500 clients together', async () => {
    const hand = accountsByHand();
    const { buckets } = bucketsFor(hand);
    (await hand.next()).resolve({ left: [], replicas: 2 });
    for (let n = 0; n < 700; n++) buckets.of(`client ${n}`).take(1);
    const first = await hand.next();
    first.resolve({ left: first.spendings.map(({ left }) => left), replicas: 2 });
    expect([first.spendings.length, (await hand.next()).spendings.length]).toEqual([500, 200]);
  });

  test('are full again after a while, as those of a gateway alone', async () => {
    const hand = accountsByHand();
    const clock = { now: 0 };
    const { buckets, pointsOf } = bucketsFor(hand, clock);
    (await hand.next()).resolve({ left: [], replicas: 1 });
    buckets.of('a').take(150);
    expect(pointsOf('a')).toBe(-50);
    clock.now += 10_000;
    expect(pointsOf('a')).toBe(50);
  });
});
