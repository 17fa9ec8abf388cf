import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { request } from 'undici';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createAccessLog } from '../../src/server/access-log.ts';
import { createClientAddresses } from '../../src/server/clients/client-address.ts';
import type { Config } from '../../src/settings/settings.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { createKeptLog, type LogLine } from '../support/log.ts';
import { nextMessage, openSocket } from '../support/transports.ts';

const SECRET = 'a-secret-variable';
const QUERY =
  '# query Other\nquery Pool($secret: TokenId!) { poolPairs(first: 1) { nodes { id } } token(id: $secret) { id } }';
const NAMED = 'query Height { beaconHeight }';
const TOO_MUCH = `query Much { ${Array.from({ length: 60 }, (_, n) => `a${n}: poolPairs(first: 500) { nodes { pairs { poolPair { pairs { id } } } } }`).join(' ')} }`;

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

async function open(config: Partial<Config> = {}) {
  const gateway = await startGatewayForTest({ config: { accessLog: 'all', ...config } });
  const url = await gateway.app.listen(0, '127.0.0.1');
  await gateway.untilReady();
  const before = gateway.lines.length;
  /** The lines of the access log, without fields that differ each time. */
  const access = (): Record<string, unknown>[] =>
    gateway.lines
      .slice(before)
      .filter(({ requestId, msg }) => requestId !== undefined && msg !== 'internal error')
      .map(({ level: _level, ms, bytes, ...line }) => ({
        ...line,
        ...(bytes !== undefined && { bytes: typeof bytes }),
        ...(ms !== undefined && { ms: typeof ms }),
      }));
  return { ...gateway, url, access };
}

const ID = { 'x-request-id': 'test/7' };

function post(url: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const json = { 'content-type': 'application/json', accept: 'application/json' };
  return fetch(url, { method: 'POST', headers: { ...json, ...ID, ...headers }, body: JSON.stringify(body) });
}

/** The fields of every line of a GraphQL request. */
const LINE = {
  requestId: 'test/7',
  client: '127.0.0.1',
  method: 'POST',
  path: '/graphql',
  bytes: 'number',
  ms: 'number',
  msg: 'request',
};

const REFUSED_PAGE = expect.stringMatching(
  /^Pages from "https:\/\/evil\.example" are not allowed .* add the origin to CORS_ORIGINS\./,
);

