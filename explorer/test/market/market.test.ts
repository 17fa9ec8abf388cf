import { describe, expect, test } from 'vitest';
import type { GatewayError } from '../../src/client/errors.ts';
import { notesOfBook, notesOfChainBook, notesOfStaleBook } from '../../src/pages/market/book/book-notes.ts';
import { bookOfPool } from '../../src/pages/market/book/chain-book.ts';
import { groupingsOf, parseGrouping, powerOfTen } from '../../src/pages/market/book/grouping.ts';
import {
  isGapBefore,
  isJoined,
  mergeCandles,
  toChartCandle,
  withEmptyIntervals,
} from '../../src/pages/market/candles/candle.ts';
import { DEFAULT_INTERVAL, INTERVALS, intervalOf } from '../../src/pages/market/candles/intervals.ts';
import { curveOfLadder, curveOfPool } from '../../src/pages/market/depth/depth-curve.ts';
import { percentsOf, RANGES, rangeOf } from '../../src/pages/market/depth/ranges.ts';
import { comparedPrices, meaningOfDivergence } from '../../src/pages/market/divergence-text.ts';
import {
  amountWithUnit,
  figuresOfPair,
  isCoarsePrice,
  marketOfPair,
  rangeOfDay,
  spotPriceOfBase,
  tradedUsd,
  unitOfAmount,
  usdOf,
  volumeUsd,
  whyNoChange,
  whyNoVolume,
} from '../../src/pages/market/market.ts';
import { isOldPrice } from '../../src/pages/market/old-price.ts';
import { parsePoolId, poolPath, toNodePoolId } from '../../src/pages/market/pool-id.ts';
import { termsOfPool, textOfPools } from '../../src/pages/market/pool-terms.ts';
import { symbolsOfTicker } from '../../src/pages/market/ticker-symbols.ts';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);

describe('the id of a pool in the URL', () => {
  test('is the ids of two tokens in either order, or that of a market', () => {
    const tokens = { kind: 'tokens', token1Id: A, token2Id: B };
    expect([parsePoolId(`${A}-${B}`), parsePoolId(`${B}-${A}`)]).toEqual([tokens, tokens]);
    expect(parsePoolId(`${A}-${B}-${A}`)).toEqual({ kind: 'pair', poolId: `${A}-${B}-${A}` });
    expect(poolPath(B, A)).toBe(`/pool/${A}-${B}`);
  });

  test('can be in upper case, and that of a market stays as it is', () => {
    const [upperA, upperB] = [A.toUpperCase(), B.toUpperCase()];
    expect(parsePoolId(`${upperB}-${A}`)).toEqual({ kind: 'tokens', token1Id: A, token2Id: B });
    const poolId = `${upperB}-${A}-${upperA}`;
    expect(parsePoolId(poolId)).toEqual({ kind: 'pair', poolId });
    expect([toNodePoolId(poolId), toNodePoolId(`${upperA}-${upperB}-${A}`)]).toEqual(Array(2).fill(`${A}-${B}-${A}`));
  });

  test.each([
    '',
    'BTC',
    A,
    `${A}-${A}`,
    `${A}-${B.slice(1)}`,
    `${A}-${B}-`,
    `${A}-${B}-${A.slice(1)}`,
    `${A}-${B}-${A}a`,
    `${A}_${B}`,
  ])('%j is none', (text) => {
    expect(parsePoolId(text)).toBeUndefined();
  });
});

test('the path of a pool of V3 has its pool id', () => {
  expect(poolPath(B, A, `${A}-${B}-1`)).toBe(`/pool/${A}-${B}-1`);
});

test('pools are told apart by fee and amplification', () => {
  const terms = (amplifier: number, feeRateBps: number | null) => termsOfPool({ amplifier, feeRateBps });
  expect([terms(10_000, 25), terms(22_000, 100), terms(500_000, 1), terms(10_000, null)]).toEqual([
    'fee 0.25%',
    'fee 1% · 2.2×',
    'fee 0.01% · 50×',
    '',
  ]);
});

