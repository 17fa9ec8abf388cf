import { expect, test } from 'vitest';
import { startGatewayForTest, type TestGateway, type TestGatewayOptions } from '../../support/gateway.ts';
import { INFO, WARN } from '../../support/log.ts';
import { sample } from '../../support/metrics.ts';

async function open(options?: TestGatewayOptions) {
  const gateway = await startGatewayForTest(options);
  const { origin } = new URL(await gateway.app.listen(0, '127.0.0.1'));
  return { ...gateway, metricsUrl: `${origin}/metrics`, ready: () => readiness(`${origin}/ready`) };
}

async function readiness(url: string): Promise<[number, unknown]> {
  const response = await fetch(url);
  return [response.status, await response.json()];
}

const VERSION = { exchangeVersion: 'V1' };
const READY = [200, { status: 'ready', ...VERSION, sandbox: true }];
const notReady = (...reasons: object[]) => [503, { status: 'not ready', reasons, ...VERSION, sandbox: true }];
const UNREADABLE = { code: 'NODE_UNREADABLE', message: 'the node cannot be read: The node cannot be reached.' };
const MARKET_DATA_STALE = {
  code: 'MARKET_DATA_STALE',
  message: 'pairs and tickers are stale: The market-data host cannot be reached.',
};

/** Until pairs, tickers and the chain were read. */
const untilRead = ({ ask }: Pick<TestGateway, 'ask'>) => ask('{ beaconHeight pairs { id } tickers { id } }');

test('a gateway is ready when every configured upstream was read', async () => {
  const gateway = await open({
    config: { upstreamTimeoutMs: 60_000 },
    before: ({ node, marketData }) => {
      node.faults.set({ kind: 'hang', times: 1 });
      marketData.faults.set({ kind: 'hang', times: 1, on: 'tickers' });
    },
  });
  const reasons = [
    { code: 'HEAD_NOT_READ', message: 'no beacon height has been read yet' },
    { code: 'MARKET_DATA_NOT_READ', message: 'pairs and tickers have not been read yet' },
  ];
  expect(await gateway.ready()).toEqual([503, { status: 'not ready', reasons, sandbox: true }]);
  const { ready, ...other } = await open();
  await untilRead(other);
  expect(await ready()).toEqual(READY);
});

test('an upstream that is not configured does not matter', async () => {
  for (const without of ['NODE', 'MARKET_DATA'] as const) {
    const gateway = await open({ without });
    await untilRead(gateway);
    const version = without === 'NODE' ? {} : VERSION;
    expect(await gateway.ready()).toEqual([200, { status: 'ready', ...version, sandbox: true }]);
  }
});

test('a gateway whose upstreams fail is not ready until they recover', async () => {
  const gateway = await open();
  await untilRead(gateway);
  await gateway.sandbox.node.stop();
  await expect.poll(gateway.ready).toEqual(notReady(UNREADABLE));
  await gateway.sandbox.marketData.stop();
  await expect.poll(gateway.ready).toEqual(notReady(UNREADABLE, MARKET_DATA_STALE));
  await gateway.sandbox.node.start();
  await gateway.sandbox.marketData.start();
  await expect.poll(gateway.ready).toEqual(READY);
});

test('a gateway that cannot use Redis is ready, with a note', async () => {
  const gateway = await open({ config: { redisUrl: [new URL('redis://127.0.0.1:1')] } });
  await untilRead(gateway);
  const message = 'Redis cannot be used, or has the fleet of another chain: the gateway reads the upstreams itself';
  const notes = [{ code: 'FLEET_ALONE', message }];
  expect(await gateway.ready()).toEqual([200, { status: 'ready', notes, replicas: 1, ...VERSION, sandbox: true }]);
});

test('a gateway in front of a syncing node is not ready, even with new heights', async () => {
  const gateway = await open({
    sandbox: { history: 1_000 },
    before: ({ node }) => void node.faults.set({ kind: 'lag', blocks: 900 }),
  });
  const { ask, ready, untilHeight, app, sandbox } = gateway;
  await untilRead(gateway);
  const { tip } = sandbox.chain;
  // By the clock, a node on a slow machine would have the newest blocks before the test has looked.
  sandbox.node.faults.clear();
  sandbox.node.faults.set({ kind: 'lag', blocks: 890 });
  await untilHeight(tip.height - 890);
  expect(await ready()).toEqual([
    503,
    {
      status: 'not ready',
      reasons: [{ code: 'BLOCK_TOO_OLD', message: expect.stringContaining('is older than MAX_BLOCK_AGE_MS') }],
      ...VERSION,
      sandbox: true,
    },
  ]);
  expect((await ask('{ service { head { stale } } }')).data.service.head.stale).toBe(true);
  const metrics = await (await fetch(gateway.metricsUrl)).text();
  expect(sample(metrics, 'pdex_head_stale')).toBe(1);
  const age = sample(metrics, 'pdex_head_block_age_seconds');
  expect(age).toBeGreaterThan(30_000);
  expect(age).toBeLessThanOrEqual(900 * 40);

  const { time = 0 } = app.service.sources.head.current() ?? {};
  gateway.clock.now = time - 5_000;
  expect(sample(await (await fetch(gateway.metricsUrl)).text(), 'pdex_head_block_age_seconds')).toBe(0);
});

test('a gateway whose node has lost its database keeps serving, logs it once, and is not ready', async () => {
  const gateway = await open({ sandbox: { history: 300 } });
  const { ask, ready, sandbox, lines } = gateway;
  await untilRead(gateway);
  const { height } = sandbox.chain.tip;
  const clearFault = sandbox.node.faults.set({ kind: 'lag', blocks: 1_000 });
  const message = `the node reports beacon height ${height - 300}, far below the served height ${height}: it may have lost its database`;
  await expect.poll(ready).toEqual(notReady({ code: 'NODE_FAR_BEHIND', message }));
  expect((await ask('{ beaconHeight poolPairs(first: 0) { totalCount } }')).data).toEqual({
    beaconHeight: height,
    poolPairs: { totalCount: 54 },
  });
  clearFault();
  await expect.poll(ready).toEqual(READY);
  expect(lines).toEqual([
    {
      level: WARN,
      tip: height - 300,
      served: height,
      msg: 'the tip of the node is far below the served height: the node may have lost its database',
    },
    { level: INFO, tip: height, msg: 'the tip of the node is near the served height again' },
  ]);
});
