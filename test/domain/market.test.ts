import { describe, expect, test } from 'vitest';
import { createMarketBuilder, type Pair, type PairFilter, selectPairs, tokensKey } from '../../src/domain/market.ts';
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