describe('the orders of a pool as a book', () => {
  const entry = (price: number, quantity: number, sum: number, total: number) => ({
    price,
    exactPrice: String(price),
    quantity,
    exactQuantity: String(quantity),
    cumulativeQuantity: sum,
    cumulativeTotal: total,
  });
  const bids = [entry(4, 2, 2, 8), entry(2, 1, 3, 10)];
  const asks = [entry(5, 3, 3, 15)];
  const book = { bids, asks, bestBid: 4, bestAsk: 5, isCrossed: false };

  test('are as they are if the base is token 2', () => {
    expect(bookOfPool(book, false)).toEqual({ bids, asks, midPrice: 4.5, spread: 1, isPartial: false });
  });

  test('change sides, prices and quantities if the base is token 1, and the best ones stay first', () => {
    const inverse = bookOfPool(book, true);
    expect(inverse.asks).toEqual([
      { price: 0.25, quantity: 8, cumulativeQuantity: 8, cumulativeTotal: 2 },
      { price: 0.5, quantity: 2, cumulativeQuantity: 10, cumulativeTotal: 3 },
    ]);
    expect(inverse.bids).toEqual([{ price: 0.2, quantity: 15, cumulativeQuantity: 15, cumulativeTotal: 3 }]);
    expect([inverse.midPrice, inverse.spread]).toEqual([0.225, expect.closeTo(0.05)]);
    expect(bookOfPool({ ...book, bestBid: null }, true)).toMatchObject({ midPrice: null, spread: null });
  });

  test('say when they are crossed, and that they never trade with each other', () => {
    expect(notesOfChainBook({ isCrossed: true })).toEqual([
      { text: expect.stringMatching(/^Crossed: .* until a trade comes\.$/), isWarning: true },
    ]);
    expect(notesOfChainBook({ isCrossed: false })).toEqual([{ text: expect.any(String), isWarning: false }]);
  });

  test('say why they can be older than they should be', () => {
    const connected = { name: 'connected', over: 'websocket' } as const;
    const error = { code: 'UPSTREAM_TIMEOUT', message: '', path: [], upstream: 'MARKET_DATA' } as const;
    const texts = (input: Partial<Parameters<typeof notesOfStaleBook>[0]>) =>
      notesOfStaleBook({ connection: connected, errors: [], isOfHost: true, isStale: false, ...input }).map(
        ({ text }) => text,
      );
    expect([texts({}), texts({ isStale: undefined })]).toEqual([[], []]);
    expect(texts({ errors: [{ ...error, path: ['orderBook', 'pairs'] }] })).toEqual([]);
    expect(texts({ isStale: true })).toEqual(['This book may be old: the market-data host cannot be read completely.']);
    expect(texts({ isStale: true, isOfHost: false })).toEqual([
      'This book may be old: the gateway gets no new blocks.',
    ]);
    expect(texts({ errors: [error], isStale: true })).toEqual([
      'This book is old. The market-data host does not respond in time.',
    ]);
    expect(texts({ connection: { name: 'reconnecting', since: 0 }, errors: [error] })).toEqual([
      'This book is old: the gateway cannot be reached.',
    ]);
  });
});

test('a ticker id has two symbols, without the prefix of bridged tokens', () => {
  expect(symbolsOfTicker('pBTC_PRV')).toEqual(['BTC', 'PRV']);
  expect(symbolsOfTicker('pcDAI_pDAI')).toEqual(['cDAI', 'DAI']);
  expect([symbolsOfTicker('PRV'), symbolsOfTicker('_'), symbolsOfTicker('a_b_c')]).toEqual(Array(3).fill(undefined));
});

