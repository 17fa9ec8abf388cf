import { expect, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';

test('every call to an upstream has the headers that are set for it, and none of the other', async () => {
  const { sandbox, ask } = await startGatewayForTest({
    config: {
      fullnodeHeaders: { 'x-node-key': 'one' },
      marketDataHeaders: { 'x-market-key': 'two', 'user-agent': 'mine' },
    },
    sandbox: { nodes: 2 },
  });
  await ask('{ beaconHeight pairs { id } tickers { tickerId } orderBook(tickerId: "pBTC_PRV") { tickerId } }');
  const keysSentTo = (host: { requests: typeof sandbox.node.requests | typeof sandbox.marketData.requests }) =>
    new Set(host.requests.map(({ headers }) => `${headers['x-node-key']} ${headers['x-market-key']}`));
  const agentsOf = (host: { requests: typeof sandbox.node.requests | typeof sandbox.marketData.requests }) =>
    new Set(host.requests.map(({ headers }) => headers['user-agent']));
  expect([agentsOf(sandbox.node), agentsOf(sandbox.marketData)]).toEqual([
    new Set(['pdex-gateway']),
    new Set(['mine']),
  ]);
  for (const node of sandbox.nodes) expect(keysSentTo(node)).toEqual(new Set(['one undefined']));
  expect(keysSentTo(sandbox.marketData)).toEqual(new Set(['undefined two']));
  for (const call of ['pairs', 'tickers', 'orderbook'] as const)
    expect(sandbox.marketData.calls(call)).toBeGreaterThan(0);
});
