import { expect, test } from 'vitest';
import { createFollowedHeads } from '../../src/history/followed-heads.ts';
import { headOf } from '../live/chain/heads.ts';

const head = (height: number, seconds: number, previousHash?: string) => ({
  ...headOf(height, `block ${height}`),
  time: seconds * 1_000,
  previousHash,
});

test('heads in memory are on one chain: the hashes fit, no block is later than one above it, and only final ones are below a gap', () => {
  const followed = createFollowedHeads();
  const heights = () => followed.all().map(({ beaconHeight }) => beaconHeight);
  for (let height = 6; height < 12; height++) followed.add(head(height, 90 + height, `block ${height - 1}`));
  // This block is of a branch, and the next ones are of the chain again.
  followed.add(head(12, 120, 'block 11'));
  expect(heights()).toEqual([6, 7, 8, 9, 10, 11, 12]);
  followed.add(head(12, 103, 'block 11'));
  expect(heights()).toEqual([6, 7, 8, 9, 10, 11, 12]);
  // Block 12 can be one that was replaced while block 13 was not seen, and so can those below it that were not final.
  followed.add(head(14, 104, 'block 13'));
  expect(heights()).toEqual([6, 7, 8, 9, 14]);
  followed.add(head(15, 105, 'another block 14'));
  expect(heights()).toEqual([6, 7, 8, 9, 15]);
  // This block is earlier than the one below it.
  followed.add(head(16, 98, 'block 15'));
  expect(heights()).toEqual([6, 7, 8, 16]);
});

test('the 32 newest heads stay in memory', () => {
  const followed = createFollowedHeads();
  for (let height = 1; height <= 40; height++) followed.add(head(height, height, `block ${height - 1}`));
  const heights = followed.all().map(({ beaconHeight }) => beaconHeight);
  expect(heights).toEqual(Array.from({ length: 32 }, (_, n) => 9 + n));
});

test('a head is final if the hashes of three blocks lead down to it', () => {
  const followed = createFollowedHeads();
  const finalAfter = (...args: Parameters<typeof head>) => {
    followed.add(head(...args));
    return followed.final()?.beaconHeight;
  };
  expect(finalAfter(10, 100)).toBeUndefined();
  expect(finalAfter(11, 101, 'block 10')).toBeUndefined();
  expect(finalAfter(12, 102, 'block 11')).toBeUndefined();
  expect(finalAfter(13, 103, 'block 12')).toBe(10);
  expect(finalAfter(14, 104, 'block 13')).toBe(11);
  expect(followed.isConnected()).toBe(true);
  // The node does not report this hash.
  expect(finalAfter(15, 105)).toBeUndefined();
  expect(followed.isConnected()).toBe(true);
  expect(finalAfter(16, 106, 'block 15')).toBeUndefined();
  expect(finalAfter(17, 107, 'block 16')).toBeUndefined();
  expect(finalAfter(18, 108, 'block 17')).toBe(15);
  // A skipped height, and a replaced block.
  expect(finalAfter(20, 110, 'block 19')).toBeUndefined();
  expect(followed.isConnected()).toBe(false);
  expect(finalAfter(21, 111, 'another block 20')).toBeUndefined();
  expect(followed.isConnected()).toBe(false);
});