describe('the spot price of the base', () => {
  const pool = { token2: { id: '', tokenId: B, symbol: null, decimals: 9, usdPrice: null }, spotPrice: 4 };
  test('is that of the pool or its reciprocal', () => {
    expect([spotPriceOfBase(pool, B), spotPriceOfBase(pool, A)]).toEqual([4, 0.25]);
    expect([spotPriceOfBase({ ...pool, spotPrice: null }, A), spotPriceOfBase(null, A)]).toEqual([null, null]);
  });
});

test('a pool of other tokens, which a host can name in V3, gives a market no price', () => {
  const token = (tokenId: string) => ({ id: tokenId, tokenId, symbol: 'X', decimals: 9, usdPrice: null });
  const amounts = { token1PoolValue: '1', token2PoolValue: '1', token1VirtualValue: '1', token2VirtualValue: '1' };
  const terms = { amplifier: 10_000, feeRateBps: 25, isTradable: true, version: 'V3' as const };
  const prices = { price: 1_600, inversePrice: 1 / 1_600, spotPrice: 1_600, liquidityUsd: null };
  const marketOf = (baseId: string, targetId: string) => {
    const pair = {
      ...{ id: '', tickerId: 'X_X', poolId: `${A}-${B}-1`, base: 'X', target: 'X' },
      ...{ baseToken: token(baseId), targetToken: token(targetId), ticker: null, change: null },
      ...{ poolPrice: null, exactPoolPrice: null },
      poolPair: {
        ...{ id: '', beaconHeight: 7, poolId: `${A}-${B}-1`, token1: token(A), token2: token(B), pairs: [] },
        ...{ ...amounts, ...terms, ...prices },
      },
    };
    const { price, spotPrice } = figuresOfPair(pair);
    return { hasPool: marketOfPair(pair).pool !== undefined, price, spotPrice };
  };
  expect(marketOf(B, A)).toEqual({ hasPool: true, price: 1_600, spotPrice: 1_600 });
  const none = { hasPool: false, price: null, spotPrice: null };
  const other = 'c'.repeat(64);
  expect([marketOf(B, other), marketOf(other, A)]).toEqual([none, none]);
});

