import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NumberText, parseJson, parseJsonWithTexts } from '../../src/upstream/json.ts';

type Document = { readonly text: string; readonly value: unknown };

const space = fc.constantFrom('', '', ' ', '\n\t', '\r\n');
const integer = fc
  .oneof(
    fc.bigInt(),
    fc.bigInt(-(2n ** 54n), 2n ** 54n),
    fc.bigInt(0n, 2n ** 64n),
    fc.bigInt(2n ** 53n - 2n, 2n ** 53n + 2n),
  )
  .map((number) => ({ text: `${number}`, value: isBeyond(number) ? number : Number(number) }));
const fraction = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .filter((number) => !Number.isInteger(number))
  .map((number) => ({ text: JSON.stringify(number), value: number }));
const word = fc
  .oneof(fc.string(), fc.constantFrom('12345678901234567890', ':12345678901234567890,', '[-9007199254740993]', '"'))
  .map((text) => ({ text: JSON.stringify(text), value: text }));
const constant = fc.constantFrom(true, false, null).map((value) => ({ text: String(value), value }));

const { document: anyDocument } = fc.letrec<{ document: Document; value: Document }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, integer, fraction, word, constant, tie('document')),
  document: fc.oneof(
    fc.tuple(fc.array(tie('value')), space).map(([items, around]) => ({
      text: `[${around}${items.map(({ text }) => text + around).join(`,${around}`)}]`,
      value: items.map(({ value }) => value),
    })),
    fc.tuple(fc.dictionary(fc.string(), tie('value')), space).map(([fields, around]) => ({
      text: `{${around}${Object.entries(fields)
        .map(([key, { text }]) => `${JSON.stringify(key)}${around}:${around}${text}${around}`)
        .join(`,${around}`)}}`,
      value: Object.fromEntries(Object.entries(fields).map(([key, { value }]) => [key, value])),
    })),
  ),
}));

function isBeyond(number: bigint): boolean {
  return number > 2n ** 53n - 1n || number < -(2n ** 53n - 1n);
}

describe('parseJson keeps integers exact', () => {
  test.each([
    ['in an array', '[9007199254740993]', [9007199254740993n]],
    ['below zero', '[-9007199254740993]', [-9007199254740993n]],
    ['as the value of a key', '{"a":18446744073709551615}', { a: 18446744073709551615n }],
    ['between others', '{"a":1,"b":18446744073709551615,"c":2}', { a: 1, b: 18446744073709551615n, c: 2 }],
    ['two in a row', '[9007199254740993,9007199254740995]', [9007199254740993n, 9007199254740995n]],
    ['on a line of its own', '[\n\t9007199254740993\n]', [9007199254740993n]],
    ['after a fraction', '[0.5, 12345678901234567890]', [0.5, 12345678901234567890n]],
    ['deep inside', '{"a":[[{"b":9007199254740993}]]}', { a: [[{ b: 9007199254740993n }]] }],
    ['of more digits than any amount has', `[1${'0'.repeat(400)}]`, [10n ** 400n]],
    ['as the whole text', '18446744073709551615', 18446744073709551615n],
    ['as the whole text, with a line end', '-18446744073709551615\n', -18446744073709551615n],
  ])('one beyond 2^53 %s', (_, text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  test.each([
    ['the largest that a double holds for sure', '[9007199254740991]', [9007199254740991]],
    ['its negative', '[-9007199254740991]', [-9007199254740991]],
    ['one of 16 digits', '[8999999999999999]', [8999999999999999]],
    ['zero below zero', '[-0]', [-0]],
  ])('%s stays a number', (_, text, value) => {
    expect(parseJson(text)).toEqual(value);
  });
});

describe('parseJson is otherwise like JSON.parse', () => {
  test.each([
    ['digits in a text', '{"a":"12345678901234567890","b":[":12345678901234567890,"]}'],
    ['digits in a key', '{"12345678901234567890":1}'],
    ['a large number with an exponent', '[1e300, 12345678901234567890e2, 1E+25]'],
    ['a large number with a fraction', '[12345678901234567890.5, 9007199254740993.0]'],
    ['a number beyond every double', '[1e999]'],
    ['a key that has a meaning elsewhere', '{"__proto__":{"a":1},"constructor":2}'],
  ])('%s', (_, text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
    const beside = `[12345678901234567890,${text}]`;
    expect(parseJson(beside)).toEqual([12345678901234567890n, JSON.parse(text)]);
  });

  test.each(['', '{', '[1,]', '12345678901234567890,', '[12345678901234567890', '{"a":01234567890123456789}', 'NaN'])(
    '%j is no JSON',
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    },
  );
});

test('in any document, each integer beyond 2^53 is exact, and everything else is as it was written', () => {
  fc.assert(
    fc.property(anyDocument, space, ({ text, value }, around) => {
      expect(parseJson(around + text + around)).toEqual(value);
    }),
    { numRuns: 300 },
  );
});

describe('JSON with the texts of its numbers', () => {
  const number = fc.oneof(
    integer,
    fraction,
    fc.constantFrom('1.50', '4e-9', '1E2', '-0', '0.0', '1e+21', '1e21', '1e400', '1e-999').map((text) => ({ text })),
  );

  test('has each number of an array as it was written', () => {
    fc.assert(
      fc.property(fc.array(number), space, (numbers, around) => {
        const texts = numbers.map(({ text }) => text);
        const items = texts.map((text) => around + text + around).join(',');
        const parsed = parseJsonWithTexts(`{"a":${around}[${items}${around}],"b c":"1 2"}`) as { a: unknown[] };
        expect(parsed).toEqual({ a: parsed.a, 'b c': '1 2' });
        expect(parsed.a.map((item) => (item instanceof NumberText ? item.text : String(item)))).toEqual(texts);
        for (const item of parsed.a)
          if (item instanceof NumberText) expect(item.text).not.toBe(String(Number(item.text)));
      }),
    );
  });

  test('is otherwise parsed as without them', () => {
    const text = '{"time": 1.0, "big": 18446744073709551615, "word": "1.50", "list": ["1.50", null, {"n": 2.0}]}';
    expect(parseJsonWithTexts(text)).toEqual(parseJson(text));
    expect(() => parseJsonWithTexts('[1.50')).toThrow(SyntaxError);
  });
});
