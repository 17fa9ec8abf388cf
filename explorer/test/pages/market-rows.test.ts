import { describe, expect, test } from 'vitest';
import type { MarketData } from '../../src/pages/markets/market-list.ts';
import { searchRows, sortRows } from '../../src/pages/markets/market-order.ts';
import { rowsOf } from '../../src/pages/markets/market-rows.ts';
import { livePrice, liveTargetUsd, merge, type RowDetails } from '../../src/pages/markets/row-details.ts';

const PRV = '4'.padStart(64, '0');
const [BTC, ETH, NEW] = ['b', 'e', 'f'].map((digit) => digit.repeat(64)) as [string, string, string];

const token = (tokenId: string, symbol: string | null, decimals: number | null, usdPrice: number | null = null) => ({
  tokenId,
  symbol,
  decimals,
  usdPrice,
});
const pool = (
  a: string,
  b: string,
  reserves: readonly [string, string],
  price: number | null,
  liquidityUsd: number | null = null,
) => ({
  poolId: null as string | null,
  amplifier: 10_000,
  feeRateBps: null as number | null,
  token1: { tokenId: a },
  token2: { tokenId: b },
  token1PoolValue: reserves[0],
  token2PoolValue: reserves[1],
  token1VirtualValue: reserves[0],
  token2VirtualValue: reserves[1],
  price,
  inversePrice: price === null ? null : 1 / price,
  liquidityUsd,
});
const pair = (poolId: string, baseId: string, targetId: string, [base, target]: readonly [string, string]) => ({
  poolId,
  tickerId: `${base}_${target}`,
  base,
  target,
  baseId,
  targetId,
});

const data: MarketData = {
  tokens: [token(PRV, 'PRV', 9, 2), token(BTC, 'BTC', 9), token(ETH, 'ETH', 9, 600), token(NEW, null, null)],
  pairs: [
    pair(`${PRV}-${BTC}-1`, BTC, PRV, ['pBTC', 'PRV']),
    pair(`${PRV}-${BTC}-2`, BTC, PRV, ['pBTC', 'PRV']),
    pair(`${BTC}-${ETH}-1`, BTC, ETH, ['pBTC', 'pETH']),
    pair(`${PRV}-${NEW}-1`, NEW, PRV, ['pNEW', 'PRV']),
  ],
  tickers: [
    { poolId: `${PRV}-${BTC}-1`, lastPrice: 9_990, baseVolume: 2, targetVolume: 20_000 },
    { poolId: `${PRV}-${BTC}-2`, lastPrice: 9_980, baseVolume: 3, targetVolume: 0 },
    { poolId: `${PRV}-${NEW}-1`, lastPrice: 0.5, baseVolume: null, targetVolume: null },
  ],
  pools: [
    pool(PRV, BTC, ['50000000000000', '5000000000'], 10_000, 200_100),
    pool(BTC, ETH, ['1000000000', '40000000000'], 0.025),
    pool(ETH, NEW, ['7', '7'], null, 0),
  ],
  totalPools: 3,
  height: 7,
  hasChange: false,
};

const shown = ({ path, base, target, price, volume, liquidity }: ReturnType<typeof rowsOf>['pools'][number]) => ({
  path,
  name: `${base.symbol}/${target.symbol}`,
  price,
  volume,
  liquidity,
});

test('a market has the price of its pool per base token, and volume and liquidity in native coins', () => {
  expect(rowsOf(data).markets.map(shown)).toEqual([
    // Two pairs trade in one pool. The host sends the volume of one side only of the second.
    {
      path: `/market/pBTC_PRV?pool=${PRV}-${BTC}-1`,
      name: 'BTC/PRV',
      price: 10_000,
      volume: 50_000,
      liquidity: 100_000,
    },
    { path: '/market/pBTC_pETH', name: 'BTC/ETH', price: 40, volume: null, liquidity: 20_000 },
    // Without a pool: the last trade, and the symbol of the host.
    { path: '/market/pNEW_PRV', name: 'pNEW/PRV', price: 0.5, volume: null, liquidity: null },
  ]);
});

test('each pool is listed once, as the market of its pairs, or by itself if it has none', () => {
  const { markets, pools } = rowsOf(data);
  expect(pools).toEqual([
    markets[0],
    markets[1],
    expect.objectContaining({ path: `/pool/${ETH}-${NEW}`, poolIds: [`${ETH}-${NEW}`], pair: undefined, volume: null }),
  ]);
  expect(markets.map(({ poolIds }) => poolIds.length)).toEqual([2, 1, 1]);
});

