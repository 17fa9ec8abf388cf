import fc from 'fast-check';
import { OverlappingFieldsCanBeMergedRule, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../../src/graphql/schema.ts';
import { overlappingFields } from '../../../src/server/operations/overlapping-fields.ts';
import { repeat } from '../../support/operations.ts';

const conflicts = (text: string) => validate(schema, parse(text), [overlappingFields]).map(({ message }) => message);
const conflictsByGraphqlJs = (text: string) => validate(schema, parse(text), [OverlappingFieldsCanBeMergedRule]);

describe('fields with the same response name', () => {
  test.each([
    [
      'the same',
      '{ beaconHeight beaconHeight poolPairs(first: 1) { totalCount } poolPairs(first: 1) { pageInfo { endCursor } } }',
    ],
    [
      'of objects of different types',
      '{ nodes(ids: []) { ... on PoolPair { x: key } ... on Ticker { x: tickerId } } }',
    ],
    [
      'in a fragment that is spread in several places',
      '{ a: tokens { ...T } b: tokens { ...T } } fragment T on Token { id }',
    ],
    [
      'arguments in another order',
      '{ pair(poolId: "a", tickerId: "b") { id } pair(tickerId: "b", poolId: "a") { base } }',
    ],
    [
      'fields of an input object in another order',
      '{ poolPairs(filter: { nonEmpty: true, symbols: ["a"] }) { totalCount } poolPairs(filter: { symbols: ["a"], nonEmpty: true }) { pageInfo { endCursor } } }',
    ],
    [
      'fields of input objects in a list in another order',
      'subscription { prices(poolPairs: [{ token1Id: "a", token2Id: "b" }]) { beaconHeight } prices(poolPairs: [{ token2Id: "b", token1Id: "a" }]) { source { node } } }',
    ],
    [
      'further down, of objects of different types',
      '{ nodes(ids: []) { ... on PoolPair { x: token1 { y: usdPrice } } ... on Pair { x: baseToken { y: nativePrice } } } }',
    ],
    [
      'fragments in a circle',
      '{ tokens { ...A } } fragment A on Token { id ...B } fragment B on Token { symbol ...A }',
    ],
  ])('can be merged: %s', (_name, text) => {
    expect(conflicts(text)).toEqual([]);
    expect(conflictsByGraphqlJs(text)).toEqual([]);
  });

  test.each([
    ['other fields', '{ a: beaconHeight a: service { version } }', /"beaconHeight" and "service" are different fields/],
    [
      'other arguments',
      '{ poolPairs(first: 1) { totalCount } poolPairs(first: 2) { totalCount } }',
      /differing arguments/,
    ],
    [
      'lists in another order',
      '{ poolPairs(filter: { symbols: ["a", "b"] }) { totalCount } poolPairs(filter: { symbols: ["b", "a"] }) { totalCount } }',
      /differing arguments/,
    ],
    ['one without arguments', '{ poolPairs { totalCount } poolPairs(first: 2) { totalCount } }', /differing arguments/],
    [
      'further down',
      '{ service { x: version } ...F } fragment F on Query { service { x: sandbox } }',
      /"version" and "sandbox"/,
    ],
    ['by an interface', '{ nodes(ids: []) { x: id ... on Token { x: symbol } } }', /"id" and "symbol"/],
    [
      'values of another shape',
      '{ nodes(ids: []) { ... on PoolPair { x: price } ... on Token { x: symbol } } }',
      /conflicting types "Float" and "String"/,
    ],
    [
      'an object that can be null, and one that cannot',
      '{ nodes(ids: []) { ... on Pair { x: poolPair { id } } ... on Trade { x: poolPair { id } } } }',
      /conflicting types "PoolPair" and "PoolPair!"/,
    ],
    [
      'an object and a list',
      '{ nodes(ids: []) { ... on Ticker { x: pair { id } } ... on PoolPair { x: pairs { id } } } }',
      /conflicting types "Pair" and "\[Pair!\]"/,
    ],
    [
      'a value and an object',
      '{ nodes(ids: []) { ... on PoolPair { x: price } ... on Pair { x: ticker { id } } } }',
      /conflicting types "Float" and "Ticker"/,
    ],
    [
      'that can be merged in another place, of objects of different types',
      `{ nodes(ids: []) { ... on Pair { x: poolPair { ...F } } ... on Ticker { x: poolPair { ...G } } } poolPairs { nodes { ...F ...G } } }
        fragment F on PoolPair { token1 { y: usdPrice } } fragment G on PoolPair { token1 { y: nativePrice } }`,
      /"usdPrice" and "nativePrice" are different fields/,
    ],
  ])('cannot be merged: %s', (_name, text, message) => {
    expect(conflicts(text)).toEqual([expect.stringMatching(message)]);
    expect(conflictsByGraphqlJs(text)).toHaveLength(1);
  });

  test('have the same errors as in graphql-js', () => {
    const leaf = fc.constantFrom(
      'id',
      'a: id',
      'a: symbol',
      'a: key',
      'b: price',
      'b: price(decimals1: 1)',
      '...P',
      '...Q',
    );
    const selection = fc.letrec<{ some: string }>((tie) => ({
      some: fc
        .array(
          fc.oneof(
            { maxDepth: 3 },
            leaf,
            fc
              .tuple(fc.constantFrom('token1', 'a: token1', 'c: token2'), tie('some'))
              .map(([name, some]) => `${name} ${some.replaceAll(/\.\.\.[PQ]|price(\(.*?\))?|key/g, 'id')}`),
            tie('some').map((some) => `... ${some}`),
          ),
          { minLength: 1, maxLength: 5 },
        )
        .map((some) => `{ ${some.join(' ')} }`),
    })).some;
    fc.assert(
      fc.property(selection, selection, selection, (query, p, q) => {
        const text = `{ poolPairs { nodes ${query} } p: poolPairs { nodes { ...P ...Q } } } fragment P on PoolPair ${p.replaceAll(/\.\.\.[PQ]/g, 'id')} fragment Q on PoolPair ${q.replaceAll('...Q', 'id')}`;
        expect(conflicts(text).length > 0).toBe(conflictsByGraphqlJs(text).length > 0);
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ['of one name', `{ ${'chainInfo { id } '.repeat(2_400)} }`],
    [
      'of fragments that multiply',
      `{ ...F0 } ${repeat(40, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F40 on Query { beaconHeight }`,
    ],
    [
      'of one name, in many fragments',
      `{ ${repeat(90, (n) => `...F${n}`)} } ${repeat(90, (n) => `fragment F${n} on Query { ${repeat(89 - n, (m) => `...F${n + 1 + m}`)} a: beaconHeight }`)}`,
    ],
  ])('take few steps, also if there are many: %s', (_name, text) => {
    expect(conflicts(text)).toEqual([]);
  });

  test('are not compared further if fragments cause too many combinations', () => {
    const others = (n: number) => repeat(60, (each) => (each === n ? '' : `...F${each}`));
    const text = `{ ${repeat(60, (n) => `a${n}: service { ${others(n)} }`)} } ${repeat(60, (n) => `fragment F${n} on Service { ${repeat(20, () => 'version')} }`)}`;
    expect(() => conflicts(text)).toThrow('too many fields with the same name');
  });
});
