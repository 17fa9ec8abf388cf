import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { startGateway, startGatewayForTest } from '../../support/gateway.ts';
import { sumOf } from '../../support/metrics.ts';

async function open(corsOrigins: readonly string[], isSandbox = false) {
  const { app } = await startGatewayForTest({ config: { corsOrigins }, isSandbox });
  return app.listen(0, '127.0.0.1');
}

/** A gateway with the default: no other origin is listed. */
let gateway: Awaited<ReturnType<typeof startGateway>>;
let byDefault = '';
beforeAll(async () => {
  gateway = await startGateway({ isSandbox: false });
  byDefault = await gateway.app.listen(0, '127.0.0.1');
});
afterAll(() => gateway.close());

const query = '?query={service{version}}';

async function allowedOrigin(url: string, origin: string): Promise<string | null> {
  return (await fetch(url + query, { headers: { origin } })).headers.get('access-control-allow-origin');
}

async function upgrade(url: string, origin?: string): Promise<'open' | number> {
  const socket = new WebSocket(
    url.replace('http', 'ws'),
    'graphql-transport-ws',
    origin === undefined ? {} : { origin },
  );
  const refused = once(socket, 'unexpected-response').then(([, response]) => response.statusCode as number);
  const outcome = await Promise.race([once(socket, 'open').then(() => 'open' as const), refused]);
  socket.on('error', () => {});
  socket.terminate();
  return outcome;
}

test('by default pages of other origins are refused, over HTTP and websockets', async () => {
  const url = byDefault;
  expect(await allowedOrigin(url, 'https://elsewhere.example')).toBeNull();
  expect(await upgrade(url, 'https://elsewhere.example')).toBe(403);
  expect(await upgrade(url, 'null')).toBe(403);
  expect(await upgrade(url, new URL(url).origin)).toBe('open');
  expect(await upgrade(url)).toBe('open');
});

test('listed origins are allowed, and no others', async () => {
  const url = await open(['https://app.example', 'http://localhost:3000']);
  expect(await allowedOrigin(url, 'https://app.example')).toBe('https://app.example');
  for (const origin of ['https://elsewhere.example', 'null', 'https://app.example.evil']) {
    expect(await allowedOrigin(url, origin)).toBeNull();
  }
  expect((await fetch(url + query, { headers: { origin: 'null' } })).headers.get('vary')).toMatch(/origin/i);
  expect(await upgrade(url, 'http://localhost:3000')).toBe('open');
  expect(await upgrade(url, 'http://localhost:3001')).toBe(403);

  const preflight = await fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,apollographql-client-name',
    },
  });
  expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type,apollographql-client-name');
  expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
  expect(preflight.headers.get('access-control-allow-credentials')).not.toBe('true');
});

test('with simulated data, pages of loopback addresses are allowed on any port, over every transport', async () => {
  const url = await open(['https://app.example'], true);
  const real = await open(['https://app.example']);
  for (const origin of [
    ...['http://localhost:5173', 'http://localhost', 'https://localhost:3000', 'http://127.0.0.1:8080'],
    ...['http://[::1]:5173', 'https://[::1]', 'https://app.example'],
  ]) {
    expect([origin, await allowedOrigin(url, origin), await upgrade(url, origin)]).toEqual([origin, origin, 'open']);
    const stream = await fetch(`${url}?query=subscription{head{beaconHeight}}`, {
      headers: { origin, accept: 'text/event-stream' },
    });
    expect([origin, stream.status, stream.headers.get('access-control-allow-origin')]).toEqual([origin, 200, origin]);
    await stream.body?.cancel();
    const headers = { origin, 'access-control-request-method': 'POST' };
    const preflight = await fetch(url, { method: 'OPTIONS', headers });
    expect([origin, preflight.status]).toEqual([origin, 204]);
    if (origin !== 'https://app.example') expect([origin, await upgrade(real, origin)]).toEqual([origin, 403]);
  }
  for (const origin of [
    ...['https://elsewhere.example', 'null', 'http://localhost.evil.example:80', 'http://127.0.0.1.evil.example'],
    ...['http://evil.example:5173', 'http://10.0.0.1:5173', 'http://localhost:1@evil.example'],
  ]) {
    expect([origin, await allowedOrigin(url, origin), await upgrade(url, origin)]).toEqual([origin, null, 403]);
  }
});

test('with * every origin is allowed, without credentials', async () => {
  const url = await open(['*']);
  const { headers } = await fetch(url + query, { headers: { origin: 'https://elsewhere.example' } });
  expect(['*', 'https://elsewhere.example']).toContain(headers.get('access-control-allow-origin'));
  expect(headers.get('access-control-allow-credentials')).not.toBe('true');
  expect(await upgrade(url, 'https://elsewhere.example')).toBe('open');
});