test('a row says that its ticker id is that of another one, unless both are one pool', () => {
  const other = pair(`${PRV}-${NEW}-2`, NEW, PRV, ['pBTC', 'PRV']);
  const ambiguous = (pairs: MarketData['pairs']) =>
    rowsOf({ ...data, pairs }).markets.map(({ pair, path }) => [pair?.isAmbiguous, path.includes('?pool=')]);
  expect(ambiguous(data.pairs)).toEqual([
    [false, true],
    [false, false],
    [false, false],
  ]);
  expect(ambiguous([...(data.pairs ?? []), other])).toEqual([
    [true, true],
    [false, false],
    [false, false],
    [true, true],
  ]);
});

test('an upstream that cannot be read leaves what the other one knows', () => {
  expect(rowsOf({ ...data, pools: null }).markets.map(({ price }) => price)).toEqual([9_990, 9_980, null, 0.5]);
  expect(rowsOf({ ...data, pairs: null, tickers: null }).pools.map(({ path }) => path)).toEqual([
    `/pool/${PRV}-${BTC}`,
    `/pool/${BTC}-${ETH}`,
    `/pool/${ETH}-${NEW}`,
  ]);
});

test('a search finds parts of names and ticker ids, whole token ids, and all of its words', () => {
  const { markets } = rowsOf(data);
  const found = (search: string) => searchRows(markets, search).map(({ path }) => path.split('?')[0]);
  expect(found(' ')).toHaveLength(3);
  expect(found('btc/e')).toEqual(['/market/pBTC_pETH']);
  expect(found('PBTC_P prv')).toEqual(['/market/pBTC_PRV']);
  expect(found(NEW)).toEqual(['/market/pNEW_PRV']);
  expect(found('btc doge')).toEqual([]);
});

test('a search finds a symbol of letters from right to left beside the other one', () => {
  const { markets } = rowsOf({ ...data, tokens: [token(PRV, 'PRV', 9), token(NEW, '\u05e9\u05e7\u05dc', 9)] });
  expect(searchRows(markets, '\u05e9\u05e7\u05dc/prv')).toHaveLength(1);
});

test('a token can have the name of a property of every object as its symbol', () => {
  const [row] = rowsOf({ ...data, pairs: [pair(`${PRV}-${NEW}-1`, NEW, PRV, ['constructor', 'PRV'])] }).markets;
  expect([row?.base.symbol, row?.searched().names]).toEqual(['constructor', ['privacy', 'incognito']]);
});

test('rows without a value come last in both directions', () => {
  const { markets } = rowsOf(data);
  const volumes = (direction: 'ascending' | 'descending') =>
    sortRows(markets, 'volume', direction).map(({ volume }) => volume);
  expect(volumes('descending')).toEqual([50_000, null, null]);
  expect(volumes('ascending')).toEqual([50_000, null, null]);
  const names = sortRows(markets, 'name', 'ascending').map(({ base, target }) => `${base.symbol}/${target.symbol}`);
  expect(names).toEqual(['BTC/ETH', 'BTC/PRV', 'pNEW/PRV']);
});

test('changes are in percent of the price a day ago', () => {
  const pools = [
    { ...pool(PRV, BTC, ['5', '5'], 10_000), change: { from: 8_000 } },
    { ...pool(PRV, ETH, ['5', '5'], 90), change: { from: 100 } },
    { ...pool(PRV, NEW, ['5', '5'], 1), change: null },
  ];
  const rows = rowsOf({ ...data, pairs: [], pools, hasChange: true }).pools;
  expect(sortRows(rows, 'change', 'ascending').map(({ dayStart }) => dayStart)).toEqual([100, 8_000, null]);
});

