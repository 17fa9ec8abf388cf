import { expect, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';
import { readSample } from '../support/metrics.ts';

test('a state of 2,000 pools and 100,000 shares is read like any other, now and at an earlier height', async () => {
  const gateway = await startGatewayForTest({
    config: { upstreamTimeoutMs: 60_000 },
    sandbox: { pools: 2_000, sharesPerPool: 50, history: 20 },
  });
  const { height } = gateway.sandbox.chain.tip;
  const query = `{ beaconHeight now: poolPairs(first: 0) { totalCount } earlier: poolPairs(first: 0, at: ${height - 9}) { totalCount } }`;
  const [large, small] = await Promise.all([gateway.ask(query), gateway.ask('{ pairs { id } }')]);
  const pools = { totalCount: 2_000 };
  expect([large, small.errors]).toEqual([{ data: { beaconHeight: height, now: pools, earlier: pools } }, undefined]);
  const url = await gateway.app.listen(0, '127.0.0.1');
  const bytes = await readSample(url, 'pdex_upstream_read_bytes_total{upstream="NODE"}');
  expect(bytes).toBeGreaterThan(2 * 30_000_000);
});

test('an endless response of the market-data host is aborted at 32 MiB, and the other list is complete', async () => {
  const { ask, sandbox } = await startGatewayForTest({
    config: { upstreamTimeoutMs: 60_000 },
    before: ({ marketData }) => void marketData.faults.set({ kind: 'endless', on: 'pairs', times: 1 }),
  });
  const { data, errors } = await ask('{ pairs { id } tickers { __typename } }');
  expect(data).toEqual({ pairs: null, tickers: sandbox.chain.markets.map(() => ({ __typename: 'Ticker' })) });
  expect(errors).toEqual([
    {
      message: 'The market-data host sent an invalid response: more than 33554432 bytes.',
      path: ['pairs'],
      locations: expect.anything(),
      extensions: { code: 'UPSTREAM_BAD_SHAPE', upstream: 'MARKET_DATA' },
    },
  ]);
  await expect.poll(async () => (await ask('{ pairs { id } }')).errors).toBeUndefined();
});

test('an endless order book is aborted at 4 MiB', async () => {
  const { ask, sandbox } = await startGatewayForTest({
    config: { upstreamTimeoutMs: 60_000 },
    sandbox: { history: 60 },
  });
  sandbox.marketData.faults.set({ kind: 'endless', on: 'orderbook', times: 1 });
  const { errors } = await ask('{ orderBook(tickerId: "pBTC_PRV") { tickerId } }');
  const messages = errors?.map(({ message }) => message);
  expect(messages).toEqual(['The market-data host sent an invalid response: more than 4194304 bytes.']);
});

test('an endless response of the node is aborted at 128 MiB', async () => {
  const { ask, sandbox } = await startGatewayForTest({
    config: { upstreamTimeoutMs: 60_000 },
    before: ({ node }) => void node.faults.set({ kind: 'endless', on: 'getpdestate', times: 1 }),
  });
  const { errors } = await ask('{ beaconHeight }');
  expect(errors).toEqual([
    {
      message: 'The node sent an invalid response: more than 134217728 bytes.',
      path: ['beaconHeight'],
      locations: expect.anything(),
      extensions: { code: 'UPSTREAM_BAD_SHAPE', upstream: 'NODE' },
    },
  ]);
  await expect.poll(() => ask('{ beaconHeight }')).toEqual({ data: { beaconHeight: sandbox.chain.tip.height } });
});