describe('candles', () => {
  const candle = (minute: number, lastHeight: number, close = 1) => ({
    openTime: minute * 60_000,
    open: 1,
    high: 2,
    low: 0.5,
    close,
    volume: 0,
    isVolumeExact: false,
    firstHeight: lastHeight - 1,
    lastHeight,
    isComplete: true,
  });

  test('are in the direction of the market', () => {
    const times = {
      openTime: '2026-01-01T00:00:00Z',
      firstHeight: 5,
      lastHeight: 7,
      isComplete: true,
      isVolumeExact: true,
    };
    const prices = { open: 1, high: 2, low: 0.5, close: 1.5, tradedToken2: '1500000000' };
    const inverse = { inverseOpen: 1, inverseHigh: 2, inverseLow: 0.5, inverseClose: 1.5, tradedToken1: '1500000000' };
    const expected = {
      openTime: Date.UTC(2026, 0, 1),
      open: 1,
      high: 2,
      low: 0.5,
      close: 1.5,
      volume: 1.5,
      firstHeight: 5,
      lastHeight: 7,
      isComplete: true,
      isVolumeExact: true,
    };
    expect(toChartCandle({ ...times, ...prices }, { isInverse: false, baseDecimals: 9 })).toEqual(expected);
    expect(toChartCandle({ ...times, ...inverse }, { isInverse: true, baseDecimals: 9 })).toEqual(expected);
    expect(toChartCandle({ ...times, ...inverse }, { isInverse: true, baseDecimals: null })?.volume).toBeNull();
    expect(toChartCandle({ ...times, ...prices, high: null }, { isInverse: false, baseDecimals: 9 })).toBeUndefined();
    // Liquidity was added: the price has risen, and the ratio has fallen.
    const grown = { ...prices, open: 1, high: 1, low: 1.5, close: 1.5 };
    expect(toChartCandle({ ...times, ...grown }, { isInverse: false, baseDecimals: 9 })).toMatchObject({
      high: 1.5,
      low: 1,
    });
  });

  test('of several lists are one, and the newest of an interval stays', () => {
    const merged = mergeCandles([candle(1, 10), candle(2, 20)], [candle(2, 21, 3)], [candle(2, 19, 4), candle(0, 5)]);
    expect(merged).toEqual([candle(0, 5), candle(1, 10), candle(2, 21, 3)]);
  });

  test('after an outage leave a gap, which must be loaded', () => {
    const known = [candle(1, 10), candle(2, 20)];
    expect([candle(2, 30), candle(3, 22), candle(3, 21)].map((pushed) => isGapBefore(pushed, known))).toEqual([
      false,
      false,
      false,
    ]);
    // The end of the interval before was not seen.
    expect(isGapBefore(candle(3, 23), known)).toBe(true);
    expect(isGapBefore(candle(4, 40), [])).toBe(false);
  });

  test('that were known stay, unless the newest ones begin above them', () => {
    const known = [candle(1, 10), candle(2, 20)];
    expect([isJoined(known, [candle(2, 21), candle(3, 30)]), isJoined(known, [candle(0, 5)])]).toEqual([true, true]);
    expect(isJoined(known, [candle(3, 30)])).toBe(false);
    expect([isJoined(known, []), isJoined([], [candle(3, 30)])]).toEqual([true, true]);
  });

  test('leave room for intervals without one, unless there are very many', () => {
    const places = withEmptyIntervals([candle(1, 10), candle(4, 40), candle(1_000, 99)], 60_000);
    expect(places.map(({ openTime }) => openTime / 60_000)).toEqual([1, 2, 3, 4, 1_000]);
    expect(places.map((place) => 'open' in place)).toEqual([true, false, false, true, true]);
  });

  test('have an interval, also with an unknown one in the URL', () => {
    for (const { value } of INTERVALS) expect(intervalOf(value).value).toBe(value);
    expect([intervalOf(null).value, intervalOf('2h').value]).toEqual([DEFAULT_INTERVAL, DEFAULT_INTERVAL]);
  });
});

describe('grouping of an order book', () => {
  test('has steps that fit the price, as exact decimals', () => {
    expect(groupingsOf(12_300)).toEqual(['1', '10', '100', '1000']);
    expect(groupingsOf(0.77)).toEqual(['0.00001', '0.0001', '0.001', '0.01']);
    expect(groupingsOf(1e-30)).toEqual([]);
    expect([null, undefined, 0, -1, Number.NaN, Number.POSITIVE_INFINITY].map(groupingsOf)).toEqual(Array(6).fill([]));
    expect([powerOfTen(0), powerOfTen(3), powerOfTen(-9)]).toEqual(['1', '1000', '0.000000001']);
  });

  test('of a URL is taken only if the gateway takes it', () => {
    expect(['10', '0.5', '0', '0.00', '-1', '1e3', 'x', '', '1'.repeat(31)].map(parseGrouping)).toEqual([
      '10',
      '0.5',
      ...Array(7).fill(undefined),
    ]);
    expect(parseGrouping(null)).toBeUndefined();
  });
});

test('the quality of an order book is said in words, the worst first', () => {
  const good = { entriesDropped: 0, entriesMerged: 0, isCrossed: false, wasSorted: true };
  expect(notesOfBook({ quality: good, pairs: [{ id: 'Pair:1' }] })).toEqual([]);
  const bad = { entriesDropped: 1, entriesMerged: 2, isCrossed: true, wasSorted: false };
  const notes = notesOfBook({ quality: bad, pairs: [{ id: 'Pair:1' }, { id: 'Pair:2' }] });
  expect(notes.map(({ isWarning }) => isWarning)).toEqual([true, true, false, false, false]);
  expect(notes.map(({ text }) => text.split(' ').slice(0, 2).join(' '))).toEqual([
    'Crossed: the',
    '1 order',
    'The host',
    '2 orders',
    '2 markets',
  ]);
});

