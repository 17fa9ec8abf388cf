import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createMarketBuilder,
  maxPercent,
  type Pair,
  type PairFilter,
  placeOfPair,
  placeWithPriceOf,
  selectPairs,
} from '../../src/domain/market.ts';
import { poolPairId, tokensKey } from '../../src/domain/pool-pair.ts';
import { percentChange } from '../../src/domain/price.ts';
import { exchangeStateOf, poolOf, tokenId } from './pools.ts';
import { poolOfV3, stateOfV3 } from './v3-pools.ts';

const [prv, btc, usdt] = [tokenId('4'), tokenId('b'), tokenId('c')];

function pairOf(base: [string, string], target: [string, string], poolId: string): Pair {
  const [[baseId, baseSymbol], [targetId, targetSymbol]] = [base, target];
  return {
    tickerId: `${baseSymbol}_${targetSymbol}`,
    baseId,
    base: baseSymbol,
    targetId,
    target: targetSymbol,
    poolId,
  };
}

const btcPrv = pairOf([btc, 'pBTC'], [prv, 'PRV'], 'pool-1');
const prvUsdt = pairOf([prv, 'PRV'], [usdt, 'pUSDT'], 'pool-2');
const prvUsdtToo = pairOf([prv, 'PRV'], [usdt, 'pUSDT'], 'pool-3');
const usdtPrv = pairOf([usdt, 'pUSDT'], [prv, 'PRV'], 'pool-4');
const rows = [btcPrv, prvUsdt, prvUsdtToo, usdtPrv];

describe('the indexes of a list', () => {
  test('are by pool, by ticker, which several pairs may share, and by the two tokens', () => {
    const builder = createMarketBuilder();
    for (const row of rows) builder.add(row);
    const market = builder.build(rows);
    expect(market).toEqual({
      rows,
      byPoolId: new Map([
        ['pool-1', btcPrv],
        ['pool-2', prvUsdt],
        ['pool-3', prvUsdtToo],
        ['pool-4', usdtPrv],
      ]),
      byTickerId: new Map([
        ['pBTC_PRV', [btcPrv]],
        ['PRV_pUSDT', [prvUsdt, prvUsdtToo]],
        ['pUSDT_PRV', [usdtPrv]],
      ]),
      mostOfTicker: 2,
      mostOfTokens: 3,
      byTokens: new Map([
        [`${prv}-${btc}`, [btcPrv]],
        [`${prv}-${usdt}`, [prvUsdt, prvUsdtToo, usdtPrv]],
      ]),
      byNodePoolId: new Map(),
      symbols: new Map([
        [btc, 'pBTC'],
        [prv, 'PRV'],
        [usdt, 'pUSDT'],
      ]),
    });
  });

  test('have one key for two tokens in either order', () => {
    expect(tokensKey(btc, prv)).toBe(tokensKey(prv, btc));
    expect(tokensKey(btc, prv)).not.toBe(tokensKey(btc, usdt));
  });
});

