import { describe, expect, test } from 'vitest';
import { listTokens, type TokenSort } from '../../src/pages/tokens/token-list.ts';
import { firstDirection } from '../../src/parts/sorting.ts';

const token = (
  tokenId: string,
  symbol: string | null,
  nativePrice: number | null,
  poolCount: number | null = 1,
  usdPrice: number | null = null,
) => ({
  id: `Token:${tokenId}`,
  tokenId,
  symbol,
  decimals: 9,
  nativePrice,
  usdPrice,
  poolCount,
});

const TOKENS = [
  token('aa01', 'BTC', 11_000, 7, 25_000),
  token('bb02', 'eth', 280, 9),
  token('cc03', null, null, 2),
  token('dd04', 'PRV', null, 30, 2),
  token('bb05', 'BTC', 0, null),
];

const ids = (sort: TokenSort, { search = '', direction = firstDirection(sort) } = {}) =>
  listTokens(TOKENS, { search, sort, direction }).map(({ tokenId }) => tokenId);

describe('the list of tokens', () => {
  test('by name: without regard to case, equal names by id, those without a symbol last in both directions', () => {
    expect(ids('name')).toEqual(['aa01', 'bb05', 'bb02', 'dd04', 'cc03']);
    expect(ids('name', { direction: 'descending' })).toEqual(['dd04', 'bb02', 'bb05', 'aa01', 'cc03']);
  });

  test('by a number: the largest first, those without one last in both directions', () => {
    expect(ids('price')).toEqual(['aa01', 'bb02', 'bb05', 'dd04', 'cc03']);
    expect(ids('price', { direction: 'ascending' })).toEqual(['bb05', 'bb02', 'aa01', 'dd04', 'cc03']);
    expect(ids('pools')).toEqual(['dd04', 'bb02', 'aa01', 'cc03', 'bb05']);
  });

  test('by the price in US dollars: the native coin has one, and a token without comes last', () => {
    const inUsd = (direction: 'ascending' | 'descending') =>
      listTokens(TOKENS, { search: '', sort: 'price', direction, unit: 'USD' }).map(({ tokenId }) => tokenId);
    expect(inUsd('descending')).toEqual(['aa01', 'dd04', 'bb05', 'bb02', 'cc03']);
    expect(inUsd('ascending')).toEqual(['dd04', 'aa01', 'bb05', 'bb02', 'cc03']);
  });

  test('is searched by a part of the symbol, or the beginning of the id', () => {
    expect(ids('name', { search: ' Bt ' })).toEqual(['aa01', 'bb05']);
    expect(ids('name', { search: 'bb0' })).toEqual(['bb05', 'bb02']);
    expect(ids('name', { search: '02' })).toEqual([]);
  });

  test('has tokens whose symbols are names of properties of every object', () => {
    const tokens = ['constructor', 'toString', '__proto__'].map((symbol, index) => token(`aa0${index}`, symbol, null));
    const found = (search: string) =>
      listTokens(tokens, { search, sort: 'name', direction: 'ascending' }).map(({ symbol }) => symbol);
    expect([found('zz'), found('proto')]).toEqual([[], ['__proto__']]);
  });

  test('leaves the tokens as they were', () => {
    const before = [...TOKENS];
    ids('price');
    expect(TOKENS).toEqual(before);
  });
});
