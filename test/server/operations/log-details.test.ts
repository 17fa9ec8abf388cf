import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { labelOf } from '../../../src/server/operations/log-details.ts';

test.each([
  ['{ a }', undefined],
  ['query { a }', undefined],
  ['query A { a }', 'A'],
  ['# query B\nsubscription\n  A($x: Int = 1) { a }', 'A'],
  ['fragment F on Query { query a(text: "query B {") } query A { ...F }', undefined],
  ['query ($A: Int) { a }', undefined],
  ['query A', 'A'],
  ['mutation A {', 'A'],
  ['"" ', undefined],
  ['}} query A { a }', undefined],
  ['', undefined],
  ['\u0000', undefined],
  [`query ${'A'.repeat(129)} { a }`, undefined],
])('the name of the operation of %j is %s', (query, operation) => {
  const { operation: found, hash } = labelOf({ query });
  expect(found).toBe(operation);
  expect(hash).toBe(createHash('sha256').update(query).digest('hex').slice(0, 16));
});

test('a valid name that the client sends is used first', () => {
  const query = 'query A { a } query B { a }';
  expect(labelOf({ query, operationName: 'B' }).operation).toBe('B');
  expect(labelOf({ query, operationName: 'not a name\n' }).operation).toBe('A');
  expect(labelOf({ query, operationName: { secret: 1 } }).operation).toBe('A');
});

test('a query that is not a string has no hash', () => {
  expect(labelOf({})).toEqual({});
  expect(labelOf({ query: 5, operationName: 'A' })).toEqual({ operation: 'A' });
});

test('the search for the name ends', () => {
  for (const begin of ['fragment F on Query { a } ', '# '.repeat(100_000), '#\n'.repeat(100_000), '\n'.repeat(250_000)])
    expect(labelOf({ query: `${begin}{ a }` }).operation).toBeUndefined();
});
