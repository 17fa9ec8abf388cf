import { expect, test } from 'vitest';
import { createConfirmation } from '../../src/history/confirmation.ts';
import { headOf } from '../live/chain/heads.ts';

const head = (height: number, seconds: number, previousHash?: string) => ({
  ...headOf(height, `block ${height}`),
  time: seconds * 1_000,
  previousHash,
});

test('heads in memory are on one chain: the hashes fit, and no block is later than one above it', () => {
  const confirmation = createConfirmation();
  const heights = () => confirmation.chain().map(({ beaconHeight }) => beaconHeight);
  confirmation.add(head(10, 100));
  confirmation.add(head(11, 100, 'block 10'));
  // This block is of a branch, and the next ones are of the chain again.
  confirmation.add(head(12, 120, 'block 11'));
  expect(heights()).toEqual([10, 11, 12]);
  confirmation.add(head(14, 103, 'block 13'));
  expect(heights()).toEqual([10, 11, 14]);
  confirmation.add(head(15, 104, 'another block 14'));
  expect(heights()).toEqual([10, 11, 15]);
});
