import { describe, expect, test } from 'vitest';
import { startGatewayForTest, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { sumOf } from '../support/metrics.ts';

/** A pause of which a test sees only the beginning: it begins with a 32nd of that, less the jitter. */
const LONG_PAUSE_MS = 3_200_000;

const QUERIES = {
  NODE: 'query ($at: BeaconHeight) { asked: poolPairs(first: 0, at: $at) { totalCount } }',
  MARKET_DATA: '{ asked: orderBook(tickerId: "pBTC_PRV") { tickerId } }',
};

const UPSTREAMS = ['NODE', 'MARKET_DATA'] as const;
type Upstream = (typeof UPSTREAMS)[number];

async function open(upstream: Upstream, config: TestGatewayOptions['config']) {
  const gateway = await startGatewayForTest({ config: config ?? {}, sandbox: { history: 60 } });
  const { sandbox, ask, app } = gateway;
  await ask('{ beaconHeight pairs { id } tickers { id } }');
  const metricsUrl = new URL('/metrics', await app.listen(0, '127.0.0.1'));
  const leftAlone = async () => sumOf(await (await fetch(metricsUrl)).text(), 'pdex_upstream_left_alone', { upstream });
  return { ...gateway, leftAlone, host: upstream === 'NODE' ? sandbox.node : sandbox.marketData };
}

/** What only a new call could tell. */
function askAnew({ ask, sandbox }: Pick<TestGateway, 'ask' | 'sandbox'>, upstream: Upstream) {
  return ask(QUERIES[upstream], upstream === 'NODE' ? { at: sandbox.chain.tip.height - 30 } : {});
}

describe.each(UPSTREAMS)('%s, left alone because it is down', (upstream) => {
  test('is not asked: its last error is told at once, and what is known is served', async () => {
    const gateway = await open(upstream, { upstreamMaxPauseMs: LONG_PAUSE_MS });
    const { host, leftAlone, ask } = gateway;
    host.faults.set({ kind: 'html', status: 403 });
    await expect.poll(leftAlone).toBe(1);

    const calls = host.calls();
    for (let times = 0; times < 3; times++) {
      const { data, errors } = await askAnew(gateway, upstream);
      expect([data, errors?.map(({ extensions }) => extensions)]).toEqual([
        { asked: null },
        [{ code: 'UPSTREAM_FILTERED', upstream }],
      ]);
    }
    expect((await ask('{ beaconHeight pairs { id } tickers { id } }')).errors).toBeUndefined();
    expect(host.calls()).toBe(calls);
  });

  test('is left alone at once, for as long as it asks with Retry-After', async () => {
    const gateway = await open(upstream, { upstreamMaxPauseMs: 1 });
    const { host, leftAlone } = gateway;
    host.resetCalls();
    host.faults.set({ kind: 'status', status: 429, retryAfter: 1 });
    await expect.poll(leftAlone).toBe(1);
    const refused = host.requests.at(-1);
    host.faults.clear();

    const calls = host.calls();
    const { errors } = await askAnew(gateway, upstream);
    expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'UPSTREAM_BAD_STATUS', upstream }]);
    expect(host.calls()).toBe(calls);

    await expect.poll(leftAlone).toBe(0);
    const next = host.requests[calls];
    expect((next?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
    gateway.clock.now += 1_000;
    expect((await askAnew(gateway, upstream)).errors).toBeUndefined();
  });

  test('is not left alone because much that clients ask for takes too long', async () => {
    const gateway = await open(upstream, { upstreamMaxPauseMs: LONG_PAUSE_MS, upstreamTimeoutMs: 500 });
    const { host, leftAlone, ask, sandbox, app, advance } = gateway;
    if (upstream === 'NODE') sandbox.node.faults.set({ kind: 'hang', on: 'getpdestate' });
    else sandbox.marketData.faults.set({ kind: 'hang', on: 'orderbook' });
    const { height } = sandbox.chain.tip;
    const fields = Array.from({ length: 12 }, (_, n) =>
      upstream === 'NODE'
        ? `a${n}: poolPairs(first: 0, at: ${height - 30 - n}) { totalCount }`
        : `a${n}: orderBook(tickerId: "x${n}") { tickerId }`,
    );
    const { errors } = await ask(`{ ${fields.join(' ')} }`);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(Array(12).fill('UPSTREAM_TIMEOUT'));

    host.faults.clear();
    await advance();
    expect([await leftAlone(), app.service.sources.market.freshness()?.stale]).toEqual([0, false]);
  });
});
