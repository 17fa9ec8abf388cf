import { describe, expect, test } from 'vitest';
import { KNOWN_TOKENS, NATIVE_TOKEN_ID, parseTokenId, readTokens, toTokenList } from '../../src/domain/token.ts';
import { tokenId } from './pools.ts';

describe('a token id', () => {
  test('has 64 lowercase hexadecimal characters, and nothing around them', () => {
    const id = '0123456789abcdef'.repeat(4);
    expect(parseTokenId(id)).toBe(id);
    for (const other of [id.slice(1), `${id}0`, ` ${id}`, `${id}\n`, id.toUpperCase(), id.replace('a', 'g'), '', 4]) {
      expect(parseTokenId(other)).toBeUndefined();
    }
  });
});

describe('the built-in token list', () => {
  test('has the native coin, seven bridged and two unified tokens, each with its decimals', () => {
    const said = [...KNOWN_TOKENS.values()].map(({ symbol, decimals }) => `${symbol} ${decimals}`);
    expect(said).toEqual(['PRV 9', 'BTC 9', 'ETH 9', 'USDT 6', 'USDC 6', 'XMR 9', 'BNB 9', 'DAI 9', 'USDT 6', 'ETH 9']);
    expect(KNOWN_TOKENS.get(NATIVE_TOKEN_ID)?.symbol).toBe('PRV');
    expect([...KNOWN_TOKENS].every(([id, token]) => id === token.tokenId && parseTokenId(id) === id)).toBe(true);
  });
});

describe('a tokens file', () => {
  test('has ids, symbols and decimals; the last two may be missing or null', () => {
    const document = [
      { id: tokenId('a'), symbol: 'AAA', decimals: 0 },
      { id: tokenId('b'), symbol: null, decimals: null, name: 'ignored' },
      { id: tokenId('c') },
      { id: tokenId('d'), decimals: 30 },
      { id: tokenId('e'), symbol: 'half\ud83d' },
    ];
    expect(readTokens(document)).toEqual([
      { tokenId: tokenId('a'), symbol: 'AAA', decimals: 0 },
      { tokenId: tokenId('b'), symbol: undefined, decimals: undefined },
      { tokenId: tokenId('c'), symbol: undefined, decimals: undefined },
      { tokenId: tokenId('d'), symbol: undefined, decimals: 30 },
      { tokenId: tokenId('e'), symbol: 'half\ufffd', decimals: undefined },
    ]);
    expect(readTokens([])).toEqual([]);
  });

  test.each([
    [{ id: tokenId('a').toUpperCase() }, 'expected 64 lowercase hexadecimal characters at $[1].id'],
    [{ id: tokenId('b'), symbol: 7 }, 'expected a string at $[1].symbol'],
    [{ id: tokenId('c'), symbol: 'C', decimals: 31 }, 'expected a whole number from 0 to 30 at $[1].decimals'],
    [{ id: tokenId('d'), decimals: 1.5 }, 'expected a whole number from 0 to 30 at $[1].decimals'],
    [{ id: tokenId('e'), decimals: '9' }, 'expected a whole number from 0 to 30 at $[1].decimals'],
    [null, 'expected 64 lowercase hexadecimal characters at $[1].id'],
    ['token', 'expected 64 lowercase hexadecimal characters at $[1].id'],
  ])('with %j is refused', (entry, problem) => {
    expect(() => readTokens([{ id: tokenId('f') }, entry])).toThrow(new Error(problem));
  });

  test.each([[{}], [null], ['[]'], [7]])('cannot be %j', (document) => {
    expect(() => readTokens(document)).toThrow('expected an array of {"id", "symbol", "decimals"}');
  });

  test('can have a token twice, of which the last counts', () => {
    const [first, second] = [6, 8].map((decimals) => ({ tokenId: tokenId('a'), symbol: undefined, decimals }));
    expect([...toTokenList([first, second].filter((token) => token !== undefined)).values()]).toEqual([second]);
  });
});
