import { expect, test } from 'vitest';
import { createTipReader } from '../../../src/live/chain/tip-reader.ts';
import { chainInfoOf, scriptedNode } from './heads.ts';

/** What a node that has shown these tips is known to have at a height: the hash, or what else is said. */
async function knownOf(...tips: readonly (readonly [height: number, hash: string])[]) {
  const node = scriptedNode({ tips: tips.map(([height, hash]) => chainInfoOf(height, hash)), heights: [] });
  const watcher = { failed() {}, recovered() {} };
  const reader = createTipReader(node, { isRightChain: () => true, graceMs: 1, watcher });
  for (let looks = 0; looks < tips.length; looks++) await reader.ask();
  return (height: number) => {
    const block = reader.blockAt(height);
    return typeof block === 'object' ? block.hash : block;
  };
}

test('of a URL that shows one chain nothing need be known, also where a block replaced another', async () => {
  const known = await knownOf([5, 'a'], [6, 'b'], [6, 'c'], [6, 'c'], [7, 'd']);
  expect([4, 5, 6, 7, 8].map(known)).toEqual(Array(5).fill(undefined));
});

test('of two blocks that are shown in turn it is not known which, nor of heights that were not shown below them', async () => {
  const known = await knownOf([2, 'x'], [3, 'y'], [3, 'z'], [6, 'a'], [6, 'b'], [6, 'a'], [8, 'c']);
  const between = ['uncertain', 'uncertain', 'uncertain'];
  expect([1, 2, 3, 4, 5, 6, 7, 8, 9].map(known)).toEqual([undefined, 'x', 'z', ...between, undefined, 'c', undefined]);
});

test('it is forgotten with the blocks', async () => {
  const later = Array.from({ length: 70 }, (_, n) => [n + 10, `block ${n}`] as const);
  const known = await knownOf([6, 'a'], [6, 'b'], [6, 'a'], ...later);
  expect([6, 70].map(known)).toEqual([undefined, undefined]);
});
