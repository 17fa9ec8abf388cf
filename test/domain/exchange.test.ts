import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ExchangeState, findPoolPair, poolCount, toPoolDirectory } from '../../src/domain/exchange.ts';
import type { PoolPairOrder } from '../../src/domain/page.ts';
import { type PoolPairFilter, selectPoolPairs } from '../../src/domain/pool-list.ts';
import { nativeLiquidity, poolPairId } from '../../src/domain/pool-pair.ts';
import { NATIVE_TOKEN_ID } from '../../src/domain/token-id.ts';
import { anyPools, exchangeStateOf, poolOf, tokenId } from './pools.ts';

const [a, b, c] = [tokenId('a'), tokenId('b'), tokenId('c')];
const nativeA = poolOf(5n, 1n, { token1Id: NATIVE_TOKEN_ID, token2Id: a });
const nativeB = poolOf(9n, 1n, { token1Id: NATIVE_TOKEN_ID, token2Id: b });
const nativeC = poolOf(5n, 0n, { token1Id: NATIVE_TOKEN_ID, token2Id: c });
const ab = poolOf(7n, 7n, { token1Id: a, token2Id: b });
const bc = poolOf(0n, 7n, { token1Id: b, token2Id: c });
const state = exchangeStateOf(1_000, [bc, nativeC, ab, nativeB, nativeA]);

const ALL: PoolPairFilter = {};

const poolPairsOf = (exchange: ExchangeState) => selectPoolPairs(exchange, ALL, 'ID_ASC').slice();

describe('the pools of a state', () => {
  test('are in order of their ids', () => {
    expect(state.beaconHeight).toBe(1_000);
    expect(poolPairsOf(state)).toEqual([nativeA, nativeB, nativeC, ab, bc]);
    expect(poolCount(state)).toBe(5);
  });

  test('are the last of several with one id', () => {
    expect(poolPairsOf(exchangeStateOf(1_000, [bc, ab, { ...bc, reserve1: 1n }]))).toEqual([
      ab,
      { ...bc, reserve1: 1n },
    ]);
  });

  test('are found by their tokens in either order', () => {
    expect(findPoolPair(state, a, b)).toEqual(ab);
    expect(findPoolPair(state, b, a)).toEqual(ab);
    expect(findPoolPair(state, a, c)).toBeUndefined();
    expect(findPoolPair(state, a, a)).toBeUndefined();
  });
});

describe('a directory', () => {
  const ids = [`${a}-${b}`, `${a}-${c}`, `${c}-${NATIVE_TOKEN_ID}`];

  test('has the ids of pools and tokens by place, and the places of the pools of each token, in order', () => {
    expect(toPoolDirectory(ids)).toEqual({
      ids,
      token1Ids: [a, a, c],
      token2Ids: [b, c, NATIVE_TOKEN_ID],
      places: new Map(ids.map((id, place) => [id, place])),
      placesOfToken: new Map([
        [a, [0, 1]],
        [b, [0]],
        [c, [1, 2]],
        [NATIVE_TOKEN_ID, [2]],
      ]),
    });
  });

  test('is the same with or without a similar one', () => {
    expect(toPoolDirectory(ids, toPoolDirectory(ids.slice(1)))).toEqual(toPoolDirectory(ids));
  });
});

describe('a filter', () => {
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
    expect(selectPoolPairs(state, filter, 'ID_ASC').slice()).toEqual(pools);
  });
});

describe('an order', () => {
  test.each<[PoolPairOrder, object[]]>([
    ['ID_ASC', [nativeA, nativeB, nativeC, ab, bc]],
    ['ID_DESC', [bc, ab, nativeC, nativeB, nativeA]],
    ['NATIVE_LIQUIDITY_DESC', [nativeB, nativeA, nativeC, ab, bc]],
  ])('%s', (order, pools) => {
    expect(selectPoolPairs(state, ALL, order).slice()).toEqual(pools);
  });

  test('by liquidity has most of the native coin first, pools without it last, and equal pools by id', () => {
    fc.assert(
      fc.property(anyPools, (pools) => {
        const sorted = selectPoolPairs(exchangeStateOf(1_000, pools), ALL, 'NATIVE_LIQUIDITY_DESC').slice();
        const withIt = sorted.filter((pool) => nativeLiquidity(pool) !== undefined);
        expect(sorted.slice(0, withIt.length)).toEqual(withIt);

        const byHand = pools
          .toSorted((x, y) => (poolPairId(x) < poolPairId(y) ? -1 : 1))
          .toSorted((x, y) => Number((nativeLiquidity(y) ?? -1n) - (nativeLiquidity(x) ?? -1n)));
        expect(sorted).toEqual(byHand);
      }),
    );
  });

  test('by liquidity is exact to the last unit, also where doubles are equal', () => {
    const held = [2n ** 63n, 2n ** 63n + 2n, 2n ** 63n + 1n, 2n ** 53n, 2n ** 53n + 1n];
    const pools = held.map((reserve1, n) =>
      poolOf(reserve1, 1n, { token1Id: NATIVE_TOKEN_ID, token2Id: tokenId(`${n}`) }),
    );
    const sorted = selectPoolPairs(exchangeStateOf(1_000, pools), ALL, 'NATIVE_LIQUIDITY_DESC').slice();
    expect(sorted.map(nativeLiquidity)).toEqual(held.toSorted((x, y) => Number(y - x)));
  });
});

describe('a list', () => {
  const anyPart = fc.tuple(fc.nat({ max: 8 }), fc.nat({ max: 8 }));

  test('has the same parts as an array of its pools, in any order', () => {
    const orders = fc.constantFrom<PoolPairOrder[]>('ID_ASC', 'ID_DESC', 'NATIVE_LIQUIDITY_DESC');
    fc.assert(
      fc.property(anyPools, orders, anyPart, fc.boolean(), (pools, order, [start, end], nonEmpty) => {
        const list = selectPoolPairs(exchangeStateOf(1_000, pools), { nonEmpty }, order);
        const array = list.slice();
        expect(array.length).toBe(list.length);
        expect(list.slice(start, end)).toEqual(array.slice(start, end));
        expect(list.at(start)).toEqual(array[start]);
      }),
    );
  });

  test('of the pools of one token is the list of all pools without the others, in any order', () => {
    const orders = fc.constantFrom<PoolPairOrder[]>('ID_ASC', 'ID_DESC', 'NATIVE_LIQUIDITY_DESC');
    fc.assert(
      fc.property(
        anyPools,
        orders,
        fc.boolean(),
        fc.constantFrom(NATIVE_TOKEN_ID, a, b),
        (pools, order, nonEmpty, id) => {
          const all = selectPoolPairs(exchangeStateOf(1_000, pools), { nonEmpty }, order).slice();
          const ofToken = selectPoolPairs(exchangeStateOf(1_000, pools), { nonEmpty, tokenId: id }, order).slice();
          expect(ofToken).toEqual(all.filter(({ token1Id, token2Id }) => token1Id === id || token2Id === id));
        },
      ),
    );
  });
});
