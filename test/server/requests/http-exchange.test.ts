import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startGatewayForTests } from '../../support/gateway.ts';

// Nothing changes between two requests.
const gateway = startGatewayForTests({ config: { headPollMs: 3_600_000, marketPollMs: 3_600_000, accessLog: 'all' } });

type Sent = { readonly method?: string; readonly host?: string; readonly headers?: string; readonly body?: string };

/** Sends a target as it is, which no client does, and returns the response without what differs between two requests. */
async function send(
  target: string,
  { method = 'GET', host = 'x', headers = '', body = '' }: Sent = {},
  at = gateway.url,
) {
  const socket = connect(Number(new URL(at).port), '127.0.0.1');
  const length = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  socket.write(`${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers}${length}\r\n${body}`);
  const text = String(Buffer.concat(await socket.toArray()));
  const end = text.indexOf('\r\n\r\n');
  const [line, ...lines] = text.slice(0, end).split('\r\n');
  const isKept = (header: string) => !/^(date|x-request-id|ratelimit)/i.test(header);
  return { line, headers: lines.filter(isKept), body: text.slice(end + 4) };
}

const HEIGHT = '{"query":"{beaconHeight}"}';

/** A target in its usual form, and how to write the same. */
const SAME: readonly { readonly usual: string; readonly others: readonly string[]; readonly sent?: Sent }[] = [
  {
    usual: '/graphql?query={beaconHeight}',
    others: [
      // RFC 9112, 3.2.2: a server must accept the absolute form. RFC 3986, 3.1: schemes are compared without case.
      'http://dex.example/graphql?query={beaconHeight}',
      'HTTPS://user@dex.example:8443/graphql?query={beaconHeight}',
      // RFC 9110, 4.2.3: an encoded character that need not be encoded means the same.
      '/%67raphql?query={beaconHeight}',
      '/%67%72%61%70%68%71%6C?query={beaconHeight}',
      // As if the base URL of a client ends with a slash.
      '//graphql?query={beaconHeight}',
      '///graphql/?query={beaconHeight}',
      'http://dex.example//%67raphql/?query={beaconHeight}',
    ],
  },
  {
    usual: '/graphql',
    others: ['//graphql', '/graphq%6c', 'http://dex.example/graphql'],
    sent: { method: 'POST', body: HEIGHT },
  },
  {
    usual: '/graphql?query={__typename}',
    others: ['//graphql?query={__typename}', 'http://dex.example/graphql?query={__typename}'],
    sent: { headers: 'Accept: text/event-stream\r\n' },
  },
  { usual: '/health', others: ['http://dex.example/health', '/h%65alth', '//health'] },
  { usual: '/', others: ['http://dex.example/', 'http://dex.example', 'http://dex.example?x=1'] },
  {
    usual: '/schema.graphql',
    others: ['/schema%2Egraphql', 'http://dex.example/schema.graphql', '//schema.graphql'],
  },
  {
    usual: '/api/v1/public/market-data/pairs',
    others: ['http://dex.example/api/v1/public/market-data/pairs', '/%61pi/v1/public/market%2ddata/pairs'],
  },
  { usual: '/openapi.json', others: ['//openapi.json', '/openapi%2ejson'] },
];

