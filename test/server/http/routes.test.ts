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
  test('answers a query by POST and by GET', async () => {
    const { url, sandbox } = await open();
    const { height } = sandbox.chain.tip;
    const posted = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: 'query Q($n: Int) { beaconHeight poolPairs(first: $n) { totalCount } }',
        variables: { n: 1 },
      }),
    });
    expect(posted.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await posted.json()).toEqual({ data: { beaconHeight: height, poolPairs: { totalCount: 54 } } });

    const got = await fetch(`${url}?query=${encodeURIComponent('{ beaconHeight }')}`);
    expect(await got.json()).toEqual({ data: { beaconHeight: height } });
  });

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
      expect((await fetch(new URL('/metrics', app.adminUrl() ?? url))).status).toBe(200);
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

  test.each([
    ['/health', 'GET, HEAD, OPTIONS'],
    ['/ready', 'GET, HEAD, OPTIONS'],
    ['/metrics', 'GET, HEAD, OPTIONS'],
    ['/schema.graphql', 'GET, HEAD, OPTIONS'],
    ['/', 'GET, HEAD, OPTIONS'],
    ['/openapi.json', 'GET, HEAD, OPTIONS'],
    ['/api/v1/public/market-data/pairs', 'GET, HEAD, OPTIONS'],
    ['/udf/time', 'GET, HEAD, OPTIONS'],
    ['/graphql', 'GET, HEAD, POST, OPTIONS'],
  ])('responds to other methods of %s with those that it has', async (path, allow) => {
    const { origin, lines, untilReady } = await open();
    await untilReady();
    const { status, headers } = await fetch(origin + path, { method: 'DELETE' });
    expect([status, headers.get('allow')]).toEqual([405, allow]);
    const logged = lines.length;
    const options = await fetch(origin + path, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow'), await options.text()]).toEqual([204, allow, '']);
    expect(options.headers.get('x-request-id')).not.toBeNull();
    expect(lines.slice(logged).filter(({ msg }) => msg === 'request')).toEqual([]);
    if (path !== '/graphql') expect((await fetch(origin + path, { method: 'HEAD' })).status).toBe(200);
  });

  test('has the same methods for gateway.fetch, and none for pages of other origins', async () => {
    const { app, url } = await open();
    const fetched = await app.fetch('http://gateway/graphql', { method: 'OPTIONS' });
    expect([fetched.status, fetched.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST, OPTIONS']);
    const other = await fetch(url, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } });
    expect([other.status, other.headers.get('allow')]).toEqual([403, null]);
  });

  test('refuses a type that is the name of a member of all objects, on both ways', async () => {
    const { url } = await open();
    for (const accept of ['application/json', 'text/event-stream']) {
      const headers = { accept, 'content-type': 'constructor' };
      const response = await request(url, { method: 'POST', headers, body: '{"query":"{ beaconHeight }"}' });
      expect(response.statusCode).toBe(415);
      await response.body.dump();
    }
  });

  test('refuses forms', async () => {
    const { url } = await open();
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': type },
        body: 'query={beaconHeight}',
      });
      expect([type, response.status]).toEqual([type, 415]);
    }
  });

  test('refuses a body larger than the limit', async () => {
    const { url } = await open();
    const body = JSON.stringify({ query: '{ beaconHeight }', variables: { text: 'x'.repeat(262_144) } });
    const response = await request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(response.statusCode).toBe(413);
    await response.body.dump();
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

  test('explains what is wrong with a malformed request, and nothing about itself', async () => {
    const { url } = await open();
    const { port } = new URL(url);
    for (const host of ['a b', '[::bad', 'x:99999']) {
      const socket = connectSocket(Number(port), '127.0.0.1');
      socket.end(`GET /graphql?query={beaconHeight} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      const answer = String(Buffer.concat(await socket.toArray()));
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).not.toMatch(/node:|node_modules|\.js|\bat\b.*:\d+/);
    }
    for (const part of ['variables=x', 'extensions=x', 'variables=[1]']) {
      const response = await fetch(`${url}?query={beaconHeight}&${part}`);
      const { errors } = await response.json();
      expect([part, response.status, errors[0].extensions]).toEqual([part, 400, { code: 'BAD_USER_INPUT' }]);
    }
  });

  test('refuses an operation name that the document does not have', async () => {
    const { url } = await open();
    const body = JSON.stringify({ query: 'query A { beaconHeight }', operationName: 'B' });
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect((await response.json()).errors[0].extensions).toEqual({ code: 'BAD_USER_INPUT' });
  });
});
