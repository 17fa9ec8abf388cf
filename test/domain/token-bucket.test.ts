import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  drain,
  fullBucket,
  msUntilAvailable,
  type RateLimit,
  refill,
  type TokenBucket,
} from '../../src/domain/token-bucket.ts';

const anyRate = fc.record({
  pointsPerSecond: fc.oneof(fc.integer({ min: 1, max: 2_000 }), fc.integer({ min: 1, max: 2 ** 31 - 1 })),
  burst: fc.oneof(fc.integer({ min: 1, max: 2_000 }), fc.integer({ min: 1, max: 2 ** 31 - 1 })),
});
/** A request for points, some time after the previous one. */
const anyAsked = fc.record({
  afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 1e9 })),
  points: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 30_000 })),
});
const START = Date.UTC(2026, 0, 1);

/** Takes the points if there are enough. */
function ask(bucket: TokenBucket, rate: RateLimit, now: number, points: number): [TokenBucket, given: number] {
  const filled = refill(bucket, rate, now);
  return msUntilAvailable(filled, rate, points) === 0 ? [drain(filled, points), points] : [filled, 0];
}

describe('a bucket of points', () => {
  test('never gives more in any period than its size and what it regains', () => {
    fc.assert(
      fc.property(anyRate, fc.array(anyAsked, { minLength: 1, maxLength: 60 }), (rate, asked) => {
        let [bucket, now] = [fullBucket(rate, START), START];
        const given = asked.map(({ afterMs, points }) => {
          now += afterMs;
          const [next, granted] = ask(bucket, rate, now, points);
          bucket = next;
          return { now, granted };
        });
        // A cost above the size of the bucket is paid from a full bucket: then that cost is the maximum.
        const most = Math.max(rate.burst, ...asked.map(({ points }) => points));
        for (const [from, { now: start }] of given.entries()) {
          let sum = 0;
          for (const { now: end, granted } of given.slice(from)) {
            sum += granted;
            expect(BigInt(sum) * 1_000n).toBeLessThanOrEqual(
              BigInt(most) * 1_000n + BigInt(rate.pointsPerSecond) * BigInt(end - start),
            );
          }
        }
      }),
    );
  });

  test('gives everything that it regains to a steady client', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 50 }), (pointsPerSecond, seconds) => {
        const rate = { pointsPerSecond, burst: 7 };
        let bucket = fullBucket(rate, START);
        let sum = 0;
        for (let now = START; now <= START + seconds * 1_000; now++) {
          for (let given = 1; given > 0; sum += given) [bucket, given] = ask(bucket, rate, now, 1);
        }
        expect(sum).toBe(7 + pointsPerSecond * seconds);
      }),
      { numRuns: 20 },
    );
  });

  test('returns the exact wait: then there is enough, and a millisecond earlier there is not', () => {
    fc.assert(
      fc.property(anyRate, anyAsked, anyAsked, (rate, first, { points }) => {
        const bucket = drain(fullBucket(rate, START), first.points);
        const waitMs = msUntilAvailable(bucket, rate, points);
        const at = (ms: number) => msUntilAvailable(refill(bucket, rate, START + ms), rate, points);
        expect(at(waitMs)).toBe(0);
        if (waitMs > 0) expect(at(waitMs - 1)).toBe(1);
      }),
    );
  });

  test('gives more than its size when it is full, and then has a debt', () => {
    const rate = { pointsPerSecond: 10, burst: 100 };
    const full = fullBucket(rate, START);
    expect(msUntilAvailable(drain(full, 1), rate, 250)).toBe(100);
    const [indebted, given] = ask(full, rate, START, 250);
    expect(given).toBe(250);
    expect(msUntilAvailable(indebted, rate, 1)).toBe(15_100);
  });

  test('needs only the unpaid part of a cost', () => {
    const rate = { pointsPerSecond: 10, burst: 100 };
    const bucket = drain(fullBucket(rate, START), 40);
    expect(msUntilAvailable(bucket, rate, 80, 20)).toBe(0);
    expect(msUntilAvailable(bucket, rate, 80)).toBe(2_000);
    expect(msUntilAvailable(bucket, rate, 500, 40)).toBe(0);
  });

  test('regains nothing from a clock that is set back, and continues from then on', () => {
    const rate = { pointsPerSecond: 10, burst: 100 };
    const empty = drain(fullBucket(rate, START), 100);
    const back = refill(empty, rate, START - 3_600_000);
    expect(msUntilAvailable(back, rate, 1)).toBe(100);
    expect(msUntilAvailable(refill(back, rate, START - 3_600_000 + 100), rate, 1)).toBe(0);
  });
});
