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
  const again = (count: number, ...tip: Tip) => Array.from({ length: count }, () => tip);
  /** The common height after two blocks for each of heights 1 to 20, and these tips. */
  const common = (...tips: readonly Tip[]) => {
    const before = Array.from({ length: 20 }, (_, n) => again(2, n + 1, `block ${n + 1}`)).flat();
    return shownBlocks(...before, ...tips).commonHeight();
  };
  const split: Tip[] = [
    [21, 'b'],
    [21, 'c'],
    [21, 'b'],
  ];

  test('is not known for a URL that shows one chain, also if a block replaced another', () => {
    expect(common([21, 'b'], [21, 'c'], [21, 'c'], [22, 'd'])).toBeUndefined();
  });

  test('is below the blocks of the last sixteen tips that could have shown two chains', () => {
    // The second tip of a height could have shown another block: these are two of height 21, and one of each of 7 to 20.
    expect(common(...split)).toBe(6);
    expect(common(...again(16, 21, 'b'), ...split)).toBe(20);
    expect(common(...again(16, 21, 'b'), [30, 'c'], [30, 'd'], [30, 'c'])).toBe(20);
  });

  test('is far below if two chains were shown from the start on', () => {
    expect(shownBlocks([100, 'b'], [100, 'c'], [100, 'b']).commonHeight()).toBe(36);
    expect(shownBlocks(...again(15, 99, 'a'), [100, 'b'], [100, 'c'], [100, 'b']).commonHeight()).toBe(35);
    expect(shownBlocks(...again(16, 99, 'a'), [100, 'b'], [100, 'c'], [100, 'b']).commonHeight()).toBe(98);
  });

  test('stays while two chains are shown, also if one goes on', () => {
    expect(common(...split, [22, 'd'], [22, 'e'], [22, 'd'])).toBe(6);
    expect(common(...split, ...again(15, 22, 'd'))).toBe(6);
    expect(common(...split, ...again(15, 22, 'd'), [21, 'c'], [21, 'b'], ...again(15, 23, 'e'))).toBe(6);
    expect(common(...split, [22, 'd'], [22, 'e'], ...again(15, 23, 'f'))).toBe(6);
  });

  test('rises when sixteen tips have shown one chain', () => {
    expect(common(...split, ...again(17, 22, 'd'))).toBe(21);
    expect(common(...split, [22, 'd'], [22, 'e'], ...again(17, 23, 'f'))).toBe(22);
  });

  test('does not rise with tips that are the first of their heights: a branch is not seen in them', () => {
    expect(common(...split, ...again(17, 22, 'd'), [23, 'e'], [24, 'f'], [26, 'g'], [27, 'h'])).toBe(21);
  });

  test('is above an earlier branch that was given up', () => {
    expect(common(...split, ...again(17, 22, 'd'), [23, 'e'], [23, 'f'], [23, 'e'])).toBe(21);
  });

  test('is forgotten with the blocks that were shown in turn', () => {
    const later = Array.from({ length: 70 }, (_, n) => again(2, n + 22, `block ${n + 22}`)).flat();
    expect(common(...split, ...later.slice(0, 60))).toBe(35);
    expect(common(...split, ...later)).toBeUndefined();
  });
});