describe('the depth', () => {
  test('of pool and book has the pool as a part of it', () => {
    const level = (price: number, poolQuantity: number, cumulativeQuantity: number) => ({
      price,
      poolQuantity,
      cumulativeQuantity,
      cumulativeTotal: price * cumulativeQuantity,
    });
    const curve = curveOfLadder({ midPrice: 100, bids: [level(99, 1, 1), level(98, 2, 5)], asks: [level(101, 3, 4)] });
    expect(curve.bids).toEqual([
      { price: 99, quantity: 1, poolQuantity: 1, total: 99 },
      { price: 98, quantity: 5, poolQuantity: 3, total: 490 },
    ]);
    expect(curve.asks).toEqual([{ price: 101, quantity: 4, poolQuantity: 3, total: 404 }]);
  });

  test('of a pool alone is in the direction of the market', () => {
    const depth = [{ percent: 25, upToken1: '500', upToken2: '40', downToken1: '600', downToken2: '70' }];
    const pool = { id: '', spotPrice: 4, depth };
    const decimals = { baseDecimals: 1, targetDecimals: 2 };
    expect(curveOfPool(pool, { isInverse: false, ...decimals })).toEqual({
      midPrice: 4,
      bids: [{ price: 3, quantity: 7, poolQuantity: 7, total: 6 }],
      asks: [{ price: 5, quantity: 4, poolQuantity: 4, total: 5 }],
    });
    // Where the price of token 2 rises, that of token 1 falls.
    expect(curveOfPool(pool, { isInverse: true, ...decimals })).toEqual({
      midPrice: 0.25,
      bids: [{ price: 0.2, quantity: 50, poolQuantity: 50, total: 0.4 }],
      asks: [{ price: 0.25 / 0.75, quantity: 60, poolQuantity: 60, total: 0.7 }],
    });
    expect(curveOfPool({ ...pool, depth: [] }, { isInverse: false, ...decimals })).toBeUndefined();
    expect(curveOfPool(pool, { isInverse: false, baseDecimals: null, targetDecimals: 2 })).toBeUndefined();
  });

  test('has ranges that the gateway takes', () => {
    for (const range of RANGES) {
      const percents = percentsOf(range);
      expect(percents.at(-1)).toBe(Number(range.value));
      expect(percents.every((percent) => String(percent).length <= 6)).toBe(true);
      expect(rangeOf(range.value)).toBe(range);
    }
    expect([rangeOf(null).value, rangeOf('7').value]).toEqual(['5', '5']);
  });
});

test('the divergence has a meaning of its own for each size', () => {
  const meanings = [null, 0.1, 1, 5, 50].map((lastPercent) => meaningOf({ lastPercent }));
  expect(new Set(meanings).size).toBe(5);
});

test('the meaning of the divergence names only prices that are known, and the book only where it differs', () => {
  const near = 'within half a percent of the pool.';
  expect(meaningOf({ lastPercent: 0.1 })).toBe(`Last trade is ${near}`);
  expect(meaningOf({ bookPercent: -0.1 })).toBe(`Middle of the book is ${near}`);
  expect(meaningOf({ lastPercent: 0, tradedPercent: 0.2, bookPercent: 0 })).toBe(
    `Last trade, newest trade on the chain and middle of the book are ${near}`,
  );
  expect(meaningOf({ lastPercent: 1, bookPercent: 0 })).toMatch(/The last trade is often older/);
  expect(meaningOf({ lastPercent: 0.1, bookPercent: 1 })).toBe('The prices differ a little.');
  expect(meaningOf({ lastPercent: 5 })).toMatch(/^The prices differ clearly\. The last trade is often older/);
  expect(meaningOf({ lastPercent: 5, bookPercent: 0.1 })).not.toMatch(/book/);
  expect(meaningOf({ bookPercent: -5 })).toMatch(/The pool or the order book can be cheaper/);
});

