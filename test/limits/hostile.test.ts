import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startGatewayForTests } from '../support/gateway.ts';
import { fitsUrl, type Operation, TRANSPORTS } from '../support/transports.ts';

/** The maximum body size without the JSON around the query. */
const MAX_LENGTH = 200_000;

/** Maximum length of a message, which quotes what was sent. */
const MAX_MESSAGE_LENGTH = 600;

const gateway = startGatewayForTests({
  config: { headPollMs: 60_000, marketPollMs: 60_000 },
  sandbox: { history: 20 },
});

const repeat = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join(' ');
const page = (fields: string, first = 54) => `poolPairs(first: ${first}) { nodes { ${fields} } }`;

/** Parts of operations that cause errors, long texts or much work. */
const FIELDS: readonly ((count: number) => string)[] = [
  (count) => page(repeat(count, (n) => `a${n}: price(decimals1: 99)`)),
  (count) => page(repeat(count, (n) => `b${n}: price(decimals2: $bad)`)),
  (count) =>
    page(
      repeat(count, (n) => `c${n}: exactPrice(decimals1: ${'9'.repeat(1 + n)})`),
      3,
    ),
  (count) => repeat(count, (n) => `missing${n}`),
  (count) => repeat(count, (n) => `d${n}: poolPairs(first: -1) { totalCount }`),
  (count) => repeat(count, (n) => `e${n}: node(id: "x${n}") { id }`),
  (count) => repeat(count, (n) => `f${n}: poolPairs(filter: { wrong${n}: 1 }) { totalCount }`),
  (count) => `g: nodes(ids: [${repeat(count, (n) => `"Token:${n}"`)}]) { id }`,
  () => 'h: nodes(ids: $ids) { id }',
  (count) => 'chainInfo { id } '.repeat(count),
  (count) => page(`m: depth(percents: [${repeat(count, (n) => `${n}.${'7'.repeat(60)}`)}]) { percent }`),
  (count) => page(repeat(count, (n) => `n${n}: depth(percents: [${'1e-300 '.repeat(100)}]) { upToken1 downToken2 }`)),
  (count) => repeat(count, (n) => `o${n}: orderBook(tickerId: "x", groupBy: "${'9'.repeat(n)}e-${n}") { id }`),
  (count) => `pairs { depthLadder(levels: ${count}, stepPercent: 1e-${count}) { asks { price } } }`,
  (count) => `i: poolPairs(first: 9) { nodes { pairs { poolPair { ${'price '.repeat(count)} } } } }`,
  (count) => `${'j'.repeat(count)}: beaconHeight`,
  (count) => page(`${'k'.repeat(count)}: price(decimals1: 99)`),
  (count) => `m: poolPairs(filter: { tokenId: [${'1 '.repeat(count)}] }) { totalCount }`,
  (count) => `n: nodes(ids: [${'"Pair:x" '.repeat(count)}]) { id }`,
  (count) => `o: node(id: """${'\n x'.repeat(count)}""") { id }`,
  (count) => 'beaconHeight @include(if: true) '.repeat(count),
  (count) => `l: __schema { types { ${'name '.repeat(count)} fields { type { name } } } }`,
];

const MANY_FIELDS = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`x${n}`, n]));

const field = fc
  .tuple(fc.constantFrom(...FIELDS), fc.integer({ min: 1, max: 1_200 }))
  .map(([write, count]) => write(count));

/** Operations of such fields, after any number of line breaks, with invalid variables. */
const hostile: fc.Arbitrary<Operation> = fc
  .record({
    fields: fc.array(field, { minLength: 1, maxLength: 4 }),
    lines: fc.constantFrom(0, 3, 1_000, 60_000),
    bad: fc.constantFrom<unknown>(99, -1, 'x', null, 1e300, [[[[]]]], 'y'.repeat(100_000), MANY_FIELDS, [MANY_FIELDS]),
    ids: fc
      .tuple(fc.constantFrom(0, 1, 120, 9_000), fc.constantFrom('x:', 'BestBlock:', 'Token:'))
      .map(([count, type]) => Array.from({ length: count }, (_, n) => `${type}${n}`)),
    operations: fc.constantFrom(0, 0, 0, 0, 99, 2_000),
  })
  .map(({ fields, lines, bad, ids, operations }) => {
    const body = fields.join(' ').slice(0, MAX_LENGTH - lines);
    const variables = {
      ...(body.includes('$bad') && { bad }),
      ...(body.includes('$ids') && { ids }),
    };
    const defined = [
      ...(body.includes('$bad') ? ['$bad: Int'] : []),
      ...(body.includes('$ids') ? ['$ids: [ID!]!'] : []),
    ];
    const query = `${'\n'.repeat(lines)}query ${defined.length > 0 ? `(${defined.join(', ')}) ` : ''}{ ${body} }`;
    const others = repeat(operations, (n) => `query Q${n} { beaconHeight }`);
    return { query: `${query} ${others}`, variables };
  });

test('any invalid operation has few errors, short messages, correct lines and no internal error', async () => {
  const transports = fc.constantFrom(...Object.entries(TRANSPORTS));
  await fc.assert(
    fc.asyncProperty(hostile, transports, async (operation, [transport, ask]) => {
      fc.pre(JSON.stringify(operation).length < 250_000 && (!transport.endsWith('GET') || fitsUrl(operation)));
      const { errors = [] } = await ask(gateway.url, operation);
      const lines = operation.query.split('\n');

      expect(errors.length).toBeLessThanOrEqual(101);
      for (const { message, extensions, locations = [] } of errors as readonly AnyError[]) {
        expect(message.length).toBeLessThanOrEqual(MAX_MESSAGE_LENGTH);
        expect(extensions.code).not.toBe('INTERNAL_SERVER_ERROR');
        for (const { line, column } of locations)
          expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? Number.NEGATIVE_INFINITY) + 1);
      }
      expect(await ask(gateway.url, { query: '{ __typename }' })).toEqual({ data: { __typename: 'Query' } });
    }),
    { numRuns: 30 },
  );
  expect(gateway.lines.filter(({ msg }) => msg === 'internal error')).toEqual([]);
});

type AnyError = {
  readonly message: string;
  readonly extensions: { readonly code: string };
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
};
