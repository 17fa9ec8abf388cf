import { buildSchema, parse } from 'graphql';
import { expect, test } from 'vitest';
import type { TokenList } from '../../src/domain/token.ts';
import { createPlanner, createValidDocument } from '../../src/graphql/execution/planner.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { DEFAULT_LIMITS } from '../support/limits.ts';

const repeat = (count: number, field: string) => Array.from({ length: count }, (_, n) => `a${n}: ${field}`).join(' ');
const listOf = (count: number): TokenList =>
  new Map(
    Array.from({ length: count }, (_, n) => {
      const tokenId = n.toString(16).padStart(64, '0');
      return [tokenId, { tokenId, symbol: `T${n}`, decimals: 9 }];
    }),
  );

/** Counts from now on how often the keys of a map are walked through. */
function countWalks(map: ReadonlyMap<string, unknown>): () => number {
  const { keys } = map;
  let walks = 0;
  const counting = () => {
    walks++;
    return keys.call(map);
  };
  Object.assign(map, { keys: counting, [Symbol.iterator]: counting });
  return () => walks;
}

test('the estimates of 900 lists of all tokens read a number, and walk through no list', async () => {
  const tokens = [...listOf(1_050).values()];
  const { ask, app, untilReady } = await startGatewayForTest({
    config: { tokensFile: tokens, headPollMs: 60_000, marketPollMs: 60_000 },
  });
  await untilReady();
  const { data } = await ask('{ tokens { id } }');
  expect(data.tokens.length).toBeGreaterThanOrEqual(1_050);

  const { sources } = app.service;
  const walks = [sources.tokens.current(), (await sources.head.get()).exchange.directory.placesOfToken].map(countWalks);
  const { errors } = await ask(`{ ${repeat(900, 'tokens { id }')} }`);
  expect(errors).toEqual([
    {
      message: 'The complexity of the operation is 945018. The maximum is 20000.',
      extensions: { code: 'QUERY_TOO_COMPLEX' },
    },
  ]);
  expect(walks.map((count) => count())).toEqual([0, 0]);
});

test('arguments are not read if the fields of an operation use more values than its complexity may have', () => {
  const schema = buildSchema('input Filter { ids: [ID!] } type Query { field(ids: [ID!], filter: Filter): Int }');
  let reads = 0;
  Object.assign(schema.getQueryType()?.getFields()['field']?.extensions ?? {}, { refuse: () => reads++ });
  const planner = createPlanner({ schema, limits: { ...DEFAULT_LIMITS, maxComplexity: 1_000 } });

  /** Plans an operation. @returns why it is too complex, and how many fields have read their arguments */
  function plan(text: string, variables: Record<string, unknown> = {}) {
    reads = 0;
    const operation = createValidDocument(parse(text)).operation(undefined);
    const { excess } = { excess: undefined, ...(operation && planner.plan(operation, variables)) };
    return [excess?.message, reads];
  }

  // A value counts as 1/20, and ten characters as a value: these are 11,000 values.
  const ids = Array(10_000).fill('x');
  const tooMany = ['The arguments have more than 20000 values, counting a variable in each use.', 0];
  const declared = ['($ids: [ID!])', `($ids: [ID!] = ${JSON.stringify(ids)})`];
  for (const [isDefault, definitions] of declared.entries()) {
    const variables = isDefault ? {} : { ids };
    for (const field of ['field(ids: $ids)', 'field(filter: { ids: $ids })']) {
      expect(plan(`query ${definitions} { ${repeat(90, field)} }`, variables)).toEqual(tooMany);
      expect(plan(`query ${definitions} { ${field} }`, variables)).toEqual([undefined, 1]);
    }
  }
  expect(plan(`query ($f: Filter) { ${repeat(2, 'field(filter: $f)')} }`, { f: { ids } })).toEqual(tooMany);
  const long = { id: 'x'.repeat(1_000) };
  expect(plan(`query ($id: ID!) { field(ids: [${'$id '.repeat(300)}]) }`, long)).toEqual(tooMany);
  const few = { ids: ['x', 'y'] };
  expect(plan(`query ($ids: [ID!]) { ${repeat(900, 'field(ids: $ids)')} }`, few)).toEqual([undefined, 900]);
});