describe('with ACCESS_LOG=all', () => {
  test('an executed response and a cache hit have a line each', async () => {
    const { url, access, sandbox } = await open();
    for (let n = 0; n < 4; n++) await (await post(url, { query: NAMED })).text();
    const { height } = sandbox.chain.tip;
    const label = { operation: 'Height', hash: hashOf(NAMED), height, cost: 1, status: 200 };
    expect(access().slice(0, 3)).toEqual(
      Array(3)
        .fill({ ...LINE, ...label, from: 'executed' })
        .with(2, expect.anything()),
    );
    expect(access().at(-1)).toEqual({ ...LINE, ...label, from: 'cached' });
  });

  test('coalesced requests have one too', async () => {
    const { url, access, sandbox } = await open();
    sandbox.node.faults.set({ kind: 'delay', ms: 2_000 });
    const query = `{ poolPairs(first: 1, at: ${sandbox.chain.tip.height - 5}) { totalCount } }`;
    await Promise.all([post(url, { query }), post(url, { query })].map(async (response) => (await response).text()));
    expect(
      access()
        .map(({ from }) => from)
        .toSorted(),
    ).toEqual(['coalesced', 'executed']);
    expect(access().map(({ hash }) => hash)).toEqual([hashOf(query), hashOf(query)]);
  });

  test('the line has the name of the operation, but no text, variables or parameters', async () => {
    const { url, access, lines } = await open();
    await (await post(url, { query: QUERY, variables: { secret: SECRET } })).text();
    await (
      await post(url, { query: `${NAMED} query B { __typename }`, operationName: 'B', variables: { x: SECRET } })
    ).text();
    const search = new URLSearchParams({ query: NAMED, variables: JSON.stringify({ secret: SECRET }) });
    await (await fetch(`${url}?${search}`, { headers: ID })).text();
    expect(access().map(({ operation, hash, path }) => [operation, hash, path])).toEqual([
      ['Pool', hashOf(QUERY), '/graphql'],
      ['B', hashOf(`${NAMED} query B { __typename }`), '/graphql'],
      ['Height', hashOf(NAMED), '/graphql'],
    ]);
    expect(JSON.stringify(lines)).not.toContain(SECRET);
    expect(JSON.stringify(lines)).not.toContain('poolPairs');
  });

  test('a persisted query has the hash of its text', async () => {
    const { url, access } = await open();
    const extensions = { persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(NAMED).digest('hex') } };
    for (const body of [{ extensions }, { query: NAMED, extensions }, { extensions }])
      await (await post(url, body)).text();
    const named = { operation: 'Height', hash: hashOf(NAMED) };
    expect(access()).toMatchObject([{ codes: ['PERSISTED_QUERY_NOT_FOUND'], status: 200 }, named, named]);
  });

  test('pages, health and unknown paths have a line', async () => {
    const { url, access } = await open({ graphiql: true });
    const paths = ['/graphql', '/health', '/ready', '/metrics', '/secret?key=1'];
    for (const path of paths) {
      await (await request(new URL(path, url), { headers: { ...ID, accept: 'text/html' } })).body.text();
    }
    await expect
      .poll(() => access().map(({ path, status }) => [path, status]))
      .toEqual([
        // The page is 503 if the explorer is not built.
        ['/graphql', expect.toBeOneOf([200, 503])],
        ['/health', 200],
        ['/ready', 200],
        ['/metrics', 200],
        ['/secret', 404],
      ]);
  });

  test('an event stream has its line at its end', async () => {
    const { url, access } = await open();
    const query = 'subscription Heads { head { beaconHeight } }';
    const response = await post(url, { query }, { accept: 'text/event-stream' });
    const reader = response.body?.getReader();
    await reader?.read();
    expect(access()).toEqual([]);
    await reader?.cancel();
    const label = { operation: 'Heads', hash: hashOf(query), cost: 2, status: 200 };
    await expect.poll(access).toEqual([{ ...LINE, ...label, aborted: true, msg: 'event stream ended' }]);
  });

  test('a client that disconnects before its response has a line with that fact', async () => {
    const { url, access, sandbox } = await open();
    sandbox.node.resetCalls();
    sandbox.node.faults.set({ kind: 'delay', ms: 1_000 });
    const query = `{ poolPairs(first: 1, at: ${sandbox.chain.tip.height - 9}) { totalCount } }`;
    const leaving = new AbortController();
    const headers = { ...ID, 'content-type': 'application/json' };
    const sent = fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }), signal: leaving.signal });
    await expect.poll(() => sandbox.node.calls('getpdestate')).toBe(1);
    leaving.abort();
    await expect(sent).rejects.toThrow();
    sandbox.node.faults.clear();
    const line = { ...LINE, hash: hashOf(query), from: 'executed', cost: 103, aborted: true };
    await expect.poll(access).toEqual([line]);
  });

  test('the client is that of the trusted proxy', async () => {
    const { url, access } = await open({ trustedProxies: ['loopback'], maxBodyBytes: 1_000 });
    await (await post(url, { query: NAMED }, { 'x-forwarded-for': '203.0.113.9' })).text();
    // Also of a request whose body is too large.
    await (await post(url, { query: NAMED.padEnd(2_000) }, { 'x-forwarded-for': '203.0.113.8' })).text();
    const socket = await openSocketAs(url, '203.0.113.10');
    socket.close();
    await expect
      .poll(() => access().map(({ client, msg }) => [client, msg]))
      .toEqual([
        ['203.0.113.9', 'request'],
        ['203.0.113.8', 'request'],
        ['203.0.113.10', 'websocket opened'],
        ['203.0.113.10', 'websocket closed'],
      ]);
  });

  test.each(['application/json', 'text/event-stream'])(
    'a line has the height, the cost and the bytes of its response: %s',
    async (accept) => {
      const { url, lines, sandbox } = await open();
      const query = `query Page { poolPairs(first: 20) { nodes { id } } }`;
      const sizes = [];
      for (const rest of ['', ' # longer '.repeat(300)]) {
        const response = await post(url, { query: query + rest }, { accept });
        const body = await response.text();
        sizes.push(body.length);
      }
      const logged = () => lines.filter(({ requestId }) => requestId === ID['x-request-id']);
      await expect.poll(() => logged().length).toBe(2);
      const [short, long] = logged();
      const { height } = sandbox.chain.tip;
      expect([short, long]).toMatchObject([
        { operation: 'Page', height, cost: 43 },
        { operation: 'Page', height, cost: 62 },
      ]);
      // With the headers of the response.
      for (const { bytes } of logged()) {
        expect(bytes).toBeGreaterThan(sizes[0] ?? 0);
        expect(bytes).toBeLessThan((sizes[0] ?? 0) + 1_000);
      }
    },
  );

  test('the operations of an array have one line, with the sum of their costs', async () => {
    const { url, access, sandbox } = await open({ maxOperationsPerRequest: 2 });
    await (await post(url, [{ query: NAMED }, { query: '{ poolPairs(first: 20) { nodes { id } } }' }])).text();
    await expect.poll(() => access().length).toBe(1);
    expect(access()[0]).toMatchObject({ operation: 'Height', height: sandbox.chain.tip.height, cost: 44 });
  });

  test('a websocket has lines for itself and for its operations', async () => {
    const { url, access, sandbox } = await open();
    const socket = await openSocket(url);
    const subscription = 'subscription Heads { head { beaconHeight } }';
    socket.send(JSON.stringify({ type: 'subscribe', id: 'a', payload: { query: subscription } }));
    await nextMessage(socket);
    socket.send(JSON.stringify({ type: 'subscribe', id: 'b', payload: { query: NAMED } }));
    await once(socket, 'message');
    socket.send(JSON.stringify({ type: 'subscribe', id: 'c', payload: { query: '{ nothing }' } }));
    await expect.poll(() => access().length).toBe(4);
    socket.send('{"type":"complete","id":"a"}');
    await expect.poll(() => access().length).toBe(5);
    socket.close(4999, SECRET);
    await expect.poll(() => access().length).toBe(6);

    const [opened, started, query, refused, ended, closed] = access();
    const { requestId } = opened ?? {};
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    const heads = { requestId: `${requestId}/a`, client: '127.0.0.1', operation: 'Heads', hash: hashOf(subscription) };
    expect(opened).toEqual({ requestId, client: '127.0.0.1', msg: 'websocket opened' });
    expect(started).toEqual({ ...heads, cost: 2, msg: 'websocket subscription started' });
    expect(query).toMatchObject({
      requestId: `${requestId}/b`,
      operation: 'Height',
      height: sandbox.chain.tip.height,
      cost: 1,
      bytes: 'number',
      ms: 'number',
      msg: 'websocket operation',
    });
    expect(refused).toMatchObject({
      requestId: `${requestId}/c`,
      hash: hashOf('{ nothing }'),
      codes: ['GRAPHQL_VALIDATION_FAILED'],
      msg: 'websocket operation refused',
    });
    expect(ended).toEqual({ ...heads, ms: 'number', msg: 'websocket subscription ended' });
    const facts = { code: 4999, bytes: 'number', ms: 'number' };
    expect(closed).toEqual({ requestId, client: '127.0.0.1', ...facts, msg: 'websocket closed' });
  });

  test('the id of an operation and the path, which clients choose, are cut', async () => {
    const { url, access } = await open();
    const socket = await openSocket(url);
    const id = 'x'.repeat(200);
    socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query: '{' } }));
    await nextMessage(socket);
    await (await fetch(new URL(`/${'a'.repeat(8_000)}`, url))).text();
    await expect
      .poll(access)
      .toEqual([
        expect.objectContaining({ msg: 'websocket opened' }),
        expect.objectContaining({ requestId: expect.stringMatching(/\/x{64}$/), msg: 'websocket operation refused' }),
        expect.objectContaining({ path: `/${'a'.repeat(199)}`, status: 404 }),
      ]);
    socket.close();
  });

  test('a subscription that fails has a line that says so, and one at its end', async () => {
    const { url, access, app, sandbox } = await open();
    const socket = await openSocket(url);
    const query = 'subscription Ranking { divergentPairs { tickerId } }';
    socket.send(JSON.stringify({ type: 'subscribe', id: 'a', payload: { query } }));
    await nextMessage(socket);
    vi.spyOn(app.service.sources.divergences, 'rank').mockImplementation(() => {
      throw new Error('The pairs cannot be compared.');
    });
    sandbox.advance();
    expect(JSON.parse(await nextMessage(socket)).type).toBe('error');
    const label = { requestId: expect.stringMatching(/\/a$/), operation: 'Ranking', hash: hashOf(query) };
    expect(access().slice(2)).toMatchObject([
      { ...label, codes: ['INTERNAL_SERVER_ERROR'], msg: 'websocket subscription failed' },
      { ...label, msg: 'websocket subscription ended' },
    ]);
    socket.close();
  });

  test('a subscription ends with its websocket in every case', async () => {
    const { url, access } = await open();
    const socket = await openSocket(url);
    const query = 'subscription Heads { head { beaconHeight } }';
    socket.send(JSON.stringify({ type: 'subscribe', id: 'a', payload: { query } }));
    await nextMessage(socket);
    socket.terminate();
    await expect
      .poll(() => access().map(({ msg, code }) => [msg, code]))
      .toEqual(
        expect.arrayContaining([
          ['websocket subscription ended', undefined],
          ['websocket closed', 1006],
        ]),
      );
  });
});

