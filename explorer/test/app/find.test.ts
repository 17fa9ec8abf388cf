import { expect, test } from 'vitest';
import { find, foundMarket } from '../../src/app/search/find.ts';
import { rowsOf } from '../../src/pages/markets/market-rows.ts';

const PRV = '4'.padStart(64, '0');
const [BTC, USDT, BLOCK] = ['b', 'd', 'e'].map((digit) => digit.repeat(64)) as [string, string, string];
const tokens = [
  { tokenId: PRV, symbol: 'PRV', decimals: 9, usdPrice: null },
  { tokenId: BTC, symbol: 'BTC', decimals: 9, usdPrice: null },
  { tokenId: USDT, symbol: 'USDT', decimals: 6, usdPrice: null },
];
const pair = (baseId: string, targetId: string, base: string, target: string) => ({
  ...{ poolId: `${baseId}-${targetId}-1`, tickerId: `${base}_${target}`, base, target, baseId, targetId },
});
const { markets } = rowsOf({
  tokens,
  pairs: [pair(BTC, PRV, 'pBTC', 'PRV'), pair(PRV, USDT, 'PRV', 'pUSDT')],
  tickers: [],
  pools: [],
  totalPools: 0,
  height: 7,
  hasChange: false,
});
const blocks = new Map([[5, { beaconHeight: 5, hash: BLOCK, time: '2026-01-01T00:00:00Z' }]]);
const found = (text: string) =>
  find(text, { rows: markets, unit: 'PRV', tokens, blocks, newest: 1_640_000 }).found.map(
    ({ kind, name, path }) => `${kind} ${name} ${path}`,
  );

const MARKET = 'Market BTC/PRV /market/pBTC_PRV';
const TOKEN = `Token BTC /tokens?search=${BTC}`;

test.each(['BTC-PRV', 'btc/prv', 'pBTC_PRV', 'prv btc', ' PRV/BTC ', `${BTC}-${PRV}-1`])(
  'finds a market by %s',
  (text) => {
    expect(found(text)).toEqual([MARKET]);
  },
);

test.each(['btc', 'Bitcoin', 'bitc', BTC])('finds a token and its markets by %s', (text) => {
  expect(found(text)).toEqual([MARKET, TOKEN]);
});

test('finds names by the beginnings of their words only: “eth” is not Tether', () => {
  expect(found('eth')).toEqual([]);
  expect(found('teth')).toEqual(['Market PRV/USDT /market/PRV_pUSDT', `Token USDT /tokens?search=${USDT}`]);
});

test('finds a block by its height, also with separators, and by its hash', () => {
  const block = 'Block 1,639,999 /chain/blocks/1639999';
  expect(['1639999', '1,639,999', '#1639999'].map(found)).toEqual([[block], [block], [block]]);
  expect(found(BLOCK.toUpperCase())).toEqual(['Block 5 /chain/blocks/5']);
  expect(['1640001', '1,63', ' ', 'a'.repeat(64)].map(found)).toEqual([[], [], [], []]);
});

test('finds the native coin by its id, which consists of digits, and no block', () => {
  expect(found(PRV)).toEqual([MARKET, 'Market PRV/USDT /market/PRV_pUSDT', `Token PRV /tokens?search=${PRV}`]);
});

test('shows the first markets and tokens, and counts all', () => {
  const rows = Array.from({ length: 5 }, () => markets).flat();
  const many = { rows, unit: 'PRV', tokens: [...tokens, ...tokens], blocks, newest: undefined } as const;
  const { found, count } = find('p', many);
  expect([found.map(({ kind }) => kind).filter((kind) => kind === 'Market').length, count]).toEqual([8, 12]);
});

test('says what a market costs and trades in the unit of the rows', () => {
  const listed = {
    tokens: [{ tokenId: PRV, symbol: 'PRV', decimals: 9, usdPrice: 0.5 }],
    pairs: [pair(BTC, PRV, 'pBTC', 'PRV')],
    tickers: [{ poolId: `${BTC}-${PRV}-1`, lastPrice: 10_000, baseVolume: 1, targetVolume: 12_000 }],
    ...{ pools: [], totalPools: 0, height: 7, hasChange: false },
  };
  const note = (unit: 'PRV' | 'USD') => rowsOf(listed, unit).markets.map((row) => foundMarket(row, unit).note);
  expect(note('PRV')).toEqual(['10,000.00 · 24 h volume 12K PRV']);
  expect(note('USD')).toEqual(['$5,000.00 · 24 h volume $6K']);
});