describe('the pool of a pair', () => {
  const ofTokens = { token1Id: prv, token2Id: usdt };
  const poolIn = (tokens: readonly [string, string], number: number) => poolOfV3(tokens, [5n, 5n], { number });
  const pools = [1, 2, 3].map((number) => poolIn([prv, usdt], number));
  const state = stateOfV3([...pools, poolIn([prv, btc], 1)]);
  const [first = '', second = ''] = pools.map(poolPairId);
  const placeOf = (poolId: string, pair = prvUsdt) => placeOfPair(state, { ...pair, poolId });
  const poolIdAt = (place: number | undefined) => (place === undefined ? undefined : state.directory.ids[place]);

  test('is the one that its pool id names, however the host spells it', () => {
    const [token1 = '', token2 = '', hash = ''] = second.split('-');
    for (const spelled of [
      second,
      second.toUpperCase(),
      `${token2}-${token1}-${hash}`,
      `${token2}-${token1.toUpperCase()}-${hash}`,
    ])
      for (const pair of [prvUsdt, usdtPrv])
        expect([spelled, poolIdAt(placeOf(spelled, pair))]).toEqual([spelled, second]);
    expect(pools.map((pool) => poolIdAt(placeOf(poolPairId(pool))))).toEqual(pools.map(poolPairId));
  });

  test('is the one of other tokens that its pool id names, but that one does not have its price', () => {
    const ofOtherTokens = poolPairId(poolIn([prv, btc], 1));
    const place = state.directory.ids.indexOf(ofOtherTokens);
    for (const poolId of [ofOtherTokens, ofOtherTokens.toUpperCase()]) {
      expect(placeOf(poolId)).toBe(place);
      expect(placeWithPriceOf(state, { ...prvUsdt, poolId })).toBeUndefined();
      for (const pair of [btcPrv, { ...btcPrv, baseId: prv, targetId: btc }])
        expect(placeWithPriceOf(state, { ...pair, poolId })).toBe(place);
    }
    expect(placeWithPriceOf(state, { ...prvUsdt, targetId: prv, poolId: first })).toBeUndefined();
  });

  test.each([
    ['a pool that does not exist', poolPairId(poolIn([prv, usdt], 4))],
    ['a pool after all others', `${prv}-${usdt}-${'f'.repeat(64)}`],
    ['no pool', 'pool-1'],
    ['nothing', ''],
    ['a pool of V1', `${prv}-${usdt}`],
    ['more than a pool', `${first}0`],
    ['two pools', `${first}-${second}`],
    ['no hexadecimal number', `${prv}-${usdt}-${'g'.repeat(64)}`],
  ])('does not exist if its pool id names %s', (_, poolId) => {
    expect(placeOf(poolId)).toBeUndefined();
  });

  test('is found among any number of pools of the same two tokens', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(500), { maxLength: 60 }), fc.nat(500), (numbers, wanted) => {
        const others = [poolIn([prv, btc], 7), poolIn([btc, usdt], 7)];
        const all = stateOfV3([...others, ...numbers.map((number) => poolIn([prv, usdt], number))]);
        const poolId = poolPairId(poolIn([prv, usdt], wanted));
        const place = all.directory.ids.indexOf(poolId);
        expect(placeOfPair(all, { ...usdtPrv, poolId })).toBe(place === -1 ? undefined : place);
      }),
    );
  });

  test('is that of its two tokens in V1, whatever its pool id', () => {
    const v1 = exchangeStateOf(1_000, [poolOf(1n, 1n, ofTokens), poolOf(1n, 1n, { token1Id: prv, token2Id: btc })]);
    for (const poolId of ['pool-1', first, second, ''])
      for (const pair of [prvUsdt, usdtPrv]) expect(placeOfPair(v1, { ...pair, poolId })).toBe(1);
    expect(placeOfPair(v1, { ...btcPrv, targetId: usdt })).toBeUndefined();
  });

  test('has all pairs that name it, as the host spells them, in the order of the host', () => {
    const builder = createMarketBuilder();
    const named = [
      { ...prvUsdt, poolId: second.toUpperCase() },
      { ...prvUsdt, poolId: first },
      { ...usdtPrv, poolId: second },
      { ...btcPrv, poolId: second },
      { ...prvUsdt, poolId: 'pool-1' },
    ];
    for (const row of named) builder.add(row);
    expect(builder.build(named).byNodePoolId).toEqual(
      new Map([
        [second, [named[0], named[2], named[3]]],
        [first, [named[1]]],
      ]),
    );
  });
});

describe('a filter of pairs', () => {
  test.each<[string, PairFilter, Pair[]]>([
    ['no filter: all, in the order they came in', {}, rows],
    ['ticker ids', { tickerIds: ['pUSDT_PRV', 'PRV_pUSDT'] }, [prvUsdt, prvUsdtToo, usdtPrv]],
    ['pool ids', { poolIds: ['pool-3', 'pool-1', 'pool-9'] }, [btcPrv, prvUsdtToo]],
    ['a token on either side', { tokenId: usdt }, [prvUsdt, prvUsdtToo, usdtPrv]],
    ['a base symbol', { base: 'PRV' }, [prvUsdt, prvUsdtToo]],
    ['a target symbol', { target: 'PRV' }, [btcPrv, usdtPrv]],
    ['symbols are told apart by case', { base: 'prv' }, []],
    ['an empty list matches nothing', { tickerIds: [] }, []],
    ['no list does not restrict', { tickerIds: undefined, poolIds: undefined }, rows],
    ['several conditions at once', { tokenId: prv, base: 'PRV', poolIds: ['pool-2', 'pool-4'] }, [prvUsdt]],
  ])('%s', (_, filter, pairs) => {
    expect(selectPairs(rows, filter)).toEqual(pairs);
  });
});

describe('how far a price is from the one of the pool', () => {
  test.each([
    [110, 100, 10],
    [90, 100, -10],
    [100, 100, 0],
    [0, 100, -100],
  ])('%d against %d is %d percent', (price, poolPrice, percent) => {
    expect(percentChange(poolPrice, price)).toBeCloseTo(percent, 12);
  });

  test.each([
    [undefined, 100],
    [100, undefined],
    [100, 0],
    [0, 0],
    [100, -0.001],
    [1e300, 1e-300],
  ])('%d against %d is unknown', (price, poolPrice) => {
    expect(percentChange(poolPrice, price)).toBeUndefined();
  });

  test.each([
    [{ poolPrice: 100, lastPrice: 110, bookMidPrice: 105 }, 10],
    [{ poolPrice: 100, lastPrice: 101, bookMidPrice: 95 }, 5],
    [{ poolPrice: 100, lastPrice: undefined, bookMidPrice: 95 }, 5],
    [{ poolPrice: 100, lastPrice: 98, bookMidPrice: undefined }, 2],
    [{ poolPrice: 100, lastPrice: undefined, bookMidPrice: undefined }, undefined],
    [{ poolPrice: undefined, lastPrice: 98, bookMidPrice: 98 }, undefined],
  ])('is the larger of the two: of %o it is %d', (divergence, expected) => {
    const actual = maxPercent(divergence);
    if (expected === undefined) expect(actual).toBeUndefined();
    else expect(actual).toBeCloseTo(expected, 12);
  });
});