describe('with ACCESS_LOG=errors', () => {
  const errors = { accessLog: 'errors' } as const;

  test('a successful operation has no line', async () => {
    const { url, access } = await open(errors);
    for (let n = 0; n < 3; n++) await (await post(url, { query: NAMED })).text();
    await (await post(url, { query: '{ poolPair(token1Id: "x", token2Id: "y") { id } beaconHeight }' })).text();
    await (await fetch(new URL('/nowhere', url))).text();
    const socket = await openSocket(url);
    socket.send(JSON.stringify({ type: 'subscribe', id: 'b', payload: { query: NAMED } }));
    await nextMessage(socket);
    socket.close();
    await once(socket, 'close');
    expect(access()).toEqual([]);
  });

  test.each([
    ['GRAPHQL_PARSE_FAILED', { query: '{' }, { hash: hashOf('{') }],
    ['GRAPHQL_VALIDATION_FAILED', { query: '{ nothing }' }, { hash: hashOf('{ nothing }') }],
    ['QUERY_TOO_COMPLEX', { query: TOO_MUCH }, { hash: hashOf(TOO_MUCH), cost: expect.any(Number) }],
    ['BAD_USER_INPUT', { query: 5 }, {}],
    ['BAD_USER_INPUT', { query: NAMED, operationName: 'Other' }, { hash: hashOf(NAMED) }],
  ])('a refused operation has one: %s', async (code, body, facts) => {
    const { url, access } = await open(errors);
    await (await post(url, body)).text();
    await expect
      .poll(access)
      .toEqual([expect.objectContaining({ requestId: 'test/7', client: '127.0.0.1', codes: [code] })]);
    expect(access()[0]).toMatchObject(facts);
    const socket = await openSocket(url);
    if (typeof body.query !== 'string') return;
    socket.send(JSON.stringify({ type: 'subscribe', id: 'b', payload: body }));
    await expect.poll(() => access().length).toBe(2);
    expect(access()[1]).toMatchObject({ requestId: expect.stringMatching(/\/b$/), ...facts });
    socket.close();
  });

  test('a refusal before the operation is parsed has one: rate, origin, method', async () => {
    const { url, access } = await open({ ...errors, rateLimitPerSecond: 1, rateLimitBurst: 1 });
    await (await post(url, { query: NAMED })).text();
    await (await post(url, { query: NAMED })).text();
    await (await post(url, { query: NAMED }, { origin: 'https://evil.example' })).text();
    await (await fetch(url, { method: 'PUT', headers: ID })).text();
    await expect
      .poll(() => access().map(({ status, codes }) => [status, codes]))
      .toEqual([
        [429, ['RATE_LIMITED']],
        [403, ['ORIGIN_NOT_ALLOWED']],
        [429, ['RATE_LIMITED']],
      ]);
    // The operator sees which origin it was, and what to do.
    expect(access().map(({ error }) => error)).toEqual([undefined, REFUSED_PAGE, undefined]);
  });

  test('a refused websocket has one', async () => {
    const { url, access } = await open(errors);
    const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', { origin: 'https://evil.example' });
    await expect(once(socket, 'open')).rejects.toThrow('403');
    expect(access()).toMatchObject([
      { status: 403, codes: ['ORIGIN_NOT_ALLOWED'], error: REFUSED_PAGE, msg: 'websocket refused' },
    ]);
  });

  test('an internal error has one, with the request id of its stack trace', async () => {
    const { url, access, app, lines } = await open({ ...errors, maxOperationsPerRequest: 2 });
    Object.defineProperty(app.service.sources.head, 'isStale', {
      value: () => {
        throw new Error('broken');
      },
    });
    const payload = { query: '{ service { head { stale } } }' };
    await (await post(url, payload)).text();
    await (
      await post(url, [{ query: 'query Pair { poolPair(token1Id: "x", token2Id: "y") { id } }' }, payload])
    ).text();
    const socket = await openSocket(url);
    socket.send(JSON.stringify({ type: 'subscribe', id: 'b', payload }));
    await nextMessage(socket);
    const codes = ['INTERNAL_SERVER_ERROR'];
    await expect.poll(access).toMatchObject([
      { requestId: 'test/7', codes },
      { requestId: 'test/7', operation: 'Pair', codes: ['BAD_USER_INPUT', ...codes] },
      { requestId: expect.stringMatching(/\/b$/), codes, msg: 'websocket operation failed' },
    ]);
    socket.close();
    const internal = lines.filter(({ msg }) => msg === 'internal error');
    expect(internal.map(({ requestId }) => requestId)).toEqual(['test/7', 'test/7', expect.stringMatching(/\/b$/)]);
  });

  test('a flood of refusals does not fill the log, and the next line has the number of skipped lines', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { log, lines } = createKeptLog();
    const { onEvent: happened } = createAccessLog({ mode: 'errors', log, clients: createClientAddresses([]) });
    const errors = { codes: ['RATE_LIMITED'], isNotable: true };
    const refuse = () =>
      happened?.({ message: 'refused', requestId: '1', identity: { headers: {}, socket: new Socket() }, errors });
    for (let n = 0; n < 150; n++) refuse();
    expect(lines.length).toBe(100);
    vi.advanceTimersByTime(10_001);
    refuse();
    expect(lines.slice(100)).toMatchObject([{ skipped: 50 }, { msg: 'refused' }]);
  });
});

