import { describe, expect, test } from 'vitest';
import { startGatewayForTest, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { sumOf } from '../support/metrics.ts';

/** The first pause is a 32nd of this, less the jitter: no test waits for its end. */
const LONG_PAUSE_MS = 3_200_000;

/** How often the metrics are read until they show what is expected. */
const POLLED = { interval: 200 };

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
  const openCircuits = async () =>
    sumOf(await (await fetch(metricsUrl)).text(), 'pdex_upstream_circuit_open', { upstream });
  return { ...gateway, openCircuits, host: upstream === 'NODE' ? sandbox.node : sandbox.marketData };
}

/** Requests something that needs a new call. */
function requestNew({ ask, sandbox }: Pick<TestGateway, 'ask' | 'sandbox'>, upstream: Upstream) {
  return ask(QUERIES[upstream], upstream === 'NODE' ? { at: sandbox.chain.tip.height - 30 } : {});
}

describe.each(UPSTREAMS)('%s, which is down', (upstream) => {
  test('is not called while its circuit is open: its last error is sent at once, and earlier responses are served', async () => {
    const gateway = await open(upstream, { upstreamMaxPauseMs: LONG_PAUSE_MS });
    const { host, openCircuits, ask } = gateway;
    host.faults.set({ kind: 'html', status: 403 });
    await expect.poll(openCircuits, POLLED).toBe(1);

    const calls = host.calls();
    for (let times = 0; times < 3; times++) {
      const { data, errors } = await requestNew(gateway, upstream);
      expect([data, errors?.map(({ extensions }) => extensions)]).toEqual([
        { asked: null },
        [{ code: 'UPSTREAM_FILTERED', upstream }],
      ]);
    }
    expect((await ask('{ beaconHeight pairs { id } tickers { id } }')).errors).toBeUndefined();
    expect(host.calls()).toBe(calls);
  });

  test('is not called for as long as its Retry-After says, from the first such response on', async () => {
    const gateway = await open(upstream, { upstreamMaxPauseMs: 1, headPollMs: 500 });
    const { host, openCircuits } = gateway;
    host.resetCalls();
    // A busy machine has to send the next request before that time is over.
    host.faults.set({ kind: 'status', status: 429, retryAfter: 5 });
    await expect.poll(openCircuits, POLLED).toBe(1);
    const [refused] = host.requests;
    host.faults.clear();

    const calls = host.calls();
    const { errors } = await requestNew(gateway, upstream);
    expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'UPSTREAM_BAD_STATUS', upstream }]);
    expect(host.calls()).toBe(calls);

    await expect.poll(openCircuits, POLLED).toBe(0);
    const next = host.requests[calls];
    expect((next?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(5_000);
    gateway.clock.now += 5_000;
    expect((await requestNew(gateway, upstream)).errors).toBeUndefined();
  });

  test('is still called when many calls for clients time out', async () => {
    const gateway = await open(upstream, { upstreamMaxPauseMs: LONG_PAUSE_MS, upstreamTimeoutMs: 1_000 });
    const { host, openCircuits, ask, sandbox, app, advance } = gateway;
    if (upstream === 'NODE') sandbox.node.faults.set({ kind: 'hang', on: 'getpdestate' });
    else sandbox.marketData.faults.set({ kind: 'hang', on: 'orderbook' });
    const { height } = sandbox.chain.tip;
    const tickerIds = [...new Set(sandbox.chain.markets.map(({ tickerId }) => tickerId))];
    const fields = Array.from({ length: 12 }, (_, n) =>
      upstream === 'NODE'
        ? `a${n}: poolPairs(first: 0, at: ${height - 30 - n}) { totalCount }`
        : `a${n}: orderBook(tickerId: "${tickerIds[n]}") { tickerId }`,
    );
    const { errors } = await ask(`{ ${fields.join(' ')} }`);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(Array(12).fill('UPSTREAM_TIMEOUT'));

    host.faults.clear();
    await advance();
    expect([await openCircuits(), app.service.sources.market.freshness()?.stale]).toEqual([0, false]);
  });
});
