import { once } from 'node:events';
import { createServer } from 'node:net';
import { request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Config } from '../../../src/settings/settings.ts';
import { startGatewayForTest } from '../../support/gateway.ts';
import { sample } from '../../support/metrics.ts';
import { freePort } from '../../support/ports.ts';

async function open(config: Partial<Config> = {}) {
  const gateway = await startGatewayForTest({ config: { adminPort: 0, marketPollMs: 60_000, ...config } });
  const { origin } = new URL(await gateway.app.listen(await freePort(), '127.0.0.1'));
  const admin = gateway.app.adminUrl() ?? '';
  await expect.poll(async () => (await fetch(`${admin}/ready`)).status).toBe(200);
  return { ...gateway, origin, admin };
}

/** Each request on a connection of its own. */
async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number> {
  const { statusCode, body } = await request(url, { headers, reset: true });
  await body.dump();
  return statusCode;
}

const ADMIN_PATHS = ['/health', '/ready', '/metrics'];

/** A port of this machine that is in use until the test ends. */
async function takePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

describe('with an admin port', () => {
  test('health, readiness and metrics are there, and nothing else', async () => {
    const { admin, origin } = await open();
    for (const path of ADMIN_PATHS) {
      expect([path, await statusOf(admin + path)]).toEqual([path, 200]);
      // A proxy in front of it must not show an operator how the gateway was before.
      expect([path, (await fetch(admin + path)).headers.get('cache-control')]).toEqual([path, 'no-store']);
      expect([path, await statusOf(origin + path)]).toEqual([path, 404]);
    }
    for (const path of ['/', '/graphql?query={beaconHeight}', '/graphql/', '/schema.graphql', '/metrics/'])
      expect([path, await statusOf(admin + path)]).toEqual([path, 404]);
    expect(await statusOf(`${admin}/graphql`, { accept: 'text/html' })).toBe(404);
    expect(await (await fetch(`${admin}/graphql`)).text()).toBe(
      'Not found. This port has /health, /ready, /metrics.\n',
    );
    const socket = new WebSocket(`${admin.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await expect(once(socket, 'open')).rejects.toThrow('404');
    expect(await (await fetch(`${origin}/graphql?query={service{sandbox}}`)).json()).toEqual({
      data: { service: { sandbox: true } },
    });
    const other = new URL(origin).port;
    expect(new URL(admin).port).not.toBe(other);
  });

  test('the index has no link to them', async () => {
    const { origin } = await open();
    for (const accept of ['application/json', 'text/plain', 'text/html']) {
      const headers = { accept, 'sec-fetch-mode': accept === 'text/html' ? 'navigate' : 'cors' };
      const { body } = await request(`${origin}/`, { headers });
      const text = await body.text();
      expect(text).toContain('schema.graphql');
      expect(text).not.toMatch(/health|ready|metrics/i);
    }
  });

  test('no limit of addresses applies there, and requests are counted', async () => {
    const { admin, origin } = await open({ rateLimitPerSecond: 1, rateLimitBurst: 1, maxConnectionsPerAddress: 1 });
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    onTestFinished(() => socket.terminate());
    await once(socket, 'open');
    for (let n = 0; n < 20; n++) expect(await statusOf(`${admin}/ready`)).toBe(200);
    expect(await statusOf(`${origin}/graphql?query={beaconHeight}`)).toBe(429);

    const text = await (await fetch(`${admin}/metrics`)).text();
    expect(sample(text, 'pdex_http_requests_total{endpoint="ready",status="200"}')).toBeGreaterThanOrEqual(20);
  });

  test('requests there have a line in the access log', async () => {
    const { admin, lines } = await open({ accessLog: 'all' });
    await fetch(`${admin}/health`, { headers: { 'x-request-id': 'probe/1' } });
    await expect
      .poll(() => lines)
      .toContainEqual(expect.objectContaining({ requestId: 'probe/1', path: '/health', status: 200 }));
  });

  test('/ready reports that the gateway stops until the main port and its requests are closed', async () => {
    const { admin, origin, app, sandbox } = await open({ adminPort: await freePort(), stopTimeoutMs: 5_000 });
    sandbox.node.resetCalls();
    const end = sandbox.node.faults.set({ kind: 'delay', ms: 1_000, on: 'getpdestate' });
    const query = encodeURIComponent(`{ poolPairs(first: 1, at: ${sandbox.chain.tip.height - 9}) { totalCount } }`);
    const pending = fetch(`${origin}/graphql?query=${query}`);
    await expect.poll(() => sandbox.node.calls('getpdestate')).toBe(1);

    const closing = app.close();
    const ready = await fetch(`${admin}/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      {
        status: 'not ready',
        reasons: [{ code: 'STOPPING', message: 'the gateway is stopping' }],
        exchangeVersion: 'V1',
        sandbox: true,
      },
    ]);
    expect(ready.headers.get('connection')).toBe('close');
    expect(await (await pending).json()).toEqual({ data: { poolPairs: { totalCount: 54 } } });
    end();
    await closing;
    expect(app.adminUrl()).toBeUndefined();
    for (const url of [admin, origin]) await expect(fetch(`${url}/ready`)).rejects.toThrow('fetch failed');
  });

  test('a port that is in use is an error that names it, and leaves the other one free', async () => {
    const [taken, free] = [await takePort(), await freePort()];
    const first = await startGatewayForTest({ config: { adminPort: taken } });
    await expect(first.app.listen(0, '127.0.0.1')).rejects.toMatchObject({
      code: 'EADDRINUSE',
      message: `listen EADDRINUSE: address already in use 127.0.0.1:${taken}`,
    });

    const second = await startGatewayForTest({ config: { adminPort: free } });
    await expect(second.app.listen(taken, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect(second.app.adminUrl()).toBeUndefined();
    await expect(fetch(`http://127.0.0.1:${free}/health`)).rejects.toThrow('fetch failed');
  });

  test('it has its own address', async () => {
    const { app } = await startGatewayForTest({ config: { adminPort: 0, adminHost: '127.0.0.2' } });
    const url = await app.listen(0, '127.0.0.1');
    expect([new URL(url).hostname, new URL(app.adminUrl() ?? '').hostname]).toEqual(['127.0.0.1', '127.0.0.2']);
  });
});

test('without an admin port there is none', async () => {
  const { app } = await startGatewayForTest();
  const url = await app.listen(0, '127.0.0.1');
  expect(app.adminUrl()).toBeUndefined();
  for (const path of ADMIN_PATHS) expect(await statusOf(new URL(path, url).href)).not.toBe(404);
});
