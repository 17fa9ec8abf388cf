import { describe, expect, test } from 'vitest';
import { readAmount } from '../../src/pages/market/swap/amount.ts';
import { IMPACT_WARNINGS, impactLevel } from '../../src/pages/market/swap/price-impact.ts';
import { isCheaper, sentenceOfQuote } from '../../src/pages/market/swap/quote-view.tsx';
import { staleQuoteReason } from '../../src/pages/market/swap/stale-quote.ts';
import { readSwapState, writeSwapState } from '../../src/pages/market/swap/swap-state.ts';

const PRV = { name: 'PRV', decimals: 9 };

describe('an amount that somebody types', () => {
  test.each([
    ['1', '1000000000'],
    ['1.5', '1500000000'],
    ['.5', '500000000'],
    ['5.', '5000000000'],
    [' 1,234,567.000000001 ', '1234567000000001'],
    ['0.000000001', '1'],
    ['1 000', '1000000000000'],
    ['1,500', '1500000000000'],
    ['1,234,567.8', '1234567800000000'],
    // Phones of many regions have only a comma.
    ['1,5', '1500000000'],
    [',5', '500000000'],
    ['5,', '5000000000'],
    ['0,125', '125000000'],
    ['12,3456', '12345600000'],
    ['1234,567', '1234567000000'],
    ['1 234,5', '1234500000000'],
    ["1'234.5", '1234500000000'],
    ['18446744073.709551615', '18446744073709551615'],
  ])('%j is exact', (text, units) => {
    expect(readAmount(text, PRV)).toEqual({ kind: 'amount', units });
  });

  test.each([
    ['0', 'Enter an amount above 0.'],
    ['-1', 'Enter an amount above 0.'],
    ...[
      '0 125',
      "0'125",
      '00,125',
      '01,500',
      '1,23,456',
      '1,234,5',
      '1.234,5',
      '1,5.5',
      '1e3',
      '1.2.3',
      '.',
      ',',
      'one',
    ].map((text) => [text, 'Enter a number, such as 1.5 or 1,500.25.']),
    ['1,0000000001', 'PRV has at most 9 decimals, this has 10.'],
    ['1.0000000001', 'PRV has at most 9 decimals, this has 10.'],
    ['18446744073.709551616', 'This is more than the exchange can count: 2^64 - 1 smallest units.'],
  ])('%j is refused with a reason', (text, problem) => {
    expect(readAmount(text, PRV)).toEqual({ kind: 'invalid', problem });
  });

  test('nothing is no mistake', () => {
    expect(readAmount('  ', PRV)).toEqual({ kind: 'empty' });
  });

  test('without known decimals, smallest units count', () => {
    expect(readAmount('1,500', { name: 'X', decimals: null })).toEqual({ kind: 'amount', units: '1500' });
    expect(readAmount('1.5', { name: 'X', decimals: null })).toEqual({
      kind: 'invalid',
      problem: 'Enter whole smallest units: the decimals of X are not known.',
    });
    expect(readAmount('1.5', { name: 'X', decimals: 0 })).toEqual({ kind: 'invalid', problem: 'X has no decimals.' });
  });
});

