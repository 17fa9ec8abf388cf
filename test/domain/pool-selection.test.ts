import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type ExchangeState, poolPairAt } from '../../src/domain/exchange.ts';
import type { PoolPairOrder } from '../../src/domain/page.ts';
import type { PoolOrder } from '../../src/domain/pool-order.ts';
import { nativeLiquidity, type PoolPair, poolPairId } from '../../src/domain/pool-pair.ts';
import {
  changedPlaces,
  createPlaceSelector,
  type PoolPairFilter,
  type PriceSelection,
} from '../../src/domain/pool-selection.ts';
import { NATIVE_TOKEN_ID } from '../../src/domain/token.ts';
import { anyPools, exchangeStateOf, listPools, poolOf, tokenId } from './pools.ts';
import { poolOfV3, stateOfV3 } from './v3-pools.ts';

describe('a list of pools', () => {
  const [a, b, c] = [tokenId('a'), tokenId('b'), tokenId('c')];
  const nativeA = poolOf(5n, 1n, { token1Id: NATIVE_TOKEN_ID, token2Id: a });
  const nativeB = poolOf(9n, 1n, { token1Id: NATIVE_TOKEN_ID, token2Id: b });
  const nativeC = poolOf(5n, 0n, { token1Id: NATIVE_TOKEN_ID, token2Id: c });
  const ab = poolOf(7n, 7n, { token1Id: a, token2Id: b });
  const bc = poolOf(0n, 7n, { token1Id: b, token2Id: c });
  const state = exchangeStateOf(1_000, [bc, nativeC, ab, nativeB, nativeA]);

  const ALL: PoolPairFilter = {};

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
      expect(listPools(state, filter, 'ID_ASC')).toEqual(pools);
    });
  });

  describe('an order', () => {
    test.each<[PoolPairOrder, object[]]>([
      ['ID_ASC', [nativeA, nativeB, nativeC, ab, bc]],
      ['ID_DESC', [bc, ab, nativeC, nativeB, nativeA]],
      ['NATIVE_LIQUIDITY_DESC', [nativeB, nativeA, nativeC, ab, bc]],
      ['NON_EMPTY_FIRST', [nativeA, nativeB, ab, nativeC, bc]],
    ])('%s', (order, pools) => {
      expect(listPools(state, ALL, order)).toEqual(pools);
    });

    test('by liquidity has most of the native coin first, pools without it last, and equal pools by id', () => {
      fc.assert(
        fc.property(anyPools, (pools) => {
          const sorted = listPools(exchangeStateOf(1_000, pools), ALL, 'NATIVE_LIQUIDITY_DESC');
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
      const sorted = listPools(exchangeStateOf(1_000, pools), ALL, 'NATIVE_LIQUIDITY_DESC');
      expect(sorted.map(nativeLiquidity)).toEqual(held.toSorted((x, y) => Number(y - x)));
    });
  });

  describe('a list', () => {
    test('of the pools of one token is the list of all pools without the others, in any order', () => {
      const orders = fc.constantFrom<PoolPairOrder[]>('ID_ASC', 'ID_DESC', 'NATIVE_LIQUIDITY_DESC');
      fc.assert(
        fc.property(
          anyPools,
          orders,
          fc.boolean(),
          fc.constantFrom(NATIVE_TOKEN_ID, a, b),
          (pools, order, nonEmpty, id) => {
            const all = listPools(exchangeStateOf(1_000, pools), { nonEmpty }, order);
            const ofToken = listPools(exchangeStateOf(1_000, pools), { nonEmpty, tokenId: id }, order);
            expect(ofToken).toEqual(all.filter(({ token1Id, token2Id }) => token1Id === id || token2Id === id));
          },
        ),
      );
    });
  });
});

describe('the prices of a subscription', () => {
  const [a, b, c, d] = [tokenId('a'), tokenId('b'), tokenId('c'), tokenId('d')];
  const ab = poolOf(1n, 1n, { token1Id: a, token2Id: b });
  const ac = poolOf(2n, 2n, { token1Id: a, token2Id: c });
  const bc = poolOf(3n, 3n, { token1Id: b, token2Id: c });
  const cd = poolOf(4n, 4n, { token1Id: c, token2Id: d });
  const state = exchangeStateOf(1_000, [cd, bc, ac, ab]);

  /** The selected pools of a state; only those that changed, if there is an earlier state. */
  function select(selection: PriceSelection, of: ExchangeState, before?: ExchangeState) {
    const placesIn = createPlaceSelector(selection);
    const places = before === undefined ? placesIn(of) : changedPlaces(of, before, placesIn);
    return places.map((place) => poolPairAt(of, place));
  }

  describe('selected pools', () => {
    test.each<[string, PriceSelection, object[]]>([
      ['nothing named: of all pools, in order of their ids', {}, [ab, ac, bc, cd]],
      ['of a pool named in the chain’s order', { poolPairs: [{ token1Id: b, token2Id: c }] }, [bc]],
      ['of a pool named the other way round', { poolPairs: [{ token1Id: c, token2Id: b }] }, [bc]],
      ['of a pool that is not there: none', { poolPairs: [{ token1Id: a, token2Id: d }] }, []],
      ['of pools that hold a token', { tokenIds: [c] }, [ac, bc, cd]],
      ['of several tokens, each pool once', { tokenIds: [a, b] }, [ab, ac, bc]],
      ['of both: one or the other', { poolPairs: [{ token1Id: d, token2Id: c }], tokenIds: [a] }, [ab, ac, cd]],
      [
        'of a pool named twice: once',
        {
          poolPairs: [
            { token1Id: a, token2Id: b },
            { token1Id: b, token2Id: a },
          ],
        },
        [ab],
      ],
      ['of no pool and no token: none', { poolPairs: [], tokenIds: [] }, []],
    ])('%s', (_, selection, pools) => {
      expect(select(selection, state)).toEqual(pools);
    });
  });

  describe('changed pools', () => {
    const next = exchangeStateOf(
      1_001,
      [ab, { ...ac, reserve1: 9n }, { ...bc, reserve2: 9n }].map((pool) => ({ ...pool, beaconHeight: 1_001 })),
    );
    const [, acNext, bcNext] = select({}, next);

    test('have other reserves than before, on either side', () => {
      expect(select({}, next, state)).toEqual([acNext, bcNext]);
    });

    test('include a new pool', () => {
      expect(select({}, state, next)).toEqual([ac, bc, cd]);
    });

    test('are among the selected', () => {
      expect(select({ tokenIds: [a] }, next, state)).toEqual([acNext]);
      expect(select({ poolPairs: [{ token1Id: a, token2Id: b }] }, next, state)).toEqual([]);
    });

    test('do not include a pool that is only at another place', () => {
      const [before, now] = [exchangeStateOf(1_000, [ab, cd]), exchangeStateOf(1_001, [ab, ac, cd])];
      expect(select({}, now, before)).toEqual([{ ...ac, beaconHeight: 1_001 }]);
      expect(select({}, before, now)).toEqual([]);
    });
  });

  describe('of V3', () => {
    const tokens = { token1Id: a, token2Id: b };
    const poolIn = (number: number, reserve: bigint) => poolOfV3([a, b], [reserve, reserve], { number });
    const [small, large, empty] = [poolIn(1, 5n), poolIn(2, 9n), poolIn(3, 0n)];
    const other = poolOfV3([a, c], [5n, 5n]);
    const v3 = stateOfV3([small, large, empty, other]);
    const ids = (pools: readonly PoolPair[]) => pools.map(poolPairId);

    test('are the pools that are named, and the one with the most liquidity without a pool id', () => {
      const named = (pool: PoolPair) => ({ token1Id: b, token2Id: a, poolId: poolPairId(pool) });
      expect(ids(select({ poolPairs: [tokens] }, v3))).toEqual([poolPairId(large)]);
      expect(ids(select({ poolPairs: [{ ...tokens, poolId: null }] }, v3))).toEqual([poolPairId(large)]);
      expect(ids(select({ poolPairs: [named(empty), named(small)] }, v3))).toEqual(ids([small, empty]));
      expect(ids(select({ poolPairs: [tokens, named(large)] }, v3))).toEqual([poolPairId(large)]);
      expect(select({ poolPairs: [named(other)] }, v3)).toEqual([]);
      expect(select({ poolPairs: [named(small)] }, state)).toEqual([]);
      expect(ids(select({ tokenIds: [b] }, v3))).toEqual(ids([small, large, empty]));
    });

    test('are looked for once, however often a list names their tokens', () => {
      const get = vi.spyOn(v3.directory.placesOfToken as Map<string, readonly number[]>, 'get');
      expect(ids(select({ poolPairs: Array(100).fill(tokens) }, v3))).toEqual([poolPairId(large)]);
      expect(get).toHaveBeenCalledTimes(2);
    });

    test('have changed if another pool has the most liquidity now, although it is as it was', () => {
      const before = stateOfV3([poolIn(1, 50n), large, empty, other]);
      const selection = { poolPairs: [tokens], tokenIds: [c] };
      expect(ids(select(selection, before))).toEqual(ids([small, other]));
      for (const directory of [before.directory, v3.directory])
        expect(ids(select(selection, v3, { ...before, directory }))).toEqual([poolPairId(large)]);
      expect(ids(select(selection, v3, v3))).toEqual([]);
    });

    test('have all changed at the first height of V3', () => {
      expect(ids(select({ poolPairs: [tokens] }, v3, state))).toEqual([poolPairId(large)]);
      expect(ids(select({}, v3, state))).toEqual(ids([small, large, empty, other]));
    });

    test('have changed with what they hold and with their orders, but not with an equal list of orders', () => {
      const order: PoolOrder = { id: 'f', sells: 1, rate1: 5n, rate2: 7n, balance1: 5n, balance2: 0n };
      const stateWith = (orders: readonly PoolOrder[] | undefined, value1 = 5n) =>
        stateOfV3([{ ...small, v3: small.v3 && { ...small.v3, orders, value1 } }]);
      const changed = (now: ExchangeState, before: ExchangeState) => select({}, now, before).length > 0;
      expect(changed(stateWith([order]), stateWith([{ ...order }]))).toBe(false);
      expect(changed(stateWith([order]), stateWith([]))).toBe(true);
      expect(changed(stateWith([{ ...order, balance1: 4n }]), stateWith([order]))).toBe(true);
      expect(changed(stateWith([]), stateWith([], 4n))).toBe(true);
      expect(changed(stateWith(undefined), stateWith(undefined))).toBe(false);
      // What is not known may have changed.
      expect(changed(stateWith(undefined), stateWith([order]))).toBe(true);
    });
  });
});
