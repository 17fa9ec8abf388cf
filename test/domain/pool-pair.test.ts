import { describe, expect, test } from 'vitest';
import {
  hasPrice,
  liquidityIn,
  nativeLiquidity,
  type PoolPair,
  parsePoolPairId,
  poolPairId,
  poolPairKey,
} from '../../src/domain/pool-pair.ts';
import { NATIVE_TOKEN_ID } from '../../src/domain/token.ts';
import { poolOf, tokenId } from './pools.ts';
import { poolOfV3 } from './v3-pools.ts';

const [a, b, c] = [tokenId('a'), tokenId('b'), tokenId('c')];

describe('the id of a pool', () => {
  test('has its two tokens, and the key of the node also the height', () => {
    expect(poolPairId(poolOf(1n, 1n))).toBe(`${a}-${b}`);
    expect(poolPairKey(poolOf(1n, 1n, { beaconHeight: 835_380 }))).toBe(`pdepool-835380-${a}-${b}`);
  });

  test('is read back, and no other text is', () => {
    expect(parsePoolPairId(`${a}-${b}`)).toEqual({ token1Id: a, token2Id: b });
    expect(parsePoolPairId(`${a}-${b}-${c}`)).toEqual({
      token1Id: a,
      token2Id: b,
      v3: { poolId: `${a}-${b}-${c}` },
    });
    for (const text of [
      '',
      a,
      `${a}-`,
      `${a}-${b}-`,
      `${a}-${b}-${c}-${c}`,
      `${a}-${b.toUpperCase()}`,
      `pdepool-1-${a}-${b}`,
      `${a}${b}`,
    ]) {
      expect(parsePoolPairId(text)).toBeUndefined();
    }
  });
});

describe('the reserves of a pool', () => {
  test('are both positive, or the pool is empty', () => {
    expect(hasPrice(poolOf(1n, 1n))).toBe(true);
    expect(hasPrice(poolOf(0n, 1n))).toBe(false);
    expect(hasPrice(poolOf(1n, 0n))).toBe(false);
  });

  test('contain the native coin on the first side, on the second, or not', () => {
    expect(nativeLiquidity(poolOf(5n, 6n, { token1Id: NATIVE_TOKEN_ID }))).toBe(5n);
    expect(nativeLiquidity(poolOf(5n, 6n, { token2Id: NATIVE_TOKEN_ID }))).toBe(6n);
    expect(nativeLiquidity(poolOf(5n, 6n))).toBeUndefined();
    expect(nativeLiquidity(poolOf(0n, 6n, { token1Id: NATIVE_TOKEN_ID }))).toBe(0n);
  });
});

describe('the value of what a pool holds', () => {
  const valuesOf = (pool: PoolPair) => [liquidityIn(pool, a), liquidityIn(pool, b)];

  test('is twice each side in V1', () => {
    expect(valuesOf(poolOf(5n, 7n))).toEqual([10n, 14n]);
    expect(valuesOf(poolOf(2n ** 64n - 1n, 1n))).toEqual([2n ** 65n - 2n, 2n]);
  });

  test('is that of two sides that differ, in an amplified pool', () => {
    expect(valuesOf(poolOfV3([a, b], [4_000n, 4_000n], { values: [100n, 1_900n] }))).toEqual([2_000n, 2_000n]);
    expect(valuesOf(poolOfV3([a, b], [4_000n, 1_000n], { values: [100n, 900n] }))).toEqual([3_700n, 925n]);
    // 1 + 5 * 2 / 3 and 5 + 1 * 3 / 2, rounded down.
    expect(valuesOf(poolOfV3([a, b], [2n, 3n], { values: [1n, 5n] }))).toEqual([4n, 6n]);
  });

  test('is 0 if one side is empty', () => {
    expect(valuesOf(poolOf(0n, 5n))).toEqual([0n, 0n]);
    expect(valuesOf(poolOfV3([a, b], [9n, 9n], { values: [5n, 0n] }))).toEqual([0n, 0n]);
    expect(valuesOf(poolOfV3([a, b], [0n, 9n], { values: [5n, 5n] }))).toEqual([0n, 0n]);
  });
});
