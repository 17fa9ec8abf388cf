import { expect, test } from 'vitest';
import { changedPools } from '../../src/pages/chain/changed-pools.ts';

const [A, B] = ['a', 'b'].map((digit) => digit.repeat(64)) as [string, string];

test('a changed pool has its market however the host spells the pool id, unless it is one of other tokens', () => {
  const pool = (hash: string, token1PoolValue: string) => ({
    id: `PoolPair:${A}-${B}-${hash}`,
    poolId: `${A}-${B}-${hash}`,
    beaconHeight: 7,
    token1: { id: A, tokenId: A, symbol: 'A' },
    token2: { id: B, tokenId: B, symbol: 'B' },
    token1PoolValue,
    token2PoolValue: '5',
    price: 2,
    inversePrice: 0.5,
  });
  const pair = (poolId: string, targetId: string) => ({
    id: `Pair:${poolId}`,
    poolId,
    tickerId: 'A_B',
    baseId: A,
    targetId,
  });
  const pairs = [pair(`${A}-${B}-C1`.toUpperCase(), B), pair(`${B}-${A}-c2`, B), pair(`${A}-${B}-c3`, 'c'.repeat(64))];
  const page = (token1PoolValue: string) => ({
    totalCount: 3,
    nodes: ['c1', 'c2', 'c3'].map((hash) => pool(hash, token1PoolValue)),
  });
  const changed = changedPools({ beaconHeight: 7, pairs, pools: page('10'), poolsBefore: page('9') });
  expect(changed.map(({ key, market }) => [key, market?.poolId])).toEqual([
    [`${A}-${B}-c1`, pairs[0]?.poolId],
    [`${A}-${B}-c2`, pairs[1]?.poolId],
    [`${A}-${B}-c3`, undefined],
  ]);
});
