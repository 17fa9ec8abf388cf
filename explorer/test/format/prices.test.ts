import { expect, test } from 'vitest';
import { nameOfToken, percentOf } from '../../src/format/prices.ts';

const named = (symbol: string | null) => nameOfToken({ tokenId: `12345678${'0'.repeat(50)}abcdef`, symbol });

test.each([
  ['a right-to-left word', '\u05e9\u05e7\u05dc'],
  ['Arabic letters with digits', 'X\u0631\u064a\u0627\u06441'],
  ['a character that turns the order around', '\u202eTDSU'],
  ['a mark of the direction', 'USD\u200f'],
  ['a letter beyond 16 bits', '\u{10900}'],
])('a symbol with %s keeps to itself: amounts beside it stay in their order', (_kind, symbol) => {
  expect(named(symbol)).toBe(`\u2068${symbol}\u2069`);
});

test('a symbol that ends its isolation cannot reach what follows', () => {
  expect(named('A\u2069\u202eB')).toBe('\u2068A\u202eB\u2069');
  expect(named('\u2067A')).toBe('\u2068A\u2069');
});

test.each(['PRV', 'pUSDT', 'Ünï-1', '日本', '₿', '🚀'])('%s is as it is', (symbol) => {
  expect(named(symbol)).toBe(symbol);
});

test('a token without a symbol has the beginning and the end of its id', () => {
  expect(named(null)).toBe('123456…abcdef');
});

test.each([
  [150, 100, 50],
  [0, 100, -100],
  [100, 0, null],
  [100, -0.001, null],
  [100, null, null],
  [null, 100, null],
])('%s after %s is a change of %s percent', (price, from, percent) => {
  expect(percentOf(price, from)).toBe(percent);
});
