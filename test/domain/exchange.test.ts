import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ExchangeState,
  findPoolPair,
  keepingPools,
  poolCount,
  toExchangeState,
} from '../../src/domain/exchange.ts';
import type { PoolPairOrder } from '../../src/domain/page.ts';
import { createPoolLists, type PoolPairFilter, selectPoolPairs } from '../../src/domain/pool-list.ts';
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

const poolPairsOf = (exchange: ExchangeState) => selectPoolPairs(exchange, ALL, 'ID_ASC').slice();

describe('which pools does a state hold', () => {
  test('all of them, in order of their ids whatever order they came in', () => {
    expect(state.beaconHeight).toBe(1_000);
    expect(poolPairsOf(state)).toEqual([nativeA, nativeB, nativeC, ab, bc]);
    expect(poolCount(state)).toBe(5);
  });

  test('of several with one id the last', () => {
    expect(poolPairsOf(toExchangeState(1_000, [bc, ab, { ...bc, reserve1: 1n }]))).toEqual([
      ab,
      { ...bc, reserve1: 1n },
    ]);
  });

  test('a pool is found by its tokens in either order', () => {
    expect(findPoolPair(state, a, b)).toEqual(ab);
    expect(findPoolPair(state, b, a)).toEqual(ab);
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
    expect(selectPoolPairs(state, filter, 'ID_ASC').slice()).toEqual(pools);
  });
});

describe('in which order are pools given', () => {
  test.each<[PoolPairOrder, object[]]>([
    ['ID_ASC', [nativeA, nativeB, nativeC, ab, bc]],
    ['ID_DESC', [bc, ab, nativeC, nativeB, nativeA]],
    ['NATIVE_LIQUIDITY_DESC', [nativeB, nativeA, nativeC, ab, bc]],
  ])('%s', (order, pools) => {
    expect(selectPoolPairs(state, ALL, order).slice()).toEqual(pools);
  });

  test('whatever the pools are: most of the native coin first, those without it last, equals by id', () => {
    fc.assert(
      fc.property(anyPools, (pools) => {
        const sorted = selectPoolPairs(toExchangeState(1_000, pools), ALL, 'NATIVE_LIQUIDITY_DESC').slice();
        const withIt = sorted.filter((pool) => nativeLiquidity(pool) !== undefined);
        expect(sorted.slice(0, withIt.length)).toEqual(withIt);

        const byHand = pools
          .toSorted((x, y) => (poolPairId(x) < poolPairId(y) ? -1 : 1))
          .toSorted((x, y) => Number((nativeLiquidity(y) ?? -1n) - (nativeLiquidity(x) ?? -1n)));
        expect(sorted).toEqual(byHand);
      }),
    );
  });

  test('by the last unit of the native coin, where a double could not tell', () => {
    const held = [2n ** 63n, 2n ** 63n + 2n, 2n ** 63n + 1n, 2n ** 53n, 2n ** 53n + 1n];
    const pools = held.map((reserve1, n) =>
      poolOf(reserve1, 1n, { token1Id: NATIVE_TOKEN_ID, token2Id: tokenId(`${n}`) }),
    );
    const sorted = selectPoolPairs(toExchangeState(1_000, pools), ALL, 'NATIVE_LIQUIDITY_DESC').slice();
    expect(sorted.map(nativeLiquidity)).toEqual(held.toSorted((x, y) => Number(y - x)));
  });
});

describe('what is a list', () => {
  const anyPart = fc.tuple(fc.nat({ max: 8 }), fc.nat({ max: 8 }));

  test('what an array of its pools would be, in any order and in any part', () => {
    const orders = fc.constantFrom<PoolPairOrder[]>('ID_ASC', 'ID_DESC', 'NATIVE_LIQUIDITY_DESC');
    fc.assert(
      fc.property(anyPools, orders, anyPart, fc.boolean(), (pools, order, [start, end], nonEmpty) => {
        const list = selectPoolPairs(toExchangeState(1_000, pools), { nonEmpty }, order);
        const array = list.slice();
        expect(array.length).toBe(list.length);
        expect(list.slice(start, end)).toEqual(array.slice(start, end));
        expect(list.at(start)).toEqual(array[start]);
      }),
    );
  });

  test('of the pools of one token, what is left of all pools without the others, in any order', () => {
    const orders = fc.constantFrom<PoolPairOrder[]>('ID_ASC', 'ID_DESC', 'NATIVE_LIQUIDITY_DESC');
    fc.assert(
      fc.property(
        anyPools,
        orders,
        fc.boolean(),
        fc.constantFrom(NATIVE_TOKEN_ID, a, b),
        (pools, order, nonEmpty, id) => {
          const all = selectPoolPairs(toExchangeState(1_000, pools), { nonEmpty }, order).slice();
          const ofToken = selectPoolPairs(toExchangeState(1_000, pools), { nonEmpty, tokenId: id }, order).slice();
          expect(ofToken).toEqual(all.filter(({ token1Id, token2Id }) => token1Id === id || token2Id === id));
        },
      ),
    );
  });

  test('no reason to keep a pool that nobody has looked at', () => {
    const kept = keepingPools(state);
    const list = selectPoolPairs(kept, { nonEmpty: true }, 'NATIVE_LIQUIDITY_DESC');
    expect(kept.pools).toEqual(Array(5).fill(undefined));
    expect(list.at(0)).toEqual(nativeB);
    expect(kept.pools?.filter((pool) => pool !== undefined)).toEqual([nativeB]);
  });

  test('put in order once for all who ask for the same of one state', () => {
    const lists = createPoolLists();
    const filter = { tokenId: b, anyTokenOf: new Set([a, c]) };
    const list = lists.select(state, filter, 'ID_ASC');
    expect(list.slice()).toEqual([ab, bc]);
    expect(lists.select(state, { ...filter, anyTokenOf: new Set([c, a]) }, 'ID_ASC')).toBe(list);

    const others = [
      lists.select(state, filter, 'ID_DESC'),
      lists.select(state, { ...filter, anyTokenOf: new Set([a]) }, 'ID_ASC'),
      lists.select({ ...state }, filter, 'ID_ASC'),
    ];
    expect(others.map((other) => other.slice())).toEqual([[bc, ab], [ab], [ab, bc]]);
    expect(others).not.toContain(list);
  });

  test('kept as long as it is among the last that were asked for', () => {
    const lists = createPoolLists();
    const ask = (end: string) => lists.select(state, { anyTokenOf: new Set([tokenId(end)]) }, 'ID_ASC');
    const [first, second] = [ask('a'), ask('b')];
    for (const end of ['1', '2', '3', '4', '5', '6']) ask(end);
    expect(ask('a')).toBe(first);
    ask('7');
    expect(ask('a')).toBe(first);
    expect(ask('b')).not.toBe(second);
  });
});
