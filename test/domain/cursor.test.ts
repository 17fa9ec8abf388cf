import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cursor, filterFingerprint, formatCursor, parseCursor } from '../../src/domain/page.ts';
import { anyCharacter } from '../support/any-character.ts';
import { MAX_RESERVE, tokenId } from './pools.ts';

const anyTokenId = fc.bigInt(0n, 2n ** 256n - 1n).map((number) => number.toString(16).padStart(64, '0'));
const anyCursor: fc.Arbitrary<Cursor> = fc.record({
  beaconHeight: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  filter: fc.string().map((symbol) => filterFingerprint({ symbol })),
  order: fc.constantFrom('ID_ASC', 'ID_DESC', 'NATIVE_LIQUIDITY_DESC', 'NON_EMPTY_FIRST'),
  position: fc.record({
    id: fc.tuple(anyTokenId, anyTokenId).map((ids) => ids.join('-')),
    nativeLiquidity: fc.option(fc.bigInt(0n, MAX_RESERVE), { nil: undefined }),
    isEmpty: fc.boolean(),
  }),
});

const cursor: Cursor = {
  beaconHeight: 1_640_000,
  filter: filterFingerprint({ nonEmpty: true }),
  order: 'NATIVE_LIQUIDITY_DESC',
  position: { id: `${tokenId('a')}-${tokenId('b')}`, nativeLiquidity: 0n, isEmpty: true },
};

describe('a cursor', () => {
  test('is read back as it was written', () => {
    fc.assert(
      fc.property(anyCursor, (any) => {
        expect(parseCursor(formatCursor(any))).toEqual(any);
      }),
    );
  });

  test('needs no escaping in a URL or in JSON', () => {
    fc.assert(
      fc.property(anyCursor, (any) => {
        expect(formatCursor(any)).toMatch(/^[\w-]+$/);
      }),
    );
  });
});

describe('a text that is not a cursor', () => {
  const written = (parts: string) => Buffer.from(parts).toString('base64url');
  const id = cursor.position.id;

  test.each([
    ['no text', ''],
    ['any text', 'hello'],
    ['an id of another kind', written(`pool:${id}`)],
    ['a height of 0', written(`0:${cursor.filter}:0:${id}:`)],
    ['a height above 2^53', written(`9007199254740993:${cursor.filter}:0:${id}:`)],
    ['a height below 0', written(`-5:${cursor.filter}:0:${id}:`)],
    ['a filter of another length', written(`5:abc:0:${id}:`)],
    ['an order that there is not', written(`5:${cursor.filter}:4:${id}:`)],
    ['one token for two', written(`5:${cursor.filter}:0:${tokenId('a')}:`)],
    ['liquidity that is no number', written(`5:${cursor.filter}:0:${id}:1e3`)],
    ['something behind it', written(`5:${cursor.filter}:0:${id}::`)],
    ['a line behind it', written(`5:${cursor.filter}:0:${id}:\n`)],
  ])('%s', (_, text) => {
    expect(parseCursor(text)).toBeUndefined();
  });

  test.each([
    ['padding behind it', (text: string) => `${text}=`],
    ['a space in it', (text: string) => `${text.slice(0, 9)} ${text.slice(9)}`],
    ['a character of no alphabet in it', (text: string) => `${text.slice(0, 9)}!${text.slice(9)}`],
    ['zeros in front of its height', (text: string) => written(`00${Buffer.from(text, 'base64url')}`)],
    ['zeros in front of its liquidity', (text: string) => written(`${Buffer.from(text, 'base64url')}0`)],
  ])('a cursor with %s', (_, disguise) => {
    expect(parseCursor(formatCursor(cursor))).toEqual(cursor);
    expect(parseCursor(disguise(formatCursor(cursor)))).toBeUndefined();
  });

  test('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(parseCursor(text)).toBeUndefined();
      }),
    );
  });

  test('can be any cursor with a change, or it is another cursor, but never the same', () => {
    const place = fc.nat({ max: 300 });
    fc.assert(
      fc.property(
        anyCursor,
        place,
        place,
        fc.string({ unit: anyCharacter, maxLength: 3 }),
        (any, at, length, instead) => {
          const text = formatCursor(any);
          const changed = text.slice(0, at % text.length) + instead + text.slice((at % text.length) + (length % 4));
          const read = parseCursor(changed);
          if (read !== undefined) expect(formatCursor(read)).toBe(changed);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('the fingerprints of two filters', () => {
  test('are equal if the filters are, in whatever order their fields are, and a missing field is null', () => {
    const one = filterFingerprint({ tokenId: tokenId('a'), nonEmpty: true });
    expect(filterFingerprint({ nonEmpty: true, tokenId: tokenId('a') })).toBe(one);
    expect(filterFingerprint({ nonEmpty: true, tokenId: tokenId('a'), anyTokenOf: undefined, base: null })).toBe(one);
  });

  test('differ otherwise', () => {
    const filters = [{}, { nonEmpty: true }, { nonEmpty: false }, { tokenId: tokenId('a') }, { tokenId: tokenId('b') }];
    expect(new Set(filters.map(filterFingerprint)).size).toBe(filters.length);
  });
});