/** The status of a query of a page, at a gateway that is called `host`. */
async function statusFor(url: string, host: string, origin: string): Promise<number> {
  const { statusCode, body } = await request(url + query, { headers: { host, origin } });
  await body.dump();
  return statusCode;
}

// Equal origins have the same scheme, host and port: RFC 6454, sections 4 and 5. The scheme of the gateway is that of the proxy.
test('the own origin may send operations, however it is written', async () => {
  for (const [host, origin] of [
    // The default port.
    ['dex.example:443', 'https://dex.example'],
    ['dex.example', 'http://dex.example:80'],
    // Some clients of websockets send the scheme of a websocket.
    ['dex.example', 'wss://dex.example'],
    ['dex.example:4000', 'ws://dex.example:4000'],
    // Upper case.
    ['DEX.Example', 'https://dex.example'],
    ['dex.example', 'HTTPS://DEX.EXAMPLE'],
    // A host name that ends with a dot.
    ['dex.example.', 'https://dex.example'],
    ['dex.example:8443', 'https://dex.example.:8443'],
    // IPv6 in its long form, and in upper case.
    ['[0:0:0:0:0:0:0:1]:4000', 'http://[::1]:4000'],
    ['[2001:DB8::A]', 'https://[2001:db8::a]'],
  ] as const)
    expect([host, origin, await statusFor(byDefault, host, origin)]).toEqual([host, origin, 200]);
});

test('other origins are not the own one', async () => {
  for (const [host, origin] of [
    // Another port, or the default port of the other scheme.
    ['dex.example:8443', 'https://dex.example'],
    ['dex.example:80', 'https://dex.example'],
    ['dex.example', 'https://app.dex.example'],
    ['localhost', 'capacitor://localhost'],
    ['null', 'null'],
    ['dex.example', 'https://dex.example https://elsewhere.example'],
  ] as const)
    expect([host, origin, await statusFor(byDefault, host, origin)]).toEqual([host, origin, 403]);
});

test('over HTTP/2 the own origin is that of `:authority`', async () => {
  const { app } = await startGatewayForTest();
  const server = createServer((received, response) => app.handle(received as never, response as never));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => session.close(() => server.close()));
  // RFC 9113, section 8.3.1: `:authority` is used, whatever `Host` is.
  const statusOf = async (headers: Record<string, string>) => {
    const stream = session.request({ ':path': `/graphql${query}`, ':authority': 'dex.example', ...headers });
    const [received] = await once(stream, 'response');
    stream.resume();
    return received[':status'];
  };
  expect(await statusOf({ origin: 'https://dex.example' })).toBe(200);
  expect(await statusOf({ origin: 'https://elsewhere.example' })).toBe(403);
  expect(await statusOf({ origin: 'https://elsewhere.example', host: 'elsewhere.example' })).toBe(403);
});

test('apps, pages without an origin and subdomains can be listed', async () => {
  const url = await open([
    ...['capacitor://localhost', 'chrome-extension://abcdefghijklmnop', 'null', 'https://*.app.example'],
    ...['http://*.local:8080', 'https://listed.example'],
  ]);
  for (const origin of [
    ...['capacitor://localhost', 'chrome-extension://abcdefghijklmnop', 'null', 'https://a.app.example'],
    ...['https://a.b.app.example', 'http://a.local:8080', 'HTTPS://Listed.Example:443'],
  ]) {
    expect([origin, await allowedOrigin(url, origin)]).toEqual([origin, origin]);
    expect([origin, await upgrade(url, origin)]).toEqual([origin, 'open']);
  }
  for (const origin of [
    ...[
      'capacitor://elsewhere',
      'ionic://localhost',
      'https://app.example',
      'https://.app.example',
      'https://aapp.example',
    ],
    ...['http://a.app.example', 'https://a.app.example:8443', 'https://a.app.example.evil', 'http://a.local'],
  ]) {
    expect([origin, await allowedOrigin(url, origin)]).toEqual([origin, null]);
    expect([origin, await upgrade(url, origin)]).toEqual([origin, 403]);
  }
});