function meaningOf(percents: { lastPercent?: number | null; tradedPercent?: number; bookPercent?: number }): string {
  const none = { lastPercent: null, tradedPercent: null, bookPercent: null };
  const prices = { poolPrice: 1, lastPrice: 1, tradedPrice: 1, bookMidPrice: 1 };
  return meaningOfDivergence(comparedPrices({ ...prices, ...none, ...percents }, true));
}

test('a volume that is loading or cannot be read is not one that is not recorded', () => {
  const error = { code: 'HISTORY_UNAVAILABLE' } as GatewayError;
  expect(whyNoVolume(true, { isLoading: true, errors: [] })).toBe('Loading…');
  expect(whyNoVolume(true, { isLoading: false, errors: [error] })).toBe('The trades cannot be read now.');
  expect(whyNoVolume(true, { isLoading: false, errors: [] })).toBe('No trades are recorded.');
  // Nothing is requested then.
  expect(whyNoVolume(false, { isLoading: true, errors: [] })).toBe('No trades are recorded.');
});

test('a change that is not known yet is not one that cannot be read now, or is not recorded', () => {
  expect(whyNoChange(true, 'RECORDING')).toBe('No earlier price of this pool has been read.');
  expect(whyNoChange(true, 'UNAVAILABLE')).toBe('Earlier prices cannot be read now.');
  expect(whyNoChange(false, 'OFF')).toBe('No history is recorded for this pool.');
});

test('a price is old while no newer one can come', () => {
  const connected = { name: 'connected', over: 'websocket' } as const;
  const isOld = (input: Partial<Parameters<typeof isOldPrice>[0]>) =>
    isOldPrice({ isOfPool: true, connection: connected, isStale: false, isVisible: true, ...input });
  const streams = { name: 'connected', over: 'event-streams' } as const;
  expect([isOld({}), isOld({ isVisible: false }), isOld({ isOfPool: false })]).toEqual([false, false, false]);
  expect([isOld({ isStale: true }), isOld({ connection: { name: 'reconnecting', since: 0 } })]).toEqual([true, true]);
  // In the background, the last trade is not followed, and there are no event streams.
  expect(isOld({ isOfPool: false, isVisible: false })).toBe(true);
  expect([isOld({ connection: streams }), isOld({ connection: streams, isVisible: false })]).toEqual([false, true]);
});

test('no other pool of two tokens is said only if all pools were read', () => {
  expect(textOfPools('A and B', 1, false)).toBe('No other pool has A and B.');
  expect(textOfPools('A and B', 1, true)).toBe('No other pool of A and B is among the most liquid ones.');
  expect(textOfPools('A and B', 2, false)).toBe('2 pools of A and B, the most liquid first:');
  expect(textOfPools('A and B', 2, true)).toMatch(/^At least 2 pools/);
});

test('the divergence compares the newest trade on the chain, too, where there are trades', () => {
  const ofHost = {
    poolPrice: 200,
    lastPrice: 201,
    lastPercent: 0.5,
    bookMidPrice: null,
    bookPercent: null,
  };
  const divergence = { ...ofHost, tradedPrice: null, tradedPercent: null };
  expect(comparedPrices(divergence, false)).toEqual({
    rows: [
      { name: 'Pool', price: 200, percent: undefined },
      { name: 'Last trade', price: 201, percent: 0.5 },
      { name: 'Middle of the book', price: null, percent: null },
    ],
    maxPercent: 0.5,
  });
  const inV3 = comparedPrices({ ...divergence, tradedPrice: 190, tradedPercent: -5 }, true);
  expect(inV3.rows[2]).toEqual({ name: 'Newest trade on the chain', price: 190, percent: -5 });
  expect(inV3.maxPercent).toBe(5);
  expect(comparedPrices(divergence, true).rows.map(({ percent }) => percent)).toEqual([undefined, 0.5, null, null]);
  expect(comparedPrices({ ...divergence, lastPercent: null }, true).maxPercent).toBeNull();
});

