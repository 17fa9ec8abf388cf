import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startGatewayForTest } from '../../support/gateway.ts';
import { sample, sumOf } from '../../support/metrics.ts';
import { openSocket } from '../../support/transports.ts';
import { connect, take } from '../../support/websocket.ts';

async function open() {
  const gateway = await startGatewayForTest({ config: { marketPollMs: 60_000 } });
  const url = await gateway.app.listen(0, '127.0.0.1');
  const read = async () => (await fetch(new URL('/metrics', url))).text();
  return { ...gateway, url, read };
}

describe('the metrics', () => {
  test('count requests, operations and calls to upstreams, by bounded labels', async () => {
    const { url, read, sandbox } = await open();
    const post = (query: string) =>
      fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) });
    await post('{ beaconHeight pairs { id } tickers { id } }');
    await post('{ beaconHeight poolPairs(first: -1) { totalCount } }');
    await post('{ nothing }');
    await post('{');
    await post(
      `{ ${Array.from({ length: 60 }, (_, n) => `a${n}: poolPairs(first: 500) { nodes { pairs { poolPair { pairs { id } } } } }`).join(' ')} }`,
    );
    await (await fetch(new URL('/no-such-path', url))).text();

    const text = await read();
    expect(sample(text, 'pdex_operations_total{type="query",outcome="whole"}')).toBe(1);
    expect(sample(text, 'pdex_operations_total{type="query",outcome="partial"}')).toBe(1);
    expect(sample(text, 'pdex_operations_total{type="any",outcome="refused"}')).toBe(3);
    expect(sample(text, 'pdex_operations_total{type="query",outcome="failed"}')).toBeUndefined();
    expect(sample(text, 'pdex_http_requests_total{endpoint="graphql",status="200"}')).toBe(5);
    expect(sample(text, 'pdex_http_requests_total{endpoint="nowhere",status="404"}')).toBe(1);
    expect(sample(text, 'pdex_operation_duration_seconds_count{type="query"}')).toBe(2);
    expect(sample(text, 'pdex_upstream_calls_total{upstream="NODE",method="getpdestate",outcome="OK"}')).toBe(1);
    expect(sample(text, 'pdex_upstream_calls_total{upstream="MARKET_DATA",method="pairs",outcome="OK"}')).toBe(1);
    expect(sample(text, 'pdex_upstream_read_bytes_total{upstream="NODE"}')).toBeGreaterThan(100_000);
    expect(sample(text, 'pdex_head_beacon_height')).toBe(sandbox.chain.tip.height);
    expect(sample(text, 'pdex_market_data_dropped_rows{list="pairs"}')).toBe(0);
    expect(text).toMatch(/^pdex_build_info\{version="\d+\.\d+\.\d+",node="v\d+\.\d+\.\d+",sandbox="true"\} 1$/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m);
  });

  test('have the age of the data in seconds', async () => {
    const { ask, read, clock, sandbox } = await open();
    await ask('{ beaconHeight pairs { id } tickers { id } }');
    clock.now += 2_500;
    let text = await read();
    expect(sample(text, 'pdex_head_age_seconds')).toBe(2.5);
    expect(sample(text, 'pdex_market_data_age_seconds')).toBe(2.5);
    expect(sample(text, 'pdex_head_stale')).toBe(0);
    expect(text).not.toContain('pdex_not_ready{');
    await sandbox.node.stop();
    await expect.poll(async () => sample(await read(), 'pdex_head_stale')).toBe(1);
    text = await read();
    expect(sample(text, 'pdex_upstream_healthy{upstream="NODE"}')).toBe(0);
    expect(sample(text, 'pdex_not_ready{code="NODE_UNREADABLE"}')).toBe(1);
  });

  test('count subscriptions and updates', async () => {
    const { url, read, sandbox } = await open();
    const client = connect(url);
    const heads = client.iterate({ query: 'subscription { head { beaconHeight } }' });
    await heads.next();
    let text = await read();
    expect(sample(text, 'pdex_websockets')).toBe(1);
    expect(sample(text, 'pdex_subscriptions{source="head"}')).toBe(1);
    sandbox.advance();
    await heads.next();
    text = await read();
    expect(sample(text, 'pdex_operations_total{type="update",outcome="whole"}')).toBe(2);
    expect(sample(text, 'pdex_updates_skipped_total{source="head"}')).toBe(0);

    await heads.return?.();
    await expect.poll(async () => sample(await read(), 'pdex_subscriptions{source="head"}')).toBe(0);
    await take(client, '{ beaconHeight }', 1);
    await client.dispose();
    await expect.poll(async () => sample(await read(), 'pdex_websockets')).toBe(0);
  });

  test('count only subscriptions of clients: the gateway follows heads and tickers itself', async () => {
    const { url, read } = await open();
    const client = connect(url);
    const counts = async () => {
      const text = await read();
      return ['head', 'tickers', 'divergences'].map((source) => sample(text, `pdex_subscriptions{source="${source}"}`));
    };
    const updates = client.iterate({ query: 'subscription { divergentPairs(minPercent: 0) { id } }' });
    await updates.next();
    expect(await counts()).toEqual([0, 0, 1]);
    await updates.return?.();
    await expect.poll(counts).toEqual([0, 0, 0]);
  });

  test('count websockets that closed, by bounded codes', async () => {
    const { url, read, app } = await open();
    const closes = async () =>
      Object.fromEntries(
        [...(await read()).matchAll(/^pdex_websocket_closes_total\{code="(\w+)"\} (\d+)$/gm)].map(([, code, count]) => [
          code,
          Number(count),
        ]),
      );
    for (const code of [1000, 1000, 1014, 3000, 4499, 4999, undefined]) (await openSocket(url)).close(code);
    (await openSocket(url)).terminate();
    const refused = new WebSocket(url.replace('http', 'ws'), 'soap-2');
    refused.on('error', () => {});
    (await openSocket(url)).send('{');
    (await openSocket(url)).send('x'.repeat(app.service.limits.maxBodyBytes + 1));
    const counts = { 1000: 2, 1005: 1, 1006: 1, 1009: 1, 1014: 1, 4400: 1, 4406: 1, other: 3 };
    await expect.poll(closes).toEqual(counts);
    expect(sample(await read(), 'pdex_websockets')).toBe(0);
  });

  test('count the requests to each node', async () => {
    const gateway = await startGatewayForTest({ sandbox: { nodes: 2 } });
    await gateway.untilReady();
    const text = await (await fetch(new URL('/metrics', await gateway.app.listen(0, '127.0.0.1')))).text();
    const hosts = gateway.sandbox.nodes.map(({ url }) => new URL(url).host);
    const called = hosts.map((host) => sumOf(text, 'pdex_node_calls_total', { host, method: 'getblockchaininfo' }));
    expect(Math.min(...called)).toBeGreaterThan(0);
    const all = hosts.map((host) => sumOf(text, 'pdex_node_calls_total', { host }));
    expect(all.reduce((sum, count) => sum + count, 0)).toBe(
      sumOf(text, 'pdex_upstream_calls_total', { upstream: 'NODE' }),
    );
    const states = { method: 'getpdestate', outcome: 'OK' };
    const read = hosts.map((host) => sumOf(text, 'pdex_node_calls_total', { host, ...states }));
    expect(read.toSorted()).toEqual([0, 1]);
    expect(sumOf(text, 'pdex_node_calls_total', {})).toBe(all.reduce((sum, count) => sum + count, 0));
  });

  test('are served at exactly one path', async () => {
    const { url } = await open();
    for (const path of ['/metrics/', '/x?y=/metrics', '/metricsx', '/ready/']) {
      expect([path, (await fetch(new URL(path, url))).status]).toEqual([path, 404]);
    }
  });

  const PROMTOOL = '/usr/bin/promtool';
  // Without promtool this test is skipped. CI installs it, and fails if it is missing.
  test.runIf(process.env['CI'])('CI has promtool', () => expect(existsSync(PROMTOOL)).toBe(true));
  test.skipIf(!existsSync(PROMTOOL))('pass promtool', async () => {
    const { ask, read } = await open();
    await ask('{ beaconHeight pairs { id } tickers { id } }');
    const text = await read();
    expect(() => execFileSync(PROMTOOL, ['check', 'metrics'], { input: text })).not.toThrow();
  });
});
