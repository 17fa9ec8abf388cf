import { parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { FieldPlan, ObjectPlan } from '../../../src/graphql/execution/plan.ts';
import { createPlanner, createValidDocument, type KnownOperation } from '../../../src/graphql/execution/planner.ts';
import { schema } from '../../../src/graphql/schema.ts';
import { DEFAULT_LIMITS } from '../../support/limits.ts';
import { repeat } from '../../support/operations.ts';

/** Plans documents of which each has pools in a list of its first field. */
function openPlanner() {
  const planner = createPlanner({ schema, limits: DEFAULT_LIMITS });

  return (text: string, variables = {}) => {
    const operation = createValidDocument(parse(text)).operation(undefined);
    const planned = operation && planner.plan(operation, variables);
    if (planned?.plan === undefined) throw new Error('the operation has no plan');
    const [page] = planned.plan.root.fields[0]?.selections ?? [];
    const [pool] = page?.fields[0]?.selections ?? [];
    return { pool: pool as ObjectPlan, isCaching: planned.plan.isCaching };
  };
}

const POOL = 'id price token1 { symbol }';

describe('the shape of the pools of a document', () => {
  test.each([
    ['another alias around them', `{ a: poolPairs { nodes { ${POOL} } } }`],
    ['other arguments around them', `{ poolPairs(first: 3) { nodes { ${POOL} } totalCount } }`],
    [
      'fragments',
      `{ poolPairs { nodes { ...P } } } fragment P on PoolPair { ... on PoolPair { id } price ...T }
      fragment T on PoolPair { token1 { symbol } }`,
    ],
    ['fields that are omitted', `{ poolPairs { nodes { id price key @skip(if: true) token1 { symbol } } } }`],
    ['variables elsewhere', `query ($n: Int = 2) { poolPairs(first: $n) { nodes { ${POOL} } } }`],
  ])('is the same with %s', (_what, text) => {
    const plan = openPlanner();
    const first = plan(`{ poolPairs { nodes { ${POOL} } } }`);
    expect(first.isCaching).toBe(false);
    const second = plan(text);
    expect(second.isCaching).toBe(true);
    expect(second.pool.shape).toBe(first.pool.shape);
    expect(second.pool).toMatchObject({ isCacheable: true, shape: expect.anything() });
  });

  test.each([
    ['another alias', 'id x: price token1 { symbol }'],
    ['another order', 'price id token1 { symbol }'],
    ['an argument', 'id price(decimals1: 3) token1 { symbol }'],
    ['another argument', 'id price(decimals1: 4) token1 { symbol }'],
    ['other fields inside', 'id price token1 { symbol tokenId }'],
    ['no fields inside', 'id price token1 { symbol @skip(if: true) }'],
    ['more fields', `${POOL} key`],
  ])('differs with %s', (_what, fields) => {
    const plan = openPlanner();
    const shapes = [POOL, 'id price(decimals1: 2) token1 { symbol }'].map(
      (each) => plan(`{ poolPairs { nodes { ${each} } } }`).pool.shape,
    );
    const other = plan(`{ poolPairs { nodes { ${fields} } } }`);
    expect(other.isCaching).toBe(false);
    expect(other.pool.shape).toBeDefined();
    expect(shapes).not.toContain(other.pool.shape);
  });

  test.each([
    ['variables', 'query ($d: Int) { poolPairs { nodes { id key price(decimals1: $d) } } }'],
    [
      'a long list of fields',
      `{ poolPairs { nodes { ${Array.from({ length: 900 }, (_, n) => `a${n}: id`).join(' ')} } } }`,
    ],
    [
      'an invalid directive inside',
      'query ($s: Boolean) { poolPairs { nodes { id key token1 { id @skip(if: $s) } } } }',
    ],
  ])('does not exist with %s', (_what, text) => {
    const { pool } = openPlanner()(text, { d: 1, s: null });
    expect(pool).toMatchObject({ isCacheable: false, shape: undefined });
  });
});

test('the fields of a fragment that is used several times at the same depth are planned once', () => {
  const { pool } =
    openPlanner()(`{ poolPairs { nodes { a: current { ...F } b: current { ...F } c: current { current { ...F } } } } }
    fragment F on PoolPair { id token1 { symbol } }`);
  const [first, second, deeper] = pool.fields.map(({ selections: [inside] }) => inside?.fields);
  expect(first).toHaveLength(2);
  expect(second?.map((field, index) => field === first?.[index])).toEqual([true, true]);
  expect(deeper?.[0]?.selections[0]?.fields.map((field, index) => field === first?.[index])).toEqual([false, false]);
});

test('the fields of a fragment count each time that it is used', () => {
  const planner = createPlanner({ schema, limits: DEFAULT_LIMITS });
  const plan = (uses: number) => {
    const text = `{ poolPairs { nodes { ${repeat(uses, (n) => `a${n}: current { ...F }`)} } } }
      fragment F on PoolPair { current { ${repeat(98, (n) => `a${n}: id`)} } }`;
    return planner.plan(createValidDocument(parse(text)).operation(undefined) as KnownOperation, {});
  };
  expect(plan(99)).toMatchObject({ plan: { size: 2 + 99 * 100 } });
  expect(plan(100)).toMatchObject({ excess: { message: expect.stringContaining('more than 10000 fields') } });
});

test('a subscription is repeated from the start, because each update has the same pools', () => {
  const operation = createValidDocument(parse(`subscription { prices { poolPairs { ${POOL} } } }`)).operation(
    undefined,
  );
  const planned = operation && createPlanner({ schema, limits: DEFAULT_LIMITS }).plan(operation, {});
  expect(planned).toMatchObject({ plan: { isCaching: true } });
});

test('cached plans are bounded by the length of their documents too, which they hold', () => {
  const planner = createPlanner({ schema, limits: DEFAULT_LIMITS });
  const read = (text: string) => createValidDocument(parse(text)).operation(undefined);
  const planOf = (operation: ReturnType<typeof read>) => operation && planner.plan(operation, {}).plan;
  const [first, last] = ['{ beaconHeight }', '{ service { version } }'].map(read);
  for (const operation of [first, last]) planOf(operation);
  const plans = [planOf(first), planOf(last)];
  expect([planOf(first), planOf(last)]).toEqual(plans);
  for (let n = 0; n < 60; n++) {
    planOf(read(`{ beaconHeight } #${'x'.repeat(20_000)}`));
    expect(planOf(last)).toBe(plans[1]);
  }
  expect(planOf(first)).not.toBe(plans[0]);
});

test.each([
  ['literals', '1'],
  ['a variable', '$v'],
])('arguments with %s in a fragment are read once, however often it is used', (_what, entry) => {
  const text = `query ($v: Float = 1) { poolPairs { nodes { ...F } } }
    fragment F on PoolPair { a: current { ...G } b: current { ...G } }
    fragment G on PoolPair { c: current { ...H } d: current { ...H } }
    fragment H on PoolPair { depth(percents: [${entry}]) { percent } }`;
  const operation = createValidDocument(parse(text)).operation(undefined);
  const planned = operation && createPlanner({ schema, limits: DEFAULT_LIMITS }).plan(operation, {});
  const found: FieldPlan[] = [];
  const walk = ({ fields }: ObjectPlan) => {
    for (const field of fields) {
      if (field.name === 'depth') found.push(field);
      field.selections.forEach(walk);
    }
  };
  if (planned?.plan) walk(planned.plan.root);
  expect(found).toHaveLength(4);
  expect(new Set(found.map(({ args }) => args)).size).toBe(1);
});

test('a variable with the name of a condition of another operation makes no plan of its own', () => {
  const planner = createPlanner({ schema, limits: DEFAULT_LIMITS });
  const text = 'query A($x: ID!) { node(id: $x) { id } } query B($x: Boolean!) { beaconHeight @skip(if: $x) }';
  const operation = createValidDocument(parse(text)).operation('A');
  const [, known, other] = ['a', 'b', 'c'].map((x) => operation && planner.plan(operation, { x }).plan);
  expect(known).toMatchObject({ isCaching: true });
  expect(other).toBe(known);
});

test('the plan of a very long document is not cached', () => {
  const planner = createPlanner({ schema, limits: DEFAULT_LIMITS });
  const operation = createValidDocument(parse(`{ beaconHeight } #${'x'.repeat(250_000)}`)).operation(undefined);
  const plans = [1, 2, 3].map(() => operation && planner.plan(operation, {}).plan);
  expect(new Set(plans).size).toBe(3);
});