test('in US dollars, a market has the price of its target token, the volume of either side, and the liquidity of its pool', () => {
  const { markets, pools } = rowsOf(data, 'USD');
  expect(markets.map(({ price, targetUsd, volume, liquidity }) => [price, targetUsd, volume, liquidity])).toEqual([
    // The host sends the volume of one side only of the second pair, and BTC has no price.
    [10_000, 2, 40_000, 200_100],
    [40, 600, null, null],
    [0.5, 2, null, null],
  ]);
  expect(pools.map(({ targetUsd, liquidity }) => [targetUsd, liquidity])).toEqual([
    [2, 200_100],
    [600, null],
    [600, 0],
  ]);
  const byPrice = (unit: 'PRV' | 'USD') =>
    sortRows(markets, 'price', 'descending', unit).map(({ base, target }) => `${base.symbol}/${target.symbol}`);
  expect(byPrice('PRV')).toEqual(['BTC/PRV', 'BTC/ETH', 'pNEW/PRV']);
  expect(byPrice('USD')).toEqual(['BTC/ETH', 'BTC/PRV', 'pNEW/PRV']);
});

test('a live price in US dollars has the price of the target token at the same height', () => {
  const [row] = rowsOf(data, 'USD').markets;
  if (row === undefined) throw new Error('there is no market');
  const details = (beaconHeight: number, usd: { readonly usdPrice?: number | null }): RowDetails => ({
    pool: {
      id: '',
      beaconHeight,
      token1: { id: '', tokenId: PRV, ...usd },
      token2: { id: '', tokenId: BTC, usdPrice: 25_000 },
      price: 11_000,
      inversePrice: 1 / 11_000,
    },
    lastPrice: null,
    day: undefined,
    sparkline: undefined,
  });
  expect(liveTargetUsd(row, undefined)).toBe(2);
  expect(liveTargetUsd(row, details(8, { usdPrice: 3 }))).toBe(3);
  // No route any longer.
  expect(liveTargetUsd(row, details(8, { usdPrice: null }))).toBeNull();
  // Older than the list, or read while prices were shown in PRV.
  expect(liveTargetUsd(row, details(6, { usdPrice: 3 }))).toBe(2);
  expect(liveTargetUsd(row, details(8, {}))).toBe(2);
});

test.each([
  ['another base token', { token1: PRV, token2: ETH }],
  ['another target token', { token1: ETH, token2: BTC }],
])('a pool with %s, which a host can name in V3, gives a market no live price', (_name, { token1, token2 }) => {
  const [row] = rowsOf(data, 'USD').markets;
  if (row === undefined) throw new Error('there is no market');
  const details: RowDetails = {
    pool: {
      id: '',
      beaconHeight: 8,
      token1: { id: '', tokenId: token1, usdPrice: 3 },
      token2: { id: '', tokenId: token2, usdPrice: 600 },
      price: 90,
      inversePrice: 1 / 90,
    },
    lastPrice: 9_995,
    day: undefined,
    sparkline: undefined,
  };
  expect([livePrice(row, details), liveTargetUsd(row, details)]).toEqual([9_995, 2]);
});

test('what is known of the day of a row stays while the history cannot be read', () => {
  const tokens = { token1: { id: PRV, tokenId: PRV }, token2: { id: BTC, tokenId: BTC } };
  const priced = { id: 'PoolPair:a', beaconHeight: 1, ...tokens, price: 2, inversePrice: 0.5 };
  const change = { from: 1, fromTime: '2026-01-01T00:00:00.000Z', isComplete: true };
  const known = merge(new Map(), { beaconHeight: 1, nodes: [{ ...priced, change, sparkline: [1, 2] }] });
  expect(known.get('a')).toMatchObject({ day: change, sparkline: [1, 2] });
  const unread = merge(known, { beaconHeight: 2, nodes: [{ ...priced, beaconHeight: 2 }] });
  expect(unread.get('a')).toMatchObject({ pool: { beaconHeight: 2 }, day: change, sparkline: [1, 2] });
  const failed = { beaconHeight: 3, nodes: [{ ...priced, beaconHeight: 3, change: null, sparkline: null }] };
  expect(merge(unread, failed).get('a')).toMatchObject({ pool: { beaconHeight: 3 }, day: change, sparkline: [1, 2] });
  expect(merge(new Map(), failed).get('a')).toMatchObject({ day: null, sparkline: null });
});