test('the highest and the lowest price of a day contain the current one, if they are recorded', () => {
  const recorded = { fromTime: '', percent: null, tradedToken1: '0', tradedToken2: '0', isComplete: true };
  const rangeAt = (price: number | null, high: number | null, low: number | null) =>
    rangeOfDay({ price, change: { ...recorded, high, low } });
  expect([rangeAt(2, 3, 1), rangeAt(null, 3, 1)]).toEqual(Array(2).fill({ high: 3, low: 1 }));
  expect([rangeAt(4, 3, 1), rangeAt(0.5, 3, 1)]).toEqual([
    { high: 4, low: 1 },
    { high: 3, low: 0.5 },
  ]);
  expect([rangeAt(2, null, null), rangeOfDay({ price: 2, change: null })]).toEqual([undefined, undefined]);
});

test('a token without known decimals counts smallest units, and a price of few of them is coarse', () => {
  const token = { id: '', tokenId: A, symbol: 'X', decimals: 9, usdPrice: null };
  expect([unitOfAmount(token), unitOfAmount({ ...token, decimals: null })]).toEqual(['X', 'smallest units of X']);
  expect([isCoarsePrice(1e-9, token), isCoarsePrice(0.77, token), isCoarsePrice(null, token)]).toEqual([
    true,
    false,
    false,
  ]);
});

test('no line ends between an amount and its unit', () => {
  const token = { id: '', tokenId: A, symbol: 'X', decimals: 9, usdPrice: null };
  expect(amountWithUnit('755096000000000', token)).toBe('755,096\u00a0X');
});

describe('in US dollars', () => {
  const token = (tokenId: string, usdPrice: number | null) => ({
    id: tokenId,
    tokenId,
    symbol: 'X',
    decimals: 9,
    usdPrice,
  });
  const market = {
    base: token(B, 300),
    target: token(A, 2),
    pair: undefined,
    pool: undefined,
    pairs: [],
    isInverse: false,
  };
  const figures = {
    price: 150,
    exactPrice: null,
    spotPrice: null,
    lastPrice: null,
    change: null,
    hostVolume: undefined,
  };

  test('an amount is worth that of the first side whose price is known', () => {
    expect(usdOf([150, market.target])).toBe(300);
    expect(usdOf([null, market.target], [3, market.base])).toBe(900);
    expect(usdOf([7, token(A, null)], [3, market.base])).toBe(900);
    expect([usdOf([7, token(A, null)]), usdOf([undefined, market.base]), usdOf()]).toEqual([null, null, null]);
  });

  test('a volume is that of the host, from either side, or else what was traded through the pool', () => {
    const ofHost = (base: number | null, target: number | null) =>
      volumeUsd(market, { ...figures, hostVolume: { base, target } });
    expect([ofHost(2, 290), ofHost(2, 0), ofHost(2, null), ofHost(null, null)]).toEqual([580, 600, 600, null]);
    const change = {
      fromTime: '',
      percent: null,
      high: null,
      low: null,
      tradedToken1: '1000000000',
      tradedToken2: '4000000000',
      isComplete: true,
    };
    expect(volumeUsd(market, { ...figures, change })).toBe(1_200);
    expect(volumeUsd({ ...market, isInverse: true }, { ...figures, change })).toBe(300);
    expect(volumeUsd(market, figures)).toBeNull();
  });

  test('trades on the chain are worth what either side is worth', () => {
    const traded = { base: '4000000000', target: '1000000000' };
    expect(tradedUsd(market, traded)).toBe(2);
    expect(tradedUsd({ ...market, target: token(A, null) }, traded)).toBe(1_200);
    expect(tradedUsd(market, undefined)).toBeNull();
  });
});
