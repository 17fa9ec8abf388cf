import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findPoolPair,
  type PoolPairFilter,
  type PoolPairOrder,
  selectPoolPairs,
  toExchangeState,
} from '../../src/domain/exchange.ts';
import { nativeLiquidity, poolPairId } from '../../src/domain/pool-pair.ts';
import { NATIVE_TOKEN_ID } from '../../src/domain/token-id.ts';
import { anyPools, poolOf, tokenId } from './pools.ts';

const [a, b, c] = [tokenId('a'), tokenId('b'), tokenId('c')];
const nativeA = poolOf(5n, 1n, { token1Id: NATIVE_TOKEN_ID, token2Id: a });
const nativeB = poolOf(9n, 1n, { token1Id: NATIVE_TOKEN_ID, token2Id: b });
const nativeC = poolOf(5n, 0n, { token1Id: NATIVE_TOKEN_ID, token2Id: c });
const ab = poolOf(7n, 7n, { token1Id: a, token2Id: b });
const bc = poolOf(0n, 7n, { token1Id: b, token2Id: c });
const state = toExchangeState(1_000, [bc, nativeC, ab, nativeB, nativeA]);

const ALL: PoolPairFilter = {};

describe('which pools does a state hold', () => {
  test('all of them, in order of their ids whatever order they came in', () => {
    expect(state.beaconHeight).toBe(1_000);
    expect([...state.poolPairs]).toEqual([nativeA, nativeB, nativeC, ab, bc].map((pool) => [poolPairId(pool), pool]));
  });

  test('a pool is found by its tokens in either order', () => {
    expect(findPoolPair(state, a, b)).toBe(ab);
    expect(findPoolPair(state, b, a)).toBe(ab);
    expect(findPoolPair(state, a, c)).toBeUndefined();
    expect(findPoolPair(state, a, a)).toBeUndefined();
  });
});

describe('which pools pass a filter', () => {
  test.each<[string, PoolPairFilter, object[]]>([
    ['no filter: all', ALL, [nativeA, nativeB, nativeC, ab, bc]],
    ['a token on either side', { tokenId: b }, [nativeB, ab, bc]],
    ['any of several tokens', { anyTokenOf: new Set([a, c]) }, [nativeA, nativeC, ab, bc]],
    ['any of no tokens: none', { anyTokenOf: new Set() }, []],
    ['two full sides', { nonEmpty: true }, [nativeA, nativeB, ab]],
    ['nonEmpty: false does not restrict', { nonEmpty: false }, [nativeA, nativeB, nativeC, ab, bc]],
    ['several conditions at once', { tokenId: b, anyTokenOf: new Set([a, c]), nonEmpty: true }, [ab]],
    ['a token of no pool: none', { tokenId: tokenId('f') }, []],
  ])('%s', (_, filter, pools) => {
    expect(selectPoolPairs(state, filter, 'ID_ASC')).toEqual(pools);
  });
});

describe('in which order are pools given', () => {
  test.each<[PoolPairOrder, object[]]>([
    ['ID_ASC', [nativeA, nativeB, nativeC, ab, bc]],
    ['ID_DESC', [bc, ab, nativeC, nativeB, nativeA]],
    ['NATIVE_LIQUIDITY_DESC', [nativeB, nativeA, nativeC, ab, bc]],
  ])('%s', (order, pools) => {
    expect(selectPoolPairs(state, ALL, order)).toEqual(pools);
  });

  test('whatever the pools are: most of the native coin first, those without it last, equals by id', () => {
    fc.assert(
      fc.property(anyPools, (pools) => {
        const sorted = selectPoolPairs(toExchangeState(1, pools), ALL, 'NATIVE_LIQUIDITY_DESC');
        const withIt = sorted.filter((pool) => nativeLiquidity(pool) !== undefined);
        expect(sorted.slice(0, withIt.length)).toEqual(withIt);

        const byHand = pools
          .toSorted((x, y) => (poolPairId(x) < poolPairId(y) ? -1 : 1))
          .toSorted((x, y) => Number((nativeLiquidity(y) ?? -1n) - (nativeLiquidity(x) ?? -1n)));
        expect(sorted).toEqual(byHand);
      }),
    );
  });
});