describe('pools of V3', () => {
  const of = (hash: string, price: number, changes: object = {}) => ({
    ...pool(PRV, BTC, ['50000000000000', '5000000000'], price),
    poolId: `${PRV}-${BTC}-${hash}`,
    feeRateBps: 25,
    ...changes,
  });
  const v3 = {
    ...data,
    pools: [of('1', 10_000), of('3', 9_000, { amplifier: 22_000, feeRateBps: 30 }), of('2', 9_900)],
    totalPools: 3,
  };

  test('are the pools of their own pairs: a market has its own price, and pools of the same tokens show what differs', () => {
    const { markets, pools } = rowsOf(v3);
    const btc = markets.filter(({ base, target }) => base.symbol === 'BTC' && target.symbol === 'PRV');
    expect(btc.map(({ pair, price, terms }) => [pair?.poolId, price, terms])).toEqual([
      [`${PRV}-${BTC}-1`, 10_000, 'fee 0.25%'],
      [`${PRV}-${BTC}-2`, 9_900, 'fee 0.25%'],
    ]);
    // Another pool of its tokens is not the pool of a pair.
    expect(rowsOf({ ...v3, pools: v3.pools.slice(1) }).markets[0]).toMatchObject({ nodeId: undefined, price: 9_990 });
    const other = pair(`${PRV}-${BTC}-1`, ETH, PRV, ['pETH', 'PRV']);
    expect(rowsOf({ ...v3, pairs: [other] }).markets[0]).toMatchObject({ nodeId: undefined, liquidity: null });
    expect(markets.find(({ target }) => target.symbol === 'ETH')).toMatchObject({
      nodeId: undefined,
      terms: undefined,
    });
    expect(pools.map(({ path, nodeId, price, terms }) => [path, nodeId, price, terms])).toEqual([
      [`/market/pBTC_PRV?pool=${PRV}-${BTC}-1`, `PoolPair:${PRV}-${BTC}-1`, 10_000, 'fee 0.25%'],
      [`/pool/${PRV}-${BTC}-3`, `PoolPair:${PRV}-${BTC}-3`, 9_000, 'fee 0.3% · 2.2×'],
      [`/market/pBTC_PRV?pool=${PRV}-${BTC}-2`, `PoolPair:${PRV}-${BTC}-2`, 9_900, 'fee 0.25%'],
    ]);
  });

  test('are the pools of pairs whose ids the host writes in upper case, or with the two tokens in the other order', () => {
    const id = `${PRV}-${BTC}-c1`;
    const pairs = [id.toUpperCase(), `${BTC}-${PRV}-c1`].map((poolId) => pair(poolId, BTC, PRV, ['pBTC', 'PRV']));
    const { markets, pools } = rowsOf({ ...data, pools: [of('c1', 10_000)], pairs });
    expect(markets.map(({ poolIds, nodeId, liquidity }) => ({ poolIds, nodeId, liquidity }))).toEqual([
      { poolIds: pairs.map(({ poolId }) => poolId), nodeId: `PoolPair:${id}`, liquidity: 100_000 },
    ]);
    expect(pools).toEqual(markets);
    for (const { poolId } of [...pairs, { poolId: id }]) expect(searchRows(markets, poolId)).toEqual(markets);
  });

  test('are found by their ids, and the largest one with the native coin gives a token its value', () => {
    const { pools } = rowsOf(v3);
    expect(searchRows(pools, `${PRV}-${BTC}-3`).map(({ key }) => key)).toEqual([`${PRV}-${BTC}-3`]);
    expect(new Set(pools.map(({ liquidity }) => liquidity))).toEqual(new Set([100_000]));
  });

  test('are worth what they hold of both tokens, also if that is not the same value', () => {
    const virtual = { token1VirtualValue: '400000000000000', token2VirtualValue: '40000000000' };
    const liquidityOf = (...held: [string, string]) => {
      const [token1PoolValue, token2PoolValue] = held;
      const [row] = rowsOf({ ...v3, pools: [of('1', 10_000, { ...virtual, token1PoolValue, token2PoolValue })] }).pools;
      return row?.liquidity;
    };
    // 10,000 PRV and 19 BTC, then all of it in PRV.
    expect(liquidityOf('10000000000000', '19000000000')).toBe(200_000);
    expect(liquidityOf('200000000000000', '0')).toBe(0);
    // In the tokens of a pool without PRV: 1 BTC is 10,000 PRV and 40 ETH.
    const ofEth = {
      ...pool(BTC, ETH, ['1000000000', '20000000000'], 0.025),
      token1VirtualValue: '5000000000',
      token2VirtualValue: '200000000000',
    };
    expect(rowsOf({ ...v3, pools: [of('1', 10_000), ofEth] }).pools[1]?.liquidity).toBe(15_000);
  });
});
