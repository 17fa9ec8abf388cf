import { describe, expect, test } from 'vitest';
import {
  type ExchangeParams,
  findPlace,
  isUnchanged,
  placeOf,
  poolCount,
  poolPairAt,
  toPoolDirectory,
} from '../../src/domain/exchange.ts';
import { parsePoolPairId } from '../../src/domain/pool-pair.ts';
import { NATIVE_TOKEN_ID } from '../../src/domain/token.ts';
import { exchangeStateOf, poolOf, tokenId } from './pools.ts';
import { PARAMS, poolIdOf, poolOfV3, stateOfV3 } from './v3-pools.ts';

const [a, b, c] = [tokenId('a'), tokenId('b'), tokenId('c')];
const ab = poolOf(7n, 7n, { token1Id: a, token2Id: b });
const bc = poolOf(0n, 7n, { token1Id: b, token2Id: c });
const state = exchangeStateOf(1_000, [bc, ab]);

describe('the pools of a state', () => {
  test('are at their places, a new object each time', () => {
    expect(poolCount(state)).toBe(2);
    expect([0, 1].map((place) => poolPairAt(state, place))).toEqual([ab, bc]);
    expect(poolPairAt(state, 0)).not.toBe(poolPairAt(state, 0));
  });

  test('are found by their tokens in either order', () => {
    expect(findPlace(state, a, b)).toBe(0);
    expect(findPlace(state, b, a)).toBe(0);
    expect(findPlace(state, a, c)).toBeUndefined();
    expect(findPlace(state, a, a)).toBeUndefined();
  });

  test('are unchanged if an earlier state has the same reserves, at whatever place', () => {
    const before = exchangeStateOf(999, [bc]);
    expect([0, 1].map((place) => isUnchanged(state, place, before))).toEqual([false, true]);
    expect(isUnchanged(state, 1, exchangeStateOf(999, [ab, { ...bc, reserve2: 8n }]))).toBe(false);
  });

  test('have changed if their fee rate has', () => {
    const pools = [poolOfV3([a, b], [5n, 6n]), poolOfV3([b, c], [7n, 8n])];
    const before = stateOfV3(pools);
    const unchangedWith = (params: Partial<ExchangeParams>) => {
      const v3 = before.v3 && { ...before.v3, params: { ...PARAMS, ...params } };
      return [0, 1].map((place) => isUnchanged({ ...before, v3 }, place, before));
    };
    const feeRatesBps = new Map([[poolIdOf(b, c), 30]]);
    expect(unchangedWith({ maxOrdersPerNft: 20, minNativeReserve: 1n })).toEqual([true, true]);
    expect(unchangedWith({ feeRatesBps })).toEqual([true, false]);
    expect(unchangedWith({ defaultFeeRateBps: 30 })).toEqual([false, false]);
    expect(unchangedWith({ defaultFeeRateBps: 30, feeRatesBps: new Map([[poolIdOf(b, c), 25]]) })).toEqual([
      false,
      true,
    ]);
  });
});

describe('a directory', () => {
  const ids = [`${a}-${b}`, `${a}-${c}`, `${c}-${NATIVE_TOKEN_ID}`];

  test('has the ids of pools and tokens by place, and the places of the pools of each token, in order', () => {
    expect(toPoolDirectory(ids)).toEqual({
      ids,
      token1Ids: [a, a, c],
      token2Ids: [b, c, NATIVE_TOKEN_ID],
      placesOfToken: new Map([
        [a, [0, 1]],
        [b, [0]],
        [c, [1, 2]],
        [NATIVE_TOKEN_ID, [2]],
      ]),
    });
  });

  test('finds each pool by its id, also where pools of both versions have the same tokens', () => {
    const hashes = ['0', 'f'].map((hash) => hash.repeat(64));
    const mixed = [`${a}-${b}`, ...hashes.map((hash) => `${a}-${b}-${hash}`), `${a}-${c}-${hashes[0]}`, `${b}-${c}`];
    expect(mixed.toSorted()).toEqual(mixed);
    const directory = toPoolDirectory(mixed, toPoolDirectory([`${a}-${b}`, `${b}-${c}`]));
    const places = mixed.map((id) => placeOf(directory, parsePoolPairId(id) ?? { token1Id: '', token2Id: '' }));
    expect(places).toEqual([0, 1, 2, 3, 4]);
    expect(placeOf(directory, { token1Id: a, token2Id: c })).toBeUndefined();
    expect(directory.placesOfToken.get(b)).toEqual([0, 1, 2, 4]);
    expect(directory).toEqual(toPoolDirectory(mixed));
  });

  test('is the same with or without a similar one', () => {
    expect(toPoolDirectory(ids, toPoolDirectory(ids.slice(1)))).toEqual(toPoolDirectory(ids));
  });
});
