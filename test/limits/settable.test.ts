import { expect, test } from 'vitest';
import type { Limits } from '../../src/graphql/limits.ts';
import { type Answer, startGatewayForTest, type TestGateway } from '../support/gateway.ts';

const codesOf = (errors: readonly { extensions: { code: string } }[] | undefined) =>
  errors?.map(({ extensions }) => extensions.code);

test.each<[keyof Limits, number, allowed: string, refused: string]>([
  ['maxDepth', 2, '{ chainInfo { chainName } }', '{ chainInfo { beacon { hash } } }'],
  ['maxComplexity', 50, '{ poolPairs(first: 10) { nodes { id } } }', '{ poolPairs(first: 60) { nodes { id } } }'],
  [
    'maxValues',
    500,
    '{ poolPairs(first: 50) { nodes { id price } } }',
    '{ tokens { id symbol decimals a: id b: id c: id d: id e: id f: id g: id } }',
  ],
  ['maxSchemaObjects', 10, '{ __type(name: "Pair") { name } }', '{ __schema { types { fields { name } } } }'],
  ['maxSiblings', 2, '{ beaconHeight __typename }', '{ a: beaconHeight b: beaconHeight c: beaconHeight }'],
  ['maxNesting', 2, '{ chainInfo { chainName } }', '{ ... { ... { beaconHeight } } }'],
  ['maxTokens', 5, '{ beaconHeight }', '{ a: beaconHeight b: beaconHeight }'],
  ['maxHeightsPerOperation', 1, poolsAt(1), poolsAt(2)],
])('%s can be set, is in service.limits, and is enforced', async (name, value, allowed, refused) => {
  const { ask, app } = await startGatewayForTest({ config: { [name]: value } });
  await ask('{ beaconHeight }');
  expect(app.service.limits[name]).toBe(value);
  expect((await ask(allowed)).errors).toBeUndefined();
  expect(codesOf((await ask(refused)).errors)).toEqual(['QUERY_TOO_COMPLEX']);
});

test('values are counted by the current lengths of lists', async () => {
  // 54 pools.
  const { ask, subscribe } = await startGatewayForTest({ config: { maxValues: 3_000 } });
  await ask('{ beaconHeight }');
  const aliases = (count: number) => Array.from({ length: count }, (_, n) => `a${n}: key`).join(' ');
  const prices = (count: number) => subscribe(`subscription { prices { poolPairs { ${aliases(count)} } } }`).next();
  expect((await prices(50)).value?.errors).toBeUndefined();
  expect(codesOf((await prices(60)).value?.errors)).toEqual(['QUERY_TOO_COMPLEX']);
  expect(codesOf((await ask(`{ tokens { ${aliases(500).replaceAll('key', 'id')} } }`)).errors)).toEqual([
    'QUERY_TOO_COMPLEX',
  ]);
});

test('maxPageSize can be set, and also limits a page without a size', async () => {
  const { ask } = await startGatewayForTest({ config: { maxPageSize: 10 } });
  const { data, errors } = await ask('{ a: poolPairs { nodes { id } } b: poolPairs(first: 11) { totalCount } }');
  expect([data.a.nodes.length, data.b, codesOf(errors)]).toEqual([10, null, ['BAD_USER_INPUT']]);
});

test('arrays of operations are refused unless they are allowed, up to the limit', async () => {
  const send = async ({ app }: TestGateway, operations: number) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(Array(operations).fill({ query: '{ __typename }' }));
    return (await app.fetch(new Request('http://gateway/graphql', { method: 'POST', headers, body }))).json();
  };
  const one = await startGatewayForTest({ config: { maxOperationsPerRequest: 1 } });
  expect(codesOf((await send(one, 1)).errors)).toEqual(['BAD_USER_INPUT']);
  const three = await startGatewayForTest({ config: { maxOperationsPerRequest: 3 } });
  expect(await send(three, 3)).toEqual(Array(3).fill({ data: { __typename: 'Query' } }));
  for (const operations of [4, 0]) expect(codesOf((await send(three, operations)).errors)).toEqual(['BAD_USER_INPUT']);
});

test('the operations of an array have as many values together as one operation may have', async () => {
  const { app } = await startGatewayForTest({ config: { maxOperationsPerRequest: 4, maxValues: 10 } });
  const url = await app.listen(0, '127.0.0.1');
  const fields = (count: number) => ({
    query: `{ ${Array.from({ length: count }, (_, n) => `a${n}: __typename`).join(' ')} }`,
  });
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([fields(6), fields(11), fields(4), fields(1)]),
  });
  const answers = (await response.json()) as Answer[];
  const refused = (message: string) => ({
    errors: [{ message: expect.stringMatching(message), extensions: { code: 'QUERY_TOO_COMPLEX' } }],
  });
  expect(answers).toEqual([
    { data: expect.objectContaining({ a5: 'Query' }) },
    refused('^The estimated number of values in the response is 11'),
    { data: expect.objectContaining({ a3: 'Query' }) },
    refused('^The operations of the array have too many values. The maximum is 10.$'),
  ]);
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  expect(metrics).toContain('pdex_operations_total{type="any",outcome="refused"} 2');
});

function poolsAt(heights: number): string {
  const fields = Array.from(
    { length: heights },
    (_, n) => `a${n}: poolPairs(first: 1, at: ${1_639_900 + n}) { totalCount }`,
  );
  return `{ ${fields.join(' ')} }`;
}
