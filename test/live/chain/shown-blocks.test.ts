import { expect, test } from 'vitest';
import { createShownBlocks } from '../../../src/live/chain/shown-blocks.ts';
import { chainInfoOf } from './heads.ts';

/** What a node that has shown these tips has at a height: the hash, or what else is known. */
function knownOf(...tips: readonly (readonly [height: number, hash: string])[]) {
  const shown = createShownBlocks();
  for (const [height, hash] of tips) shown.add(chainInfoOf(height, hash).beacon);
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