describe('with ACCESS_LOG=off, or a level of the log above info', () => {
  test.each([{ accessLog: 'off' }, { accessLog: 'all', logLevel: 'warn' }] as const)('%j: no line', async (config) => {
    const { url, lines } = await open(config);
    await (await post(url, { query: '{ nothing }' })).text();
    await (await post(url, { query: NAMED })).text();
    const socket = await openSocket(url);
    socket.send(JSON.stringify({ type: 'subscribe', id: 'b', payload: { query: '{' } }));
    await nextMessage(socket);
    socket.close();
    await once(socket, 'close');
    expect(lines).toEqual([]);
  });
});

describe('the levels below info', () => {
  const messages = (lines: readonly LogLine[]) => new Set(lines.map(({ msg }) => msg));

  test('debug shows calls to upstreams, heads and websockets', async () => {
    const { url, lines, sandbox, advance } = await open({ accessLog: 'off', logLevel: 'debug' });
    const socket = await openSocket(url);
    await advance();
    socket.close(4999);
    await expect.poll(() => messages(lines)).toContain('websocket closed');
    const host = new URL(sandbox.nodeUrl).host;
    const { height } = sandbox.chain.tip;
    expect(lines).toContainEqual({
      level: 20,
      upstream: 'NODE',
      host,
      method: 'getpdestate',
      outcome: 'OK',
      ms: expect.any(Number),
      msg: 'upstream call',
    });
    expect(lines).toContainEqual(
      expect.objectContaining({ upstream: 'MARKET_DATA', method: 'tickers', outcome: 'OK' }),
    );
    expect(lines).toContainEqual({
      level: 20,
      beaconHeight: height,
      previousHeight: height - 1,
      hash: sandbox.chain.tip.hash,
      node: host,
      msg: 'new head',
    });
    const socketLines = lines.filter(({ msg }) => msg.startsWith('websocket'));
    expect(socketLines).toMatchObject([
      { level: 20, client: '127.0.0.1', msg: 'websocket opened' },
      { level: 20, client: '127.0.0.1', code: 4999, msg: 'websocket closed' },
    ]);
    expect(socketLines[0]?.['requestId']).toBe(socketLines[1]?.['requestId']);
    expect([...messages(lines)].some((message) => message.includes('received'))).toBe(false);

    await sandbox.node.stop();
    await expect
      .poll(() => lines)
      .toContainEqual(expect.objectContaining({ host, outcome: 'UPSTREAM_UNREACHABLE', msg: 'upstream call' }));
    await expect.poll(() => messages(lines)).toContain('circuit open: the gateway pauses requests to the host');
    await sandbox.node.start();
    await expect.poll(() => messages(lines)).toContain('circuit closed');
  });

  test('trace also shows incoming requests, and responses of upstreams', async () => {
    const { url, lines } = await open({ accessLog: 'off', logLevel: 'trace' });
    await (
      await fetch(`${url}?query={beaconHeight}&variables=${encodeURIComponent(`{"x":"${SECRET}"}`)}`, { headers: ID })
    ).text();
    expect(lines).toContainEqual({
      level: 10,
      requestId: 'test/7',
      client: '127.0.0.1',
      method: 'GET',
      path: '/graphql',
      msg: 'request received',
    });
    expect(lines).toContainEqual(expect.objectContaining({ upstream: 'NODE', bytes: expect.any(Number) }));
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });
});

/** Opens a websocket of a client address, like a proxy. */
async function openSocketAs(url: string, address: string): Promise<WebSocket> {
  const headers = { 'x-forwarded-for': address };
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', { headers });
  await once(socket, 'open');
  return socket;
}
