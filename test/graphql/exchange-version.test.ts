import { expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { startGatewayForTest } from '../support/gateway.ts';

const looksForV3 = ({ node }: Sandbox) => node.requests.filter(({ body }) => body.includes('pdexv3_getState')).length;

const QUERY = '{ service { exchangeVersion } poolPairs { totalCount nodes { id key } } }';

test('the pools of V3 are served where they trade, and the log says so', async () => {
  const { ask, untilReady, sandbox, lines } = await startGatewayForTest({ sandbox: { exchange: 'v3' } });
  await untilReady();
  const { data } = await ask(QUERY);
  expect(data.service.exchangeVersion).toBe('V3');
  expect(data.poolPairs.totalCount).toBe(sandbox.chain.exchangePools.length);
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