describe('the form in the URL', () => {
  const market = { isInverse: false };
  const read = (text: string) => readSwapState(new URLSearchParams(text), market);

  test('has defaults, also for what is wrong', () => {
    const defaults = { side: 'buy', exact: 'pay', amount: '', slippagePercent: 0.5, path: '3' };
    expect(read('')).toEqual(defaults);
    expect(read('from=up&slippage=99&route=6')).toEqual(defaults);
    expect(read(`pay=${'9'.repeat(99)}`).amount).toHaveLength(60);
  });

  test.each([
    '',
    'from=token1&pay=1%2C000.5',
    'from=token2&pay=2',
    'from=token2&receive=3&slippage=1',
    'from=token1&receive=',
    'from=token2',
    'from=token1&pay=1&route=pool',
    'route=5',
  ])('%j is read and written the same, and other parameters stay', (text) => {
    const state = read(text);
    const written = writeSwapState(new URLSearchParams('interval=1h&pay=7&receive=8&from=token2'), state, market);
    expect(written.get('interval')).toBe('1h');
    expect(readSwapState(written, market)).toEqual(state);
    written.delete('interval');
    expect(written.toString()).toBe(text);
  });

  test.each(['buy', 'sell'] as const)(
    'to %s pays the same token on the page of a market with the other direction',
    (side) => {
      const ofPool = { ...read('pay=5'), side };
      const parameters = writeSwapState(new URLSearchParams(), ofPool, market);
      const ofMarket = readSwapState(parameters, { isInverse: true });
      expect(ofMarket).toEqual({ ...ofPool, side: side === 'buy' ? 'sell' : 'buy' });
    },
  );
});

test('the impact on the price has a level, and a warning unless it is low', () => {
  const levels = [0, 0.99, 1, 4.99, 5, 14.9, 15, 100].map(impactLevel);
  expect(levels).toEqual(['low', 'low', 'noticeable', 'noticeable', 'high', 'high', 'very high', 'very high']);
  expect(levels.filter((level) => IMPACT_WARNINGS[level] === undefined)).toEqual(['low', 'low']);
  // Near 100 it is nearly empty.
  expect(IMPACT_WARNINGS[impactLevel(15)]).toMatch(/takes a large part of a pool/);
});

test('two quotes are compared only at one height', () => {
  const quote = { beaconHeight: 7, sellAmount: '100', buyAmount: '50', fee: null };
  const better = { ...quote, buyAmount: '51' };
  expect(isCheaper(better, quote, false)).toBe(true);
  expect(isCheaper(quote, better, true)).toBe(false);
  expect(isCheaper({ ...better, beaconHeight: 6 }, quote, false)).toBe(false);
  expect(isCheaper({ ...quote, beaconHeight: 8 }, better, true)).toBe(true);
});

test('a quote has a sentence for screen readers, with its amounts, its impact, and whether it is old', () => {
  const token = { id: '', tokenId: '', decimals: 0, usdPrice: null };
  const [pays, receives] = [
    { ...token, symbol: 'A' },
    { ...token, symbol: 'B' },
  ];
  const quote = { sellAmount: '1000', buyAmount: '20', priceImpactPercent: 1.5 };
  const sentence = 'You receive 20\u00a0B for 1,000\u00a0A, impact on the price: 1.50%, noticeable.';
  expect(sentenceOfQuote(quote, pays, receives, false)).toBe(sentence);
  expect(sentenceOfQuote(quote, pays, receives, true)).toBe(`${sentence} This quote is old.`);
  expect(sentenceOfQuote({ ...quote, priceImpactPercent: -1 }, pays, receives, false)).toMatch(/orders are better/);
});

describe('a quote is old', () => {
  const connected = { name: 'connected', over: 'websocket' } as const;
  const head = { beaconHeight: 101, stale: false };

  test('not one height after its head', () => {
    expect(staleQuoteReason({ quotedAt: 101, connection: connected, head })).toBeUndefined();
    expect(staleQuoteReason({ quotedAt: 100, connection: connected, head })).toBeUndefined();
    expect(staleQuoteReason({ quotedAt: 100, connection: connected, head: undefined })).toBeUndefined();
  });

  test('when newer heights have no quote, no blocks come, or the gateway is gone', () => {
    expect(staleQuoteReason({ quotedAt: 99, connection: connected, head })).toMatch(/some heights old/);
    expect(staleQuoteReason({ quotedAt: 101, connection: connected, head: { ...head, stale: true } })).toMatch(
      /no new blocks/,
    );
    for (const name of ['reconnecting', 'disconnected'] as const) {
      expect(staleQuoteReason({ quotedAt: 101, connection: { name, since: 1 }, head })).toMatch(/cannot be reached/);
    }
  });
});
