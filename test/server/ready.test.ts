import { expect, test } from 'vitest';
import { startGatewayForTest, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';

async function open(options?: TestGatewayOptions) {
  const gateway = await startGatewayForTest(options);
  const { origin } = new URL(await gateway.app.listen(0, '127.0.0.1'));
  return { ...gateway, ready: () => readiness(`${origin}/ready`) };
}

async function readiness(url: string): Promise<[number, unknown]> {
  const response = await fetch(url);
  return [response.status, await response.json()];
}

const READY = [200, { status: 'ready' }];
const notReady = (...reasons: string[]) => [503, { status: 'not ready', reasons }];

/** Until pairs, tickers and the chain were read. */
const untilRead = ({ ask }: Pick<TestGateway, 'ask'>) => ask('{ beaconHeight pairs { id } tickers { id } }');

test('a gateway is ready once everything that is configured was read', async () => {
  const gateway = await open({
    config: { upstreamTimeoutMs: 60_000 },
    before: ({ node, marketData }) => {
      node.faults.set({ kind: 'hang', times: 1 });
      marketData.faults.set({ kind: 'hang', times: 1, on: 'tickers' });
    },
  });
  expect(await gateway.ready()).toEqual(
    notReady('no beacon height has been read yet', 'pairs and tickers have not been read yet'),
  );
  const { ready, ...other } = await open();
  await untilRead(other);
  expect(await ready()).toEqual(READY);
});

test('what is not configured is not waited for', async () => {
  for (const without of ['NODE', 'MARKET_DATA'] as const) {
    const gateway = await open({ without });
    await untilRead(gateway);
    expect(await gateway.ready()).toEqual(READY);
  }
});

test('a gateway whose upstreams fail is not ready, and is again when they heal', async () => {
  const gateway = await open();
  await untilRead(gateway);
  await gateway.sandbox.node.stop();
  await expect.poll(gateway.ready).toEqual(notReady('the newest beacon height is stale'));
  await gateway.sandbox.marketData.stop();
  await expect
    .poll(gateway.ready)
    .toEqual(notReady('the newest beacon height is stale', 'pairs and tickers are stale'));
  await gateway.sandbox.node.start();
  await gateway.sandbox.marketData.start();
  await expect.poll(gateway.ready).toEqual(READY);
});
