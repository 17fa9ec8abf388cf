import { describe, expect, test } from 'vitest';
import {
  createMarketBuilder,
  maxPercent,
  type Pair,
  type PairFilter,
  selectPairs,
  tokensKey,
} from '../../src/domain/market.ts';
import { percentChange } from '../../src/domain/price-change.ts';
import { tokenId } from './pools.ts';

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
      byTokens: new Map([
        [`${prv}-${btc}`, [btcPrv]],
        [`${prv}-${usdt}`, [prvUsdt, prvUsdtToo, usdtPrv]],
      ]),
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
