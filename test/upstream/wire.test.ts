import { describe, expect, test } from 'vitest';
import {
  readArray,
  readInteger,
  readObject,
  readString,
  readTimestamp,
  readTokenId,
  readUint64,
  ShapeError,
} from '../../src/upstream/wire.ts';

type Reader = (value: unknown, path: string) => unknown;

const hex = '0123456789abcdef'.repeat(4);

describe('what fits', () => {
  test.each<[string, Reader, unknown, unknown]>([
    ['an object', readObject, { a: 1 }, { a: 1 }],
    ['an array', readArray, [1], [1]],
    ['a string', readString, '', ''],
    ['half of a surrogate pair, which is replaced', readString, 'a\ud83d', 'a\ufffd'],
    ['an integer', readInteger, 0, 0],
    ['the largest integer of a double', readInteger, 2 ** 53 - 1, 2 ** 53 - 1],
    ['a small amount', readUint64, 5, 5n],
    ['no amount', readUint64, 0, 0n],
    ['a large amount', readUint64, 2n ** 53n + 1n, 2n ** 53n + 1n],
    ['the largest amount', readUint64, 2n ** 64n - 1n, 2n ** 64n - 1n],
    ['a time with a fraction', readTimestamp, 1_668_769_564.5, 1_668_769_564.5],
    ['a late time in microseconds', readTimestamp, 9e15, 9e15],
    ['a token id', readTokenId, hex, hex],
    ['a token id in capitals, which is made small', readTokenId, hex.toUpperCase(), hex],
  ])('%s', (_, read, value, result) => {
    expect(read(value, '$')).toEqual(result);
  });
});

describe('a shape error says what was expected, and where', () => {
  test.each<[string, Reader, readonly unknown[]]>([
    ['an object', readObject, [undefined, null, [], 'x', 1, 1n, true]],
    ['an array', readArray, [undefined, null, {}, 'x', 1]],
    ['a string', readString, [undefined, null, {}, [], 1, 1n]],
    ['an integer', readInteger, [undefined, null, '1', -1, 1.5, 2 ** 53, 2n ** 60n, Number.NaN, [1]]],
    ['an integer', readUint64, [undefined, null, '1', -1, 1.5, 2n ** 64n, -1n, 1e20]],
    [
      '64 hexadecimal characters',
      readTokenId,
      [undefined, null, '', hex.slice(1), `${hex}0`, hex.replace('a', 'g'), 4],
    ],
  ])('%s', (expected, read, values) => {
    for (const value of values) expect(() => read(value, '$.a[0]')).toThrow(new ShapeError(`${expected}`, '$.a[0]'));
    expect(new ShapeError(expected, '$.a[0]').message).toBe(`expected ${expected} at $.a[0]`);
  });
});
