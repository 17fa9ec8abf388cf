import { expect, test } from 'vitest';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { startGatewayForTest } from '../support/gateway.ts';

const looksForV3 = ({ node }: SandboxHosts) =>
  node.requests.filter(({ body }) => body.includes('pdexv3_getState')).length;

const QUERY = '{ service { exchangeVersion } poolPairs { totalCount nodes { id key } } }';

test('the pools of V3 are served where they trade, and the log says so', async () => {
  const { ask, untilReady, sandbox, lines } = await startGatewayForTest({ sandbox: { exchange: 'v3' } });
  await untilReady();
  const { data } = await ask(QUERY);
  expect(data.service.exchangeVersion).toBe('V3');
  expect(data.poolPairs.totalCount).toBe(sandbox.chain.v3Pools.length);
  for (const { id, key } of data.poolPairs.nodes) expect(id).toBe(`PoolPair:${key}`);
  expect(sandbox.node.calls('getpdestate')).toBe(0);
  expect(lines.map(({ msg }) => msg)).toEqual(['the pools of version 3 of the exchange trade']);
});

test('with a node of V1, its pools are served, and a setting decides without a call', async () => {
  const { ask, untilReady, advance, sandbox } = await startGatewayForTest({ config: { exchangeVersion: 'auto' } });
  await untilReady();
  const { data } = await ask(QUERY);
  expect(data.service).toEqual({ exchangeVersion: 'V1' });
  await advance();
  // Three in a row at the first height, because the response is that of a node which has failed.
  await expect.poll(() => looksForV3(sandbox)).toBe(4);

  const fixed = await startGatewayForTest({ config: { exchangeVersion: 'v1' } });
  await fixed.untilReady();
  expect((await fixed.ask(QUERY)).data).toEqual(data);
  expect(looksForV3(fixed.sandbox)).toBe(0);
});

test('`node` finds the pools of both versions by each form of id that its description names', async () => {
  const { ask, untilReady, sandbox } = await startGatewayForTest({ sandbox: { exchange: 'v3' } });
  await untilReady();
  const { data: schema } = await ask('{ __type(name: "Query") { fields { name description } } }');
  const { description } = schema.__type.fields.find(({ name }: { name: string }) => name === 'node');
  const forms = [...description.matchAll(/'(PoolPair:.*?)'/g)].map(([, form]) => form);
  const { data } = await ask(
    '{ poolPairs(first: 1, filter: { version: V1 }) { nodes { token1 { tokenId } token2 { tokenId } } } }',
  );
  const { token1, token2 } = data.poolPairs.nodes[0];
  const fill = (form: string) =>
    form
      .replace('<pool id>', sandbox.chain.v3Pools[0]?.id ?? '')
      .replace('<id1>', token1.tokenId)
      .replace('<id2>', token2.tokenId)
      .replace('<height>', String(sandbox.chain.tip.height - 1));
  const found = [];
  for (const form of forms) {
    const { data: answer } = await ask('query ($id: ID!) { node(id: $id) { id ... on PoolPair { version } } }', {
      id: fill(form),
    });
    expect(answer.node?.id).toBe(fill(form));
    found.push([form, answer.node.version]);
  }
  expect(found).toEqual([
    ['PoolPair:<pool id>', 'V3'],
    ['PoolPair:<id1>-<id2>', 'V1'],
    ['PoolPair:<pool id>@<height>', 'V3'],
    ['PoolPair:<id1>-<id2>@<height>', 'V1'],
  ]);
});