describe('a target', () => {
  test.each(SAME)('$usual is the same as $others', async ({ usual, others, sent }) => {
    const expected = await send(usual, sent);
    expect(expected.line).toBe('HTTP/1.1 200 OK');
    for (const target of others) expect([target, await send(target, sent)]).toEqual([target, expected]);
  });

  test.each(['/%2Fgraphql', '/graphql%2F', '/graphql//', '//', '/%', '/graph%71l%', '*', 'http:///graphql'])(
    '%s is another one',
    async (target) => {
      expect((await send(target)).line).toMatch(/^HTTP\/1\.1 40[04] /);
    },
  );

  // RFC 9112, 3.2.2: a server must ignore the received Host header, and use the host in the target.
  test('in the absolute form names the host, with which the origin of a page is compared', async () => {
    const headers = 'Origin: http://dex.example\r\n';
    const target = '/graphql?query={beaconHeight}';
    const own = await send(`http://dex.example${target}`, { host: 'other.example', headers });
    const foreign = await send(`http://other.example${target}`, { host: 'dex.example', headers });
    const invalid = await send(`http://a:b${target}`);
    expect([own.line, foreign.line, invalid.line]).toEqual([
      'HTTP/1.1 200 OK',
      'HTTP/1.1 403 Forbidden',
      'HTTP/1.1 400 Bad Request',
    ]);
  });

  test.each(['http://dex.example/graphql', '//graphql', '/%67raphql/'])('%s opens a websocket', async (target) => {
    const headers =
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n';
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${headers}\r\n`);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 101 /);
  });

  // RFC 9110, 9.3.7: OPTIONS * is about the server. RFC 9112, 3.2.4: without a path, the absolute form means the same.
  test.each(['*', 'http://dex.example'])('of OPTIONS that is %s gets the methods of the server', async (target) => {
    const { line, headers } = await send(target, { method: 'OPTIONS' });
    expect([line, headers.filter((header) => header.startsWith('allow'))]).toEqual([
      'HTTP/1.1 204 No Content',
      ['allow: GET, HEAD, POST, OPTIONS'],
    ]);
  });

  test('of another server that the gateway is in stays as it is for that server', async () => {
    const { app } = gateway;
    const server = createServer((sent, response) => app.handle(sent, response, () => response.end(sent.url)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const target of ['http://dex.example/other', '//other', '/%6fther', '*'])
      expect([target, (await send(target, {}, at)).body]).toEqual([target, expect.stringContaining(target)]);
    expect((await send('http://dex.example//%67raphql?query={__typename}', {}, at)).body).toBe(
      '{"data":{"__typename":"Query"}}',
    );
  });
});

describe('HEAD', () => {
  const QUERY = '/graphql?query={beaconHeight}';

  // RFC 9110, 9.3.2: the response to HEAD has the status and the headers of that to GET, and no content.
  test.each([
    ['/', ''],
    ['/health', ''],
    ['/ready', ''],
    ['/schema.graphql', ''],
    ['/openapi.json', ''],
    ['/api/v1/public/market-data/pairs', ''],
    ['/nowhere', ''],
    [QUERY, ''],
    [QUERY, 'Accept: application/graphql-response+json\r\n'],
    [QUERY, 'Accept: image/png\r\n'],
    [QUERY, 'Accept: text/event-stream\r\n'],
    [QUERY, 'Accept: text/html\r\n'],
    [QUERY, 'Origin: http://elsewhere.example\r\n'],
    ['/graphql', ''],
    ['/graphql?query={', ''],
    ['/graphql?query={nothing}', 'Accept: text/event-stream\r\n'],
  ])('of %s has the status and the headers of GET: %j', async (target, headers) => {
    const get = await send(target, { headers });
    const head = await send(target, { headers, method: 'HEAD' });
    // RFC 9110, 9.3.2: headers that a server determines only with the content may be omitted.
    const fixed = (all: readonly string[]) =>
      all.filter((header) => !/^(transfer-encoding|content-length)/i.test(header));
    expect({ ...head, headers: fixed(head.headers) }).toEqual({ ...get, headers: fixed(get.headers), body: '' });
    const length = get.headers.find((header) => header.startsWith('content-length'));
    if (length !== undefined)
      expect([length, undefined]).toContain(head.headers.find((h) => h.startsWith('content-length')));
  });

  test('of a query has the length of its response, and 304 if the client has it', async () => {
    const response = await request(new URL(QUERY, gateway.url), { method: 'HEAD' });
    const { etag } = response.headers;
    expect([response.statusCode, response.headers['content-length']]).toEqual([200, '33']);
    const again = await request(new URL(QUERY, gateway.url), {
      method: 'HEAD',
      headers: { 'if-none-match': String(etag) },
    });
    expect(again.statusCode).toBe(304);
  });

  test.each(['text/event-stream', 'text/event-stream, application/json'])(
    'of a subscription has the headers of an event stream, and opens none: %s',
    async (accept) => {
      const { head } = gateway.app.service.sources;
      const before = head.subscribers();
      const query = `/graphql?query=${encodeURIComponent('subscription { head { beaconHeight } }')}`;
      const { line, headers, body } = await send(query, { method: 'HEAD', headers: `Accept: ${accept}\r\n` });
      expect([line, body]).toEqual(['HTTP/1.1 200 OK', '']);
      expect(headers).toContain('content-type: text/event-stream');
      expect(head.subscribers()).toBe(before);
    },
  );

  test('is HEAD in the access log', async () => {
    const id = 'a-head';
    await send(QUERY, { method: 'HEAD', headers: `x-request-id: ${id}\r\n` });
    await expect.poll(() => gateway.lines.find(({ requestId }) => requestId === id)).toMatchObject({ method: 'HEAD' });
  });

  test('works with fetch too', async () => {
    const at = `http://gateway${QUERY}`;
    const request = (...sent: ConstructorParameters<typeof Request>) => gateway.app.fetch(new Request(...sent));
    const [get, head] = [await request(at), await request(at, { method: 'HEAD' })];
    const headersOf = (response: Response) => Object.fromEntries(response.headers);
    expect([head.status, headersOf(head), await head.text()]).toEqual([get.status, headersOf(get), '']);
    const stream = `http://gateway/?query=${encodeURIComponent('subscription { head { beaconHeight } }')}`;
    const headers = { accept: 'text/event-stream' };
    expect(await (await request(stream, { method: 'HEAD', headers })).text()).toBe('');
  });

  test('is among the methods that the endpoint allows', async () => {
    const { line, headers } = await send('/graphql', { method: 'DELETE' });
    expect(line).toBe('HTTP/1.1 405 Method Not Allowed');
    expect(headers.map((header) => header.toLowerCase())).toContain('allow: get, head, post, options');
  });
});