describe('a request of a browser for a page of another origin, without a preflight,', () => {
  const JSON_TYPE = { 'content-type': 'application/json' };
  const FOREIGN = { origin: 'https://elsewhere.example' };
  const body = '{"query":"{service{version}}"}';
  type Sent = { readonly method?: 'GET' | 'POST'; readonly headers: Record<string, string>; readonly body?: string };

  async function send(url: string, { body: sent, ...rest }: Sent) {
    const response = await request(sent === undefined ? url + query : url, { ...rest, body: sent ?? null });
    const text = await response.body.text();
    return { status: response.statusCode, headers: response.headers, text };
  }

  const SENT: Record<string, Sent> = {
    'an image': { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' } },
    'a script of a neighbouring host': { headers: { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' } },
    'a frame': {
      headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    },
    'a GET by fetch': { headers: FOREIGN },
    'a GET of a page without an origin': { headers: { origin: 'null' } },
    'an event stream': { headers: { ...FOREIGN, accept: 'text/event-stream' } },
    'a POST of text': { method: 'POST', headers: { ...FOREIGN, 'content-type': 'text/plain' }, body },
    'a POST of GraphQL': {
      method: 'POST',
      headers: { ...FOREIGN, 'content-type': 'application/graphql' },
      body: '{a}',
    },
    'a form': { method: 'POST', headers: { ...FOREIGN, 'content-type': 'multipart/form-data; boundary=x' }, body: 'x' },
    'a POST of JSON': { method: 'POST', headers: { ...FOREIGN, ...JSON_TYPE }, body },
  };

  test('is refused before it is parsed', async () => {
    const url = await open(['https://app.example']);
    // The response is in the cache: the check of the origin must come before the cache.
    for (let times = 0; times < 3; times++) await send(url, { headers: {} });
    for (const [name, sent] of Object.entries(SENT)) {
      const { status, headers, text } = await send(url, sent);
      expect([name, status, headers['content-type']]).toEqual([name, 403, 'application/json; charset=utf-8']);
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(headers['cache-control']).toBe(sent.method === 'POST' ? undefined : 'no-store');
      expect(JSON.parse(text).errors).toEqual([
        { message: expect.stringContaining('CORS_ORIGINS'), extensions: { code: 'ORIGIN_NOT_ALLOWED' } },
      ]);
    }
    const metrics = await (await fetch(new URL('/metrics', url))).text();
    expect(sumOf(metrics, 'pdex_query_responses_total', {})).toBe(3);
  });

  test('is allowed with *', async () => {
    const url = await open(['*']);
    for (const [name, sent] of Object.entries(SENT))
      expect([name, (await send(url, sent)).status]).not.toEqual([name, 403]);
  });

  test('is allowed if its origin is listed, or is that of the gateway behind a proxy that changes the Host header', async () => {
    const url = await open(['https://app.example']);
    for (const headers of [
      { origin: 'https://app.example' },
      { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'https://gateway.example', 'sec-fetch-site': 'same-origin' },
      { origin: 'https://gateway.example', host: 'gateway.example' },
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' },
      { 'sec-fetch-mode': 'cors' },
    ]) {
      expect([headers, (await send(url, { headers })).status]).toEqual([headers, 200]);
      expect((await send(url, { method: 'POST', headers: { ...headers, ...JSON_TYPE }, body })).status).toBe(200);
    }
  });

  test('gets an error with the remedy in an accepted type, which repeats only what it sent', async () => {
    const accept = 'application/graphql-response+json';
    const origin = `https://${'a'.repeat(1_000)}.example`;
    const { headers, text } = await send(byDefault, { headers: { origin, accept } });
    expect(headers['content-type']).toBe(`${accept}; charset=utf-8`);
    expect(text.length).toBeLessThan(700);
  });

  // The page is 200 if the explorer is built, as after `npm ci`, and 503 otherwise.
  test('is not refused GraphiQL if it follows a link', async () => {
    const {
      statusCode,
      headers,
      body: page,
    } = await request(byDefault, {
      headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', accept: 'text/html,*/*;q=0.8' },
    });
    await page.dump();
    expect([200, 503]).toContain(statusCode);
    // Browsers that send no `Sec-Fetch-Dest: iframe` do not show it in a frame either.
    expect(headers['content-security-policy']).toBe("frame-ancestors 'self'");
  });

  test('is refused if it follows a link and GraphiQL is off', async () => {
    const { app } = await startGatewayForTest({ config: { graphiql: false } });
    const url = await app.listen(0, '127.0.0.1');
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', accept: 'text/html,*/*;q=0.8' };
    expect((await send(url, { headers })).status).toBe(403);
  });

  test('is refused at its preflight', async () => {
    const url = await open(['https://app.example']);
    const headers = { ...FOREIGN, 'access-control-request-method': 'POST' };
    const preflight = await fetch(url, { method: 'OPTIONS', headers });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });
});

test('a refused websocket gets the error', async () => {
  const refuse = async (path: string, origin: string) => {
    const socket = new WebSocket(new URL(path, byDefault.replace('http', 'ws')), 'graphql-transport-ws', { origin });
    socket.on('error', () => {});
    const [, response] = await once(socket, 'unexpected-response');
    return [response.statusCode, (await response.toArray()).join('')];
  };
  const refused = expect.stringContaining('"extensions":{"code":"ORIGIN_NOT_ALLOWED"}');
  expect(await refuse('/graphql', 'https://elsewhere.example')).toEqual([403, refused]);
  // On another path, the request is one without `Upgrade`.
  const notFound = 'Not found. The GraphQL endpoint is /graphql.\n';
  expect(await refuse('/elsewhere', new URL(byDefault).origin)).toEqual([404, notFound]);
});
