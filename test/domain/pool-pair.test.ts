import { describe, expect, test } from 'vitest';
import { isNonEmpty, nativeLiquidity, parsePoolPairId, poolPairId, poolPairKey } from '../../src/domain/pool-pair.ts';
import { NATIVE_TOKEN_ID } from '../../src/domain/token.ts';
import { poolOf, tokenId } from './pools.ts';

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
    expect(isNonEmpty(poolOf(1n, 1n))).toBe(true);
    expect(isNonEmpty(poolOf(0n, 1n))).toBe(false);
    expect(isNonEmpty(poolOf(1n, 0n))).toBe(false);
  });

  test('contain the native coin on the first side, on the second, or not', () => {
    expect(nativeLiquidity(poolOf(5n, 6n, { token1Id: NATIVE_TOKEN_ID }))).toBe(5n);
    expect(nativeLiquidity(poolOf(5n, 6n, { token2Id: NATIVE_TOKEN_ID }))).toBe(6n);
    expect(nativeLiquidity(poolOf(5n, 6n))).toBeUndefined();
    expect(nativeLiquidity(poolOf(0n, 6n, { token1Id: NATIVE_TOKEN_ID }))).toBe(0n);
  });
});
