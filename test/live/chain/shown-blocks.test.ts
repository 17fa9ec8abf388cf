import { describe, expect, test } from 'vitest';
import { createShownBlocks } from '../../../src/live/chain/shown-blocks.ts';
import { chainInfoOf } from './heads.ts';

type Tip = readonly [height: number, hash: string];

/** The blocks of a node that has shown these tips. */
function shownBlocks(...tips: readonly Tip[]) {
  const shown = createShownBlocks();
  for (const [height, hash] of tips) shown.add(chainInfoOf(height, hash).beacon);
  return shown;
}

/** What a node that has shown these tips has at a height: the hash, or what else is known. */
function knownOf(...tips: readonly Tip[]) {
  const shown = shownBlocks(...tips);
  return (height: number) => {
    const block = shown.blockAt(height);
    return typeof block === 'object' ? block.hash : block;
  };
}

test('nothing for a URL that shows one chain, also if a block replaced another', () => {
  const known = knownOf([5, 'a'], [6, 'b'], [6, 'c'], [6, 'c'], [7, 'd']);
  expect([4, 5, 6, 7, 8].map(known)).toEqual(Array(5).fill(undefined));
});

test('if two blocks are shown in turn, their height is uncertain, and so are heights below that were not shown', () => {
  const known = knownOf([2, 'x'], [3, 'y'], [3, 'z'], [6, 'a'], [6, 'b'], [6, 'a'], [8, 'c']);
  const between = ['uncertain', 'uncertain', 'uncertain'];
  expect([1, 2, 3, 4, 5, 6, 7, 8, 9].map(known)).toEqual([undefined, 'x', 'z', ...between, undefined, 'c', undefined]);
});

test('it is forgotten with the blocks, of which 64 are remembered', () => {
  const later = Array.from({ length: 70 }, (_, n) => [n + 10, `block ${n}`] as const);
  const known = knownOf([6, 'a'], [6, 'b'], [6, 'a'], ...later);
  expect([6, 70].map(known)).toEqual([undefined, undefined]);
});

describe('the common height', () => {
  const common = (...tips: readonly Tip[]) => shownBlocks(...tips).commonHeight();
  const again = (count: number, ...tip: Tip) => Array.from({ length: count }, () => tip);

  test('is not known for a URL that shows one chain, also if a block replaced another', () => {
    expect(common([5, 'a'], [6, 'b'], [6, 'c'], [6, 'c'], [7, 'd'])).toBeUndefined();
  });

  test('is that of the last block before two chains were shown in turn', () => {
    expect(common([5, 'a'], [6, 'b'], [6, 'c'], [6, 'b'])).toBe(5);
    expect(common([5, 'a'], [6, 'b'], [6, 'c'], [6, 'b'], [7, 'd'], [7, 'e'], [7, 'd'])).toBe(5);
    expect(common([3, 'a'], [9, 'b'], [9, 'c'], [9, 'b'])).toBe(3);
  });

  test('is far below if two chains were shown from the start on', () => {
    expect(common([100, 'b'], [100, 'c'], [100, 'b'])).toBe(36);
  });

  test('stays while the branch is shown, also if the other chain goes on', () => {
    const split: Tip[] = [
      [5, 'a'],
      [6, 'b'],
      [6, 'c'],
      [6, 'b'],
    ];
    expect(common(...split, ...again(14, 7, 'd'))).toBe(5);
    expect(common(...split, ...again(14, 7, 'd'), [6, 'c'], ...again(14, 8, 'e'))).toBe(5);
  });

  test('is not known any more when sixteen tips have shown one chain', () => {
    expect(common([5, 'a'], [6, 'b'], [6, 'c'], ...again(16, 6, 'b'))).toBeUndefined();
    expect(common([5, 'a'], [6, 'b'], [6, 'c'], [6, 'b'], ...again(16, 7, 'd'))).toBeUndefined();
  });
});
