import { connect as connectSocket } from 'node:net';
import { createClient } from 'graphql-ws';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { startGatewayForTest } from '../../support/gateway.ts';
import { sample } from '../../support/metrics.ts';

async function open() {
  const gateway = await startGatewayForTest();
  const url = await gateway.app.listen(0, '127.0.0.1');
  return { ...gateway, url, origin: new URL(url).origin };
}

describe('the HTTP server', () => {
  test('accepts a slash after the path, by POST, GET, as a page and over a websocket', async () => {
    const { url, sandbox } = await open();
    const answer = { data: { beaconHeight: sandbox.chain.tip.height } };
    const headers = { 'content-type': 'application/json' };
    const posted = await fetch(`${url}/`, { method: 'POST', headers, body: '{"query":"{ beaconHeight }"}' });
    expect(await posted.json()).toEqual(answer);

    for (const slash of ['', '/', '/']) {
      expect(await (await fetch(`${url}${slash}?query={beaconHeight}`)).json()).toEqual(answer);
    }
    const metrics = await (await fetch(new URL('/metrics', url))).text();
    expect(sample(metrics, 'pdex_query_responses_total{from="cached"}')).toBe(1);

    // Node's fetch sends the `Sec-Fetch` headers of a script, whatever it accepts.
    const page = await request(`${url}/`, { headers: { accept: 'text/html' } });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    await page.body.dump();
    const client = createClient({ url: `${url.replace('http', 'ws')}/`, webSocketImpl: WebSocket });
    for await (const result of client.iterate({ query: '{ beaconHeight }' })) expect(result).toEqual(answer);
    await client.dispose();
  });

  test.each([0, undefined])(
    'responds with an internal error if a page fails, on the admin port %s',
    async (adminPort) => {
      const { app, lines, ...gateway } = await startGatewayForTest({ config: { adminPort } });
      const url = await app.listen(0, '127.0.0.1');
      const { head } = app.service.sources;
      const { subscribers } = head;
      Object.assign(head, {
        subscribers() {
          throw new Error('http://10.0.0.1 broke');
        },
      });
      const failed = await fetch(new URL('/metrics', app.adminUrl() ?? url));
      const extensions = { code: 'INTERNAL_SERVER_ERROR' };
      expect([failed.status, await failed.json()]).toEqual([
        500,
        { errors: [{ message: 'An internal error occurred in the gateway.', extensions }] },
      ]);
      const logged = { msg: 'internal error', requestId: failed.headers.get('x-request-id') };
      expect(lines).toContainEqual(expect.objectContaining(logged));

      Object.assign(head, { subscribers });
      const metrics = await fetch(new URL('/metrics', app.adminUrl() ?? url));
      expect(sample(await metrics.text(), 'pdex_errors_total{code="INTERNAL_SERVER_ERROR"}')).toBe(1);
      expect(await gateway.ask('{ beaconHeight }')).toMatchObject({ data: {} });
    },
  );

  test('reports its health at exactly one path, whatever the upstreams do', async () => {
    const { origin, sandbox } = await open();
    await sandbox.node.stop();
    await sandbox.marketData.stop();
    const health = await fetch(`${origin}/health`);
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    for (const path of ['/healthy', '/health/', '/anything?x=/health', '/graphql//', '/graphqlx', '//']) {
      expect([path, (await fetch(origin + path)).status]).toEqual([path, 404]);
    }
    expect((await fetch(`${origin}/health?x=1`)).status).toBe(200);
    expect(await (await fetch(`${origin}/graphql?x=/health`)).text()).not.toBe('');
  });

  test('responds to other methods of each path with those that it has', async () => {
    const { origin, lines, untilReady } = await open();
    await untilReady();
    for (const path of [
      ...['/health', '/ready', '/metrics', '/schema.graphql', '/', '/openapi.json', '/graphql'],
      ...['/api/v1/public/market-data/pairs', '/udf/time'],
    ]) {
      const allow = path === '/graphql' ? 'GET, HEAD, POST, OPTIONS' : 'GET, HEAD, OPTIONS';
      const { status, headers } = await fetch(origin + path, { method: 'DELETE' });
      expect([path, status, headers.get('allow')]).toEqual([path, 405, allow]);
      const options = await fetch(origin + path, { method: 'OPTIONS' });
      expect([path, options.status, options.headers.get('allow')]).toEqual([path, 204, allow]);
      expect([await options.text(), options.headers.get('x-request-id')]).toEqual(['', expect.any(String)]);
      if (path !== '/graphql') expect((await fetch(origin + path, { method: 'HEAD' })).status).toBe(200);
    }
    const logged = lines.filter(({ msg, method }) => msg === 'request' && method === 'OPTIONS');
    expect(logged).toEqual([]);
    const metrics = await (await fetch(`${origin}/metrics`)).text();
    expect(sample(metrics, 'pdex_http_requests_total{endpoint="index",status="405"}')).toBe(1);
  });

  test('has the same methods for gateway.fetch, and none for pages of other origins', async () => {
    const { app, url } = await open();
    const fetched = await app.fetch(new Request('http://gateway/graphql', { method: 'OPTIONS' }));
    expect([fetched.status, fetched.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST, OPTIONS']);
    const other = await fetch(url, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } });
    expect([other.status, other.headers.get('allow')]).toEqual([403, null]);
  });

  test('has status 400 for a refused operation if the client accepts application/graphql-response+json', async () => {
    const { url } = await open();
    const bodies = ['{', '{ nothing }', `{ ${'a: beaconHeight '.repeat(6_000)} }`].map((query) =>
      JSON.stringify({ query }),
    );
    for (const body of [
      ...bodies,
      JSON.stringify({ query: 'query ($n: Int!) { poolPairs(first: $n) { totalCount } }' }),
    ]) {
      const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };
      const response = await fetch(url, { method: 'POST', headers, body });
      expect([response.status, Object.keys(await response.json())]).toEqual([400, ['errors']]);
    }
  });

  test('refuses an invalid Host, and says nothing about itself', async () => {
    const { url } = await open();
    const { port } = new URL(url);
    for (const host of ['a b', '[::bad', 'x:99999']) {
      const socket = connectSocket(Number(port), '127.0.0.1');
      socket.end(`GET /graphql?query={beaconHeight} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      const answer = String(Buffer.concat(await socket.toArray()));
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).not.toMatch(/node:|node_modules|\.js|\bat\b.*:\d+/);
    }
  });
});
