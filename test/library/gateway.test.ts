import { once } from 'node:events';
import { createServer, request as requestRaw, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import express from 'express';
import { request } from 'undici';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createGateway, createSandbox, type Gateway, type GatewayOptions } from '../../src/index.ts';
import { createSandboxHosts } from '../../src/sandbox/sandbox.ts';
import { NEVER_MS } from '../support/gateway.ts';

/** The upstreams of the gateways, with few blocks: to make the week of blocks of the built-in sandbox takes half a second. */
let hosts: Awaited<ReturnType<typeof createSandboxHosts>>;
beforeAll(async () => {
  hosts = await createSandboxHosts({ seed: 7, history: 10 });
  return hosts.close;
});

/** The options of a gateway with the built-in sandbox. */
const BUILT_IN = { fullnodeUrl: undefined, marketDataUrl: undefined };

async function gatewayForTest(options?: GatewayOptions): Promise<Gateway> {
  const gateway = await createGateway({
    fullnodeUrl: hosts.nodeUrl,
    marketDataUrl: hosts.marketDataUrl,
    stopWindowMs: 0,
    historyDatabase: 'memory',
    bookSweepPerMinute: 0,
    ...options,
  });
  onTestFinished(gateway.close);
  return gateway;
}

/** A server of the user's, with the gateway in it. @returns its origin */
async function serve(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A logger, and a promise of a line of the log. */
function expectLine(expected: string) {
  const { promise: isLogged, resolve } = Promise.withResolvers<void>();
  const info = (_fields: object, message: string) => message === expected && resolve();
  return { isLogged, logger: { debug() {}, info, warn() {}, error() {} } };
}

const requestFor = (query: string, headers = {}) =>
  new Request(`http://gateway/any/path?query=${encodeURIComponent(query)}`, { headers });

const ask = async (gateway: Gateway, query: string) => (await gateway.fetch(requestFor(query))).json();

describe('the options', () => {
  test('are checked as on the command line: one error lists all problems', async () => {
    const options = {
      fullnodeUrl: ['http://user:password@a', 'ftp://b'],
      marketDataUrl: new URL('http://c'),
      fullNodeHeaders: {},
      port: '4000',
      upstreamTimeoutMs: 0,
      corsOrigins: 'https://a.example',
      graphiql: 'no',
      accessLog: 'some',
      fullnodeHeaders: { 'x-key': 'secret\nx-other: 1' },
      completelyUnknown: 1,
    };
    const creating = createGateway(options as object);
    await expect(creating).rejects.toMatchObject({
      name: 'ConfigError',
      problems: [
        'fullNodeHeaders is not an option: did you mean fullnodeHeaders?',
        'completelyUnknown is not an option',
        'fullnodeUrl (not shown, it may contain a secret): URL 2 of 2: expected a URL with http or https',
        'marketDataUrl: expected a string',
        'port: expected a number',
        'corsOrigins: expected an array of strings',
        'fullnodeHeaders: expected an object of header names and values, which are strings without line breaks',
        'upstreamTimeoutMs is "0": expected a whole number from 1 to 2147483647',
        'graphiql: expected true or false',
        'accessLog is "some": expected one of off, errors, all',
      ],
    });
  });

  test.each([
    ['a list', ['x-key: 1']],
    ['a value with a line break', { 'x-key': '1\rx-other: 1' }],
    ['a value with what stands for a line break', { 'x-key': '1\\nx-other: 1' }],
    ['a value of another type', { 'x-key': 1 }],
  ])('refuse as headers: %s', async (_, fullnodeHeaders) => {
    await expect(createGateway({ fullnodeHeaders } as object)).rejects.toThrow(
      'fullnodeHeaders: expected an object of header names and values, which are strings without line breaks',
    );
  });

  test('are checked together too, except for those that are invalid', async () => {
    const options = {
      port: '4000',
      maxDepth: 0,
      fullnodeWsUrl: 'ws://a',
      persistedOnly: true,
    };
    await expect(createGateway(options as object)).rejects.toMatchObject({
      problems: [
        'port: expected a number',
        'maxDepth is "0": expected a whole number from 1 to 2147483647',
        'persistedOnly is true, but persistedDocuments is not set: no operation could be executed',
        'fullnodeWsUrl is set, but fullnodeUrl is not: a pushed block is read from the node',
      ],
    });
  });

  test('of a sandbox are checked too', async () => {
    const options = { sed: 1, seed: 1.5, blockMs: '100', pools: -1 };
    await expect(createSandbox(options as object)).rejects.toMatchObject({
      name: 'ConfigError',
      problems: [
        'sed is not an option',
        'seed: expected a whole number from 0 to 9007199254740991',
        'blockMs: expected a whole number from 0 to 2147483647',
        'pools: expected a whole number from 0 to 100000',
      ],
    });
    await expect(createSandbox({ blockms: 1 } as object)).rejects.toThrow('did you mean blockMs?');
    await (await createSandbox({ seed: undefined, blockMs: 0, pools: 0 })).close();
  });

  test('that are empty mean the sandbox, unless it is switched off', async () => {
    const gateway = await gatewayForTest(BUILT_IN);
    expect(await ask(gateway, '{ service { sandbox } }')).toEqual({ data: { service: { sandbox: true } } });
    await expect(createGateway({ sandbox: false })).rejects.toThrow(
      'neither fullnodeUrl nor marketDataUrl is set, and sandbox is false',
    );
  });

  test('do not come from the environment', async () => {
    vi.stubEnv('FULLNODE_URL', 'http://127.0.0.1:1');
    vi.stubEnv('NODE_ENV', 'production');
    vi.stubEnv('MAX_DEPTH', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    const gateway = await gatewayForTest(BUILT_IN);
    expect(await ask(gateway, '{ service { sandbox } }')).toEqual({ data: { service: { sandbox: true } } });
  });
});

describe('a gateway', () => {
  test('does not disturb another one in the same process', async () => {
    const first = await gatewayForTest({ maxDepth: 2 });
    const second = await gatewayForTest(BUILT_IN);
    const query = '{ poolPairs { nodes { token1 { id } } } }';
    expect(await ask(first, query)).toMatchObject({ errors: [{ extensions: { code: 'QUERY_TOO_COMPLEX' } }] });
    expect(await ask(second, query)).not.toHaveProperty('errors');

    const [{ url: firstUrl }, { url: secondUrl }] = await Promise.all([
      first.listen({ port: 0 }),
      second.listen({ port: 0 }),
    ]);
    const metricsOf = async (url: string) => (await fetch(new URL('/metrics', url))).text();
    expect(await metricsOf(firstUrl)).toContain('sandbox="false"');
    expect(await metricsOf(secondUrl)).toContain('sandbox="true"');
    await first.close();
    expect(await ask(second, '{ service { sandbox } }')).toEqual({ data: { service: { sandbox: true } } });
  });

  test('takes all addresses of a sandbox: its node pushes blocks, and its token service describes tokens', async () => {
    const sandbox = await createSandbox({ seed: 7, blockMs: 100 });
    onTestFinished(sandbox.close);
    const { fullnodeUrl, marketDataUrl, fullnodeWsUrl, tokensUrl } = sandbox;
    const { isLogged, logger } = expectLine('a node pushes new blocks');
    const addresses = { fullnodeUrl, marketDataUrl, fullnodeWsUrl, tokensUrl };
    const gateway = await gatewayForTest({ ...addresses, historyDatabase: 'off', logger });
    await isLogged;
    const symbols = async () => (await ask(gateway, '{ tokens { symbol decimals } }')).data.tokens;
    await expect.poll(symbols).toContainEqual({ symbol: 'HEX', decimals: 8 });
    expect((await ask(gateway, '{ tokens { symbol decimals } }')).errors).toBeUndefined();
  });

  test('of the built-in sandbox gets pushed blocks', async () => {
    const { isLogged, logger } = expectLine('a node pushes new blocks');
    await gatewayForTest({ ...BUILT_IN, sandboxBlockMs: 100, historyDatabase: 'off', logger });
    await isLogged;
  });

  test('has health, readiness and metrics on the admin port, if there is one', async () => {
    const gateway = await gatewayForTest({ adminPort: 0 });
    const { url, adminUrl } = await gateway.listen({ port: 0 });
    for (const path of ['/health', '/metrics']) {
      expect((await fetch(`${adminUrl}${path}`)).status).toBe(200);
      expect((await fetch(new URL(path, url))).status).toBe(404);
    }
    const origin = await serve(createServer((sent, answer) => gateway.handler(sent, answer, () => answer.end('next'))));
    expect(await (await fetch(`${origin}/metrics`)).text()).toBe('next');
    await gateway.close();
    await expect(fetch(`${adminUrl}/health`)).rejects.toThrow('fetch failed');

    const without = await gatewayForTest();
    expect(await without.listen({ port: 0 })).toMatchObject({ adminUrl: undefined });
  });

  test('refuses to listen on an invalid port, and can listen on another one then', async () => {
    const gateway = await gatewayForTest({ port: 0 });
    for (const port of ['', 'x', Number.NaN, 65_536])
      await expect(gateway.listen({ port: port as number })).rejects.toMatchObject({
        name: 'ConfigError',
        message: expect.stringMatching(/^port.*expected a/),
      });
    const { url } = await gateway.listen({});
    expect((await fetch(new URL('/health', url))).status).toBe(200);
  });

  test('closes once, and answers nothing afterwards', async () => {
    const gateway = await gatewayForTest();
    const origin = await serve(createServer(gateway.handler).on('upgrade', gateway.handleUpgrade));
    expect((await fetch(`${origin}/health`)).status).toBe(200);
    expect(gateway.close()).toBe(gateway.close());
    await gateway.close();
    expect((await fetch(`${origin}/health`)).status).toBe(503);
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await expect(once(socket, 'open')).rejects.toThrow('503');
    expect((await gateway.fetch(new Request('http://gateway/graphql'))).status).toBe(503);
    await expect(gateway.listen()).rejects.toThrow('The gateway is closed.');
  });

  test.each([{}, { adminPort: 0 }])('closes also while it begins to listen: %o', async (options) => {
    const gateway = await gatewayForTest(options);
    const listening = gateway.listen({ port: 0 });
    await gateway.close();
    const { url, adminUrl = url } = await listening;
    for (const closed of [url, adminUrl]) await expect(fetch(closed)).rejects.toThrow('fetch failed');
  });

  test('listens once, also if it is told to listen again at the same time', async () => {
    const gateway = await gatewayForTest();
    const listening = gateway.listen({ port: 0 });
    await expect(gateway.listen({ port: 0 })).rejects.toMatchObject({ code: 'ERR_SERVER_ALREADY_LISTEN' });
    await gateway.close();
    const { url } = await listening;
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  test('closes after the requests in progress of another server and of fetch', async () => {
    const { marketData } = hosts;
    marketData.resetCalls();
    const gateway = await gatewayForTest({ stopTimeoutMs: NEVER_MS });
    const origin = await serve(createServer(gateway.handler));
    onTestFinished(marketData.faults.set({ kind: 'delay', ms: 500, on: 'orderbook' }));
    const [first, second] = ['pBTC_PRV', 'pETH_PRV'].map((id) => `{ orderBook(tickerId: "${id}") { tickerId } }`);
    const handled = fetch(`${origin}/graphql?query=${encodeURIComponent(first ?? '')}`);
    const fetched = gateway.fetch(requestFor(second ?? ''));
    await expect.poll(() => marketData.calls('orderbook')).toBe(2);

    const closed = gateway.close();
    expect(await (await handled).json()).toEqual({ data: { orderBook: { tickerId: 'pBTC_PRV' } } });
    expect(await (await fetched).json()).toEqual({ data: { orderBook: { tickerId: 'pETH_PRV' } } });
    await closed;
    expect((await fetch(`${origin}/graphql?query={beaconHeight}`)).status).toBe(503);
  });

  test('does not wait for requests that never end longer than stopTimeoutMs', async () => {
    const { marketData } = hosts;
    marketData.resetCalls();
    const gateway = await gatewayForTest({ stopTimeoutMs: 100, upstreamTimeoutMs: NEVER_MS });
    onTestFinished(marketData.faults.set({ kind: 'hang', on: 'orderbook' }));
    const fetched = gateway.fetch(requestFor('{ orderBook(tickerId: "pBTC_PRV") { tickerId } }'));
    await expect.poll(() => marketData.calls('orderbook')).toBe(1);
    await gateway.close();
    expect(await (await fetched).json()).toMatchObject({ data: { orderBook: null } });
  });

  test('ignores the path of fetch, also if it ends as that of a health check', async () => {
    const gateway = await gatewayForTest();
    for (const path of ['/', '/other', '/health', '/graphql/health', '/graphql?other=/graphql/health']) {
      const response = await gateway.fetch(new Request(`http://gateway${path}`));
      expect([path, response.status, await response.json()]).toMatchObject([
        path,
        400,
        { errors: [{ message: 'Must provide query string.' }] },
      ]);
    }
  });

  test('refuses in fetch a request whose body was already read, and takes one whose clone was', async () => {
    const lines: string[] = [];
    const write = (_: object, message: string) => void lines.push(message);
    const gateway = await gatewayForTest({ logger: { debug() {}, info() {}, warn() {}, error: write } });
    const headers = { 'content-type': 'application/json' };
    const post = new Request('http://gateway', { method: 'POST', headers, body: '{"query":"{ __typename }"}' });
    await post.clone().json();
    expect(await (await gateway.fetch(post)).json()).toEqual({ data: { __typename: 'Query' } });
    const locked = new Request('http://gateway', { method: 'POST', headers, body: '{}' });
    locked.body?.getReader();
    for (const request of [post, locked]) {
      const fetched = gateway.fetch(request);
      await expect(fetched).rejects.toThrow(TypeError);
      await expect(fetched).rejects.toThrow('request.clone()');
    }
    expect(lines).toEqual([]);
  });

  test('responds in fetch to a request whose body breaks off', async () => {
    const lines: string[] = [];
    const write = (_: object, message: string) => void lines.push(message);
    const gateway = await gatewayForTest({ logger: { debug() {}, info() {}, warn() {}, error: write } });
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('It broke off.')) });
    const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    const response = await gateway.fetch(new Request('http://gateway', init));
    expect([response.status, await response.json()]).toEqual([
      400,
      { errors: [expect.objectContaining({ message: 'The body cannot be read to its end.' })] },
    ]);
    expect(lines).toEqual([]);
  });

  test('returns in fetch responses that frameworks accept', async () => {
    const gateway = await gatewayForTest();
    const response = await gateway.fetch(requestFor('{ __typename }'));
    expect(response).toBeInstanceOf(Response);
    const copy = response.clone();
    const data = { data: { __typename: 'Query' } };
    expect([await copy.json(), await response.json(), response.bodyUsed]).toEqual([data, data, true]);
    await expect(response.text()).rejects.toThrow(TypeError);
  });

  test('aborts the event streams of fetch when it closes', async () => {
    const gateway = await gatewayForTest();
    const query = 'subscription { head { beaconHeight } }';
    const { body } = await gateway.fetch(requestFor(query, { accept: 'text/event-stream' }));
    const reader = body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(':\n\n');
    const readAll = async () => {
      while (!(await reader?.read())?.done);
    };
    const reading = expect(readAll()).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
    await Promise.all([gateway.close(), reading]);
  });

  test('leaves nothing open if a step of its start fails after the sandbox has started', async () => {
    const servers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPServerWrap').length;
    const before = servers();
    const none = () => {};
    const warn = () => {
      throw new Error('the logger is broken');
    };
    const creating = createGateway({ historyDatabase: 'off', logger: { debug: none, info: none, warn, error: none } });
    await expect(creating).rejects.toThrow('the logger is broken');
    await expect.poll(servers).toBeLessThanOrEqual(before);
  });

  test('passes its log to a logger, from the level on, without secrets', async () => {
    const lines: [string, object, string][] = [];
    const add = (level: string) => (fields: object, message: string) => void lines.push([level, fields, message]);
    const logger = { debug: add('debug'), info: add('info'), warn: add('warn'), error: add('error') };
    const options = { fullnodeUrl: 'http://127.0.0.1:1/secret-key-1234', logLevel: 'warn', logger } as const;
    await gatewayForTest(options);
    await expect.poll(() => lines.length).toBeGreaterThan(0);
    expect(lines.every(([level]) => level === 'warn' || level === 'error')).toBe(true);
    expect(JSON.stringify(lines)).toContain('127.0.0.1:1');
    expect(JSON.stringify(lines)).not.toContain('secret-key-1234');
  });
});

describe('the handler', () => {
  test('passes on the paths that it does not answer', async () => {
    const gateway = await gatewayForTest();
    const next = (response: { end(text: string): void }) => () => response.end('next');
    const origin = await serve(createServer((sent, response) => gateway.handler(sent, response, next(response))));
    expect(await (await fetch(`${origin}/other`)).text()).toBe('next');
    expect(await (await fetch(origin, { method: 'POST' })).text()).toBe('next');
    // The other server can have an API of its own.
    expect(await (await fetch(`${origin}/api/v1/public/other/pairs`)).text()).toBe('next');
    const pairs = await fetch(`${origin}/api/v1/public/market-data/pairs`);
    expect([pairs.status, (await pairs.json()).message]).toEqual([200, 'OK']);
    expect(await (await fetch(`${origin}/schema.graphql`)).text()).toContain('type Query');
  });

  test('passes on a request as it came, also one to a proxy', async () => {
    const gateway = await gatewayForTest();
    const server = createServer((sent, response) =>
      gateway.handler(sent, response, () => response.end(`${sent.headers.host} ${sent.url}`)),
    );
    const { hostname, port } = new URL(await serve(server));
    const target = { path: 'http://other.example//%61?x', headers: { host: 'x.example' } };
    const [response] = await once(requestRaw({ hostname, port, ...target }).end(), 'response');
    expect(await text(response)).toBe('x.example http://other.example//%61?x');
  });

  test('does not wait for a request that it has passed on, when the gateway closes', async () => {
    const gateway = await gatewayForTest({ stopTimeoutMs: NEVER_MS });
    const server = createServer((sent, response) => gateway.handler(sent, response, () => server.emit('passed')));
    const passed = once(server, 'passed');
    const unanswered = fetch(`${await serve(server)}/other`).catch(() => {});
    await passed;
    await gateway.close();
    server.closeAllConnections();
    await unanswered;
  });

  test('reads the body that other code has read before, also an empty one', async () => {
    const gateway = await gatewayForTest();
    const server = createServer(async (sent, response) => {
      const chunks = await sent.toArray();
      const body = chunks.length > 0 && JSON.parse(Buffer.concat(chunks).toString());
      gateway.handler(Object.assign(sent, body && { body }), response);
    });
    const origin = await serve(server);
    const headers = { 'content-type': 'application/json' };
    const post = (body: string) => fetch(`${origin}/graphql`, { method: 'POST', headers, body });
    expect(await (await post('{"query":"{ __typename }"}')).json()).toEqual({ data: { __typename: 'Query' } });
    expect((await post('')).status).toBe(400);
    // Without the key "0", `JSON.stringify` takes any depth.
    const deep = `{"query":"{ __typename }","variables":{"0":1,"a":${'['.repeat(16_000)}${']'.repeat(16_000)}}}`;
    const refused = await post(deep);
    expect([refused.status, (await refused.json()).errors]).toEqual([
      400,
      [expect.objectContaining({ extensions: { code: 'BAD_USER_INPUT' } })],
    ]);
  });

  test('takes a body behind express.json() as it was parsed: of any encoding, and of a limited size', async () => {
    const gateway = await gatewayForTest();
    const origin = await serve(
      createServer(
        express()
          .use(express.json({ limit: '9mb' }))
          .use(gateway.handler),
      ),
    );
    const post = async (body: Buffer, headers: Record<string, string>) => {
      const all = { 'content-type': 'application/json', ...headers };
      return fetch(`${origin}/graphql`, { method: 'POST', headers: all, body: Uint8Array.from(body) });
    };
    const body = Buffer.from('{"query":"{ __typename }"}');
    for (const accept of ['application/json', 'text/event-stream']) {
      const sent: readonly [Buffer, Record<string, string>][] = [
        [gzipSync(body), { 'content-encoding': 'gzip' }],
        [brotliCompressSync(body), { 'content-encoding': 'br' }],
        [Buffer.from(body.toString(), 'utf16le'), { 'content-type': 'application/json; charset=utf-16' }],
      ];
      for (const [bytes, headers] of sent) {
        const response = await post(bytes, { ...headers, accept });
        expect([headers, response.status]).toEqual([headers, 200]);
        expect(await response.text()).toContain('{"data":{"__typename":"Query"}}');
      }
    }
    const long = Buffer.from(JSON.stringify({ query: '{ __typename }', variables: { text: 'x'.repeat(300_000) } }));
    const refused = await post(gzipSync(long), { 'content-encoding': 'gzip' });
    expect([refused.status, (await refused.json()).errors[0].extensions.code]).toEqual([413, 'QUERY_TOO_COMPLEX']);
  });

  test('works where the path has a prefix, and where the server of the user answers others', async () => {
    const gateway = await gatewayForTest();
    const server = createServer((sent, response) => {
      const originalUrl = sent.url ?? '';
      Object.assign(sent, { originalUrl, url: originalUrl.replace('/market', '') });
      gateway.handler(sent, response);
    });
    const url = `${await serve(server)}/market/graphql?query={__typename}`;
    for (const accept of ['application/json', 'text/event-stream']) {
      expect(await (await fetch(url, { headers: { accept } })).text()).toContain('{"__typename":"Query"}');
    }
  });

  test('counts the open requests of an address, not the connections of the server', async () => {
    const gateway = await gatewayForTest({ maxConnectionsPerAddress: 1 });
    const url = `${await serve(createServer(gateway.handler))}/graphql`;
    const query = encodeURIComponent('subscription { head { beaconHeight } }');
    const stream = await request(`${url}?query=${query}`, { headers: { accept: 'text/event-stream' } });
    await once(stream.body, 'readable');
    expect((await request(`${url}?query={beaconHeight}`)).statusCode).toBe(429);

    const ended = new Promise((resolve) => stream.body.on('error', resolve).resume());
    await gateway.close();
    expect(await ended).toMatchObject({ code: 'UND_ERR_SOCKET' });
  });
});
