import { describe, expect, test } from 'vitest';
import type { ExchangeState } from '../../src/domain/exchange.ts';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import { createPoolCache, createPoolJsonCache } from '../../src/loaders/pool-cache.ts';
import { exchangeStateOf, poolOf, tokenId } from '../domain/pools.ts';
import { poolOfV3, stateOfV3 } from '../domain/v3-pools.ts';

const [a, b, c] = [tokenId('a'), tokenId('b'), tokenId('c')];
const ab = poolOf(7n, 7n, { token1Id: a, token2Id: b });
const bc = poolOf(0n, 7n, { token1Id: b, token2Id: c });
const state = exchangeStateOf(1_000, [bc, ab]);

describe('the pools of a state', () => {
  test('are created once, however they are found', () => {
    const pools = createPoolCache();
    const pool = pools.of(state).at(0);
    expect(pool).toEqual(ab);
    expect(pools.of(state).at(0)).toBe(pool);
  });

  test('are other objects where they are pinned to the height', () => {
    const pools = createPoolCache();
    const pinned = pools.pinned(state).at(0);
    expect(pinned).toEqual({ ...ab, isPinned: true });
    expect(pools.pinned(state).at(0)).toBe(pinned);
    expect(pools.of(state).at(0)).toEqual(ab);
  });

  test('are not those of another state at the same height', () => {
    const pools = createPoolCache();
    const other = exchangeStateOf(1_000, [{ ...ab, reserve1: 9n }]);
    expect(pools.of(state).at(0)).toEqual(ab);
    expect(pools.of(other).at(0)).toEqual({ ...ab, reserve1: 9n });
  });

  const earlier = [997, 998, 999].map((height) => exchangeStateOf(height, [{ ...ab, beaconHeight: height }]));

  test('are dropped when two other states beside the newest were used, with their lists and their JSON', () => {
    const pools = createPoolCache();
    const use = (each: ExchangeState) => pools.of(each).at(0);
    use(exchangeStateOf(1_001, []));
    const first = use(state);
    for (const each of [earlier[0], state, earlier[1], state]) if (each !== undefined) use(each);
    expect(use(state)).toBe(first);
    expect(pools.jsonOf(first)).toBe(pools.of(state).json());
    for (const each of earlier) use(each);
    expect(pools.jsonOf(first)).toBeUndefined();
    expect(use(state)).not.toBe(first);
  });

  test('are not dropped while their state is the newest, whatever else is used', () => {
    const pools = createPoolCache();
    const pool = pools.of(state).at(0);
    for (const each of [...earlier, ...earlier]) pools.of(each).at(0);
    for (const each of [...earlier, state]) pools.pinned(each).at(0);
    expect(pools.of(state).at(0)).toBe(pool);
    expect(pools.jsonOf(pool)).toBe(pools.of(state).json());
  });

  test('are not dropped for those of the version that does not trade', () => {
    const pools = createPoolCache();
    const trading = stateOfV3([poolOfV3([a, b], [5n, 5n])]);
    const pool = pools.of(trading).at(0);
    for (const each of [exchangeStateOf(trading.beaconHeight, [ab]), ...earlier]) pools.of(each).at(0);
    expect(pools.of(trading).at(0)).toBe(pool);
  });

  test('stay for a while when there is a newer state', () => {
    const pools = createPoolCache();
    const pool = pools.of(state).at(0);
    pools.of(exchangeStateOf(1_001, [])).list({}, 'ID_ASC');
    expect(pools.of(state).at(0)).toBe(pool);
  });
});

describe('a list that is filtered or sorted', () => {
  test('is created once for all clients that request the same of one state', () => {
    const pools = createPoolCache();
    const filter = { tokenId: b, anyTokenOf: new Set([a, c]) };
    const list = pools.of(state).list(filter, 'ID_ASC');
    expect(list).toEqual([0, 1]);
    expect(pools.of(state).list({ ...filter, anyTokenOf: new Set([c, a]) }, 'ID_ASC')).toBe(list);

    const others = [
      pools.of(state).list(filter, 'ID_DESC'),
      pools.of(state).list({ ...filter, anyTokenOf: new Set([a]) }, 'ID_ASC'),
      pools.of({ ...state }).list(filter, 'ID_ASC'),
    ];
    expect(others).toEqual([[1, 0], [0], [0, 1]]);
    expect(others).not.toContain(list);
  });

  test('is cached while it is among the last that were requested', () => {
    const { list } = createPoolCache().of(state);
    const request = (end: string) => list({ anyTokenOf: new Set([tokenId(end)]) }, 'ID_ASC');
    const [first, second] = [request('a'), request('b')];
    for (const end of ['1', '2', '3', '4', '5', '6']) request(end);
    expect(request('a')).toBe(first);
    request('7');
    expect(request('a')).toBe(first);
    expect(request('b')).not.toBe(second);
  });
});

/** A cache of 100 characters, in which texts of 20 are named after their pools. */
function openJsonCache() {
  const cache = createPoolJsonCache(100);
  const [plan, otherPlan] = [{}, {}];
  const pools = new Map<string, PoolPair>();
  const named = (name: string) => {
    const pool = pools.get(name) ?? { ...ab };
    pools.set(name, pool);
    return pool;
  };
  return {
    set(name: string, length = 20) {
      cache.set(plan, named(name), { text: 'x'.repeat(length), validity: undefined });
    },
    lengthOf: (name: string) => cache.get(plan, named(name))?.text.length,
    ofOtherPlan: (name: string) => cache.get(otherPlan, named(name)),
  };
}

describe('the JSON of pools', () => {
  test('is found by its plan and its pool', () => {
    const cache = openJsonCache();
    cache.set('a', 7);
    expect(cache.lengthOf('a')).toBe(7);
    expect(cache.lengthOf('b')).toBeUndefined();
    expect(cache.ofOtherPlan('a')).toBeUndefined();
  });

  test('takes the room of the text that it replaces', () => {
    const cache = openJsonCache();
    cache.set('a');
    for (let n = 0; n < 10; n++) cache.set('b', 80);
    expect(['a', 'b'].map(cache.lengthOf)).toEqual([20, 80]);
  });

  test('is dropped when there is no more room, and there is room for what comes', () => {
    const cache = openJsonCache();
    for (const name of ['a', 'b', 'c', 'd', 'e']) cache.set(name);
    expect(['a', 'e'].map(cache.lengthOf)).toEqual([20, 20]);
    for (let n = 0; n < 100; n++) {
      cache.set(`${n}`);
      expect(cache.lengthOf(`${n}`)).toBe(20);
    }
    expect(cache.lengthOf('a')).toBeUndefined();
  });
});
