import { describe, expect, test } from 'vitest';
import { createHeadTracker, type Head } from '../../src/client/head-tracker.ts';

/** A head whose block was made 40 s after the one before. */
function head(beaconHeight: number, changes: Partial<Head> = {}): Head {
  const time = new Date(Date.UTC(2026, 0, 1) + beaconHeight * 40_000).toISOString();
  return {
    id: `Head:${beaconHeight}`,
    beaconHeight,
    previousHeight: beaconHeight - 1,
    hash: `hash ${beaconHeight}`,
    time,
    observedAt: time,
    stale: false,
    ...changes,
  };
}

function trackerAt(...heights: readonly number[]) {
  const tracker = createHeadTracker();
  for (const height of heights) tracker.observe(head(height));
  return tracker;
}

describe('the newest head', () => {
  test('is the one with the highest height, and is published once', () => {
    const tracker = createHeadTracker();
    const seen: (number | undefined)[] = [];
    tracker.newest.subscribe(() => seen.push(tracker.newest.get()?.beaconHeight));
    for (const height of [100, 101, 100, 103]) tracker.observe(head(height));
    expect(seen).toEqual([100, 101, 103]);
    expect(tracker.height()).toBe(103);
  });

  test('is behind if an answer has described a higher height', () => {
    const tracker = trackerAt(100);
    tracker.observeHeight(102);
    expect(tracker.observe(head(101))).toBe('behind');
    expect(tracker.observe(head(102))).toBe('newest');
  });

  test('can be replaced by another block of its height', () => {
    const tracker = trackerAt(100, 101);
    expect(tracker.observe(head(101, { hash: 'another', previousHeight: 101 }))).toBe('newest');
    expect(tracker.newest.get()?.hash).toBe('another');
  });
});

describe('a lower head', () => {
  test('is that of a slower replica if its block is older', () => {
    const tracker = trackerAt(100, 101, 102);
    expect(tracker.observe(head(100))).toBe('behind');
    expect(tracker.newest.get()?.beaconHeight).toBe(102);
  });

  test('is of another chain if its block is newer, as after a restart of the sandbox', () => {
    const { time } = head(200);
    expect(trackerAt(100).observe(head(98, { time }))).toBe('other-chain');
  });

  test('is of another chain if it is far below', () => {
    const tracker = trackerAt(1_000);
    expect(tracker.observe(head(1_000 - 63))).toBe('behind');
    expect(tracker.observe(head(1_000 - 64))).toBe('other-chain');
  });

  test('is of another chain if a final block has another hash than before', () => {
    const tracker = trackerAt(100, 101, 102, 103, 104);
    expect(tracker.observe(head(102, { hash: 'another' }))).toBe('behind');
    expect(tracker.observe(head(100, { hash: 'another' }))).toBe('other-chain');
  });
});

test('a head of the same height is of another chain if the gateway has not replaced a block', () => {
  expect(trackerAt(100).observe(head(100, { hash: 'another', previousHeight: null }))).toBe('other-chain');
});

test('another name is another chain', () => {
  const tracker = createHeadTracker();
  expect(['mainnet', 'mainnet', 'testnet'].map((name) => tracker.observeChainName(name))).toEqual([false, false, true]);
});
