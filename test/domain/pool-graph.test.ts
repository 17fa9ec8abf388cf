import { expect, test } from 'vitest';
import { toPoolDirectory } from '../../src/domain/exchange.ts';
import { toPoolGraph } from '../../src/domain/pool-graph.ts';
import { tokenId } from './pools.ts';

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(tokenId) as [string, string, string, string];

test('a graph has the pools of each token, and the two tokens of each pool', () => {
  const pools = [
    [a, b],
    [a, c],
    [b, c],
  ];
  const graph = toPoolGraph(toPoolDirectory(pools.map((tokens) => tokens.join('-'))));
  const numbers = [a, b, c].map((token) => graph.find(token) ?? -1);
  expect(new Set(numbers)).toEqual(new Set([0, 1, 2]));
  expect(graph.find(d)).toBeUndefined();
  expect(numbers.map((token) => graph.placesOf[token])).toEqual([
    [0, 1],
    [0, 2],
    [1, 2],
  ]);
  expect([...graph.tokensAt]).toEqual(pools.flat().map((token) => graph.find(token)));
});

test('a graph leaves out pools that an exchange cannot have', () => {
  const graph = toPoolGraph(toPoolDirectory([`${a}-${a}`, `${a}-${b}`, `${b}-${a}`, `${d}-${c}`]));
  expect([a, b, c, d].map((token) => graph.placesOf[graph.find(token) ?? -1])).toEqual([[1], [1], [], []]);
});
