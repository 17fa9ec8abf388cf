import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { poolCount } from '../../../src/domain/exchange.ts';
import { type PoolPair, poolPairKey } from '../../../src/domain/pool-pair.ts';
import { createPoolDirectories } from '../../../src/upstream/node/pools-reader.ts';
import { anyPools, exchangeStateOf, poolOf, tokenId } from '../../domain/pools.ts';
import { readState } from './states.ts';

const [a, b, c, d] = [tokenId('a'), tokenId('b'), tokenId('c'), tokenId('d')];
const ab = poolOf(1n, 1n, { token1Id: a, token2Id: b });
const ac = poolOf(2n, 2n, { token1Id: a, token2Id: c });
const cd = poolOf(3n, 3n, { token1Id: c, token2Id: d });

/** States of one height after another, as they are read from one node. */
function statesOf(...heights: readonly (readonly PoolPair[])[]) {
  const states = createPoolDirectories();
  return heights.map((pools, n) => {
    const beaconHeight = 1_000 + n;
    const members = pools.map(
      (pool) =>
        `"${poolPairKey({ ...pool, beaconHeight })}":{"Token1IDStr":"${pool.token1Id}","Token1PoolValue":${pool.reserve1},"Token2IDStr":"${pool.token2Id}","Token2PoolValue":${pool.reserve2}}`,
    );
    return readState(`{"Id":1,"Result":{"PDEPoolPairs":{${members}}},"Error":null}`, beaconHeight, states);
  });
}

test('a state has its pools in order of their ids, of several with one id the last, whatever the state before has', () => {
  fc.assert(
    fc.property(anyPools, anyPools, (before, pools) => {
      const [, state] = statesOf(before, [...pools, ...before.slice(0, 3), ...pools]);
      expect(state).toEqual(exchangeStateOf(1_001, [...before.slice(0, 3), ...pools]));
    }),
  );
});

describe('states share a directory', () => {
  test('if they have the same pools, whatever their order and reserves', () => {
    const [first, second] = statesOf([ab, cd], [{ ...cd, reserve1: 9n }, ab]);
    expect(second?.directory).toBe(first?.directory);
    expect(second?.directory).toEqual({
      ids: [`${a}-${b}`, `${c}-${d}`],
      token1Ids: [a, c],
      token2Ids: [b, d],
      placesOfToken: new Map([
        [a, [0]],
        [b, [0]],
        [c, [1]],
        [d, [1]],
      ]),
    });
  });

  test('also if a state with other pools was read between them', () => {
    const [first, other, third] = statesOf([ab, cd], [ab], [ab, cd]);
    expect(third?.directory).toBe(first?.directory);
    expect(other?.directory).not.toBe(first?.directory);
  });

  test('not if one has another pool', () => {
    const states = statesOf([ab, cd], [ab, ac, cd], [ab, ac]);
    expect(states.map(({ directory }) => directory.ids)).toEqual([
      [`${a}-${b}`, `${c}-${d}`],
      [`${a}-${b}`, `${a}-${c}`, `${c}-${d}`],
      [`${a}-${b}`, `${a}-${c}`],
    ]);
    expect(states.map(poolCount)).toEqual([2, 3, 2]);
  });
});
