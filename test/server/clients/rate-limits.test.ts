import { on, once } from 'node:events';
import { Writable } from 'node:stream';
import pino from 'pino';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Log } from '../../../src/logging/log.ts';
import { createClientAddresses } from '../../../src/server/clients/client-address.ts';
import { Account, createRateLimits } from '../../../src/server/clients/rate-limits.ts';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import type { Config } from '../../../src/settings/settings.ts';
import { readEvents } from '../../support/events.ts';
import { START, startGatewayForTest, startGatewayForTests } from '../../support/gateway.ts';
import { createKeptLog } from '../../support/log.ts';
import type { Operation } from '../../support/transports.ts';

/** Ten points per second, a burst of two hundred. */
const LIMITED: Partial<Config> = { rateLimitPerSecond: 10, rateLimitBurst: 200 };

const CHEAP = { query: '{ __typename }' };
/** Costs 101: a filter over 100 pools or more, and a value. */
const DEAR = { query: '{ poolPairs(first: 0, filter: {}) { totalCount } }' };

/** The number of pools that filtering counts as at most. */
const POOLS = { pools: 100 };
/** Costs 301, which is more than the burst. */
const DEAREST = { query: `{ ${['a', 'b', 'c'].map((name) => `${name}: ${DEAR.query.slice(2, -2)}`).join(' ')} }` };

/** The error of a client that must wait for this time. */
const limited = (retryAfterMs: number) => ({
  message: `This client address exceeds the rate limit. Retry in ${retryAfterMs} ms.`,
  extensions: { code: 'RATE_LIMITED', retryAfterMs },
});

const gateway = startGatewayForTests({
  config: { ...LIMITED, trustedProxies: ['loopback'], maxOperationsPerRequest: 5 },
  sandbox: POOLS,
});

let clients = 0;

/** A new client with its own address, which the test sends like a proxy. */
function newClient(address = `203.0.113.${++clients}`) {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': address };

  function post(operation: unknown, more: Readonly<Record<string, string>> = {}): Promise<Response> {
    const body = typeof operation === 'string' ? operation : JSON.stringify(operation);
    return fetch(gateway.url, { method: 'POST', headers: { ...headers, ...more }, body });
  }

  function get({ query }: Operation): Promise<Response> {
    return fetch(`${gateway.url}?${new URLSearchParams({ query })}`, { headers });
  }

  async function connect() {
    const socket = new WebSocket(gateway.url.replace('http', 'ws'), 'graphql-transport-ws', { headers });
    await once(socket, 'open');
    const messages = on(socket, 'message');
    const next = async () => JSON.parse(String((await messages.next()).value?.[0]));
    socket.send('{"type":"connection_init"}');
    await next();

    /** The messages about an operation until it is complete. */
    async function ask(payload: Operation, id = '1'): Promise<object[]> {
      socket.send(JSON.stringify({ type: 'subscribe', id, payload }));
      const first = await next();
      return first.type === 'error' ? [first] : [first, await next()];
    }

    return { socket, ask };
  }

  /** The rate limit header after this request. */
  const standing = async () => (await post(CHEAP)).headers.get('ratelimit');

  return { post, get, connect, standing };
}

/** Rate limits without a gateway: a point per second, and a burst of one. */
function createOwnRates(log: Log, clock = { now: START }) {
  return createRateLimits({
    rate: { pointsPerSecond: 1, burst: 1 },
    clients: createClientAddresses([]),
    metrics: createMetrics('0.0.0'),
    log,
    now: () => clock.now,
  });
}

const requestFrom = (remoteAddress: string) => ({ socket: { remoteAddress }, headers: {} }) as never;

const GRAPHQL_RESPONSE = 'application/graphql-response+json';
const EVENTS = 'text/event-stream';

describe('without a rate limit', () => {
  test('nothing is limited, and responses have no rate limit headers', async () => {
    const { app } = await startGatewayForTest();
    const open = await app.listen(0, '127.0.0.1');
    for (let n = 0; n < 20; n++) {
      const response = await fetch(`${open}?${new URLSearchParams(DEAREST)}`);
      expect(response.status).toBe(200);
      expect([...response.headers.keys()].filter((name) => /ratelimit|retry/.test(name))).toEqual([]);
    }
  });
});

describe('an operation takes points from its address', () => {
  test('as many as its complexity, and the response has the remaining points', async () => {
    const { post } = newClient();
    const response = await post(DEAR);
    expect(response.status).toBe(200);
    expect(response.headers.get('ratelimit-policy')).toBe('"default";q=200;w=20');
    expect(response.headers.get('ratelimit')).toBe('"default";r=99;t=11');
  });

  test('the same for each cache hit', async () => {
    const body = { query: `# the same\n${DEAR.query}` };
    for (const client of [newClient(), newClient()]) {
      const [first, second] = [await client.post(body), await client.post(body)];
      expect([first.status, first.headers.get('ratelimit')]).toEqual([200, '"default";r=99;t=11']);
      expect([second.status, second.headers.get('ratelimit'), second.headers.get('retry-after')]).toEqual([
        429,
        expect.stringContaining('"default";r=9'),
        expect.any(String),
      ]);
      expect((await second.json()).errors[0].extensions.code).toBe('RATE_LIMITED');
    }
    // Two concurrent clients both pay, and a client without points does not affect another.
    const [poor, rich] = [newClient(), newClient()];
    await poor.post(DEAR);
    const asked = await Promise.all([poor.post(DEAR), rich.post(DEAR), rich.get(DEAR)]);
    expect(asked.map(({ status }) => status).toSorted()).toEqual([200, 429, 429]);
  });

  test('at least one, and so does a request without an operation', async () => {
    const { post, get } = newClient();
    const bad = ['{', '[]', '{"query":5}', '{"query":"{"}', '{"query":"{ nothing }"}'];
    for (const [n, body] of bad.entries()) {
      expect((await post(body)).headers.get('ratelimit')).toBe(`"default";r=${199 - n};t=1`);
    }
    expect((await post('x=1', { 'content-type': 'application/x-www-form-urlencoded' })).headers.get('ratelimit')).toBe(
      '"default";r=194;t=1',
    );
    expect((await get(CHEAP)).headers.get('ratelimit')).toBe('"default";r=193;t=1');
  });

  test('those of the length of its document, even if it is refused', async () => {
    const text = (length: number, start: string) => start.padEnd(length, '#');
    const refused = newClient();
    await refused.post({ query: text(1_000, '{ nothing }') });
    expect(await refused.standing()).toBe('"default";r=179;t=3');
    const unread = newClient();
    await unread.post({ query: text(1_001, '{') });
    expect(await unread.standing()).toBe('"default";r=178;t=3');
    const executed = newClient();
    await executed.post({ query: text(1_000, '{ __typename }') });
    expect(await executed.standing()).toBe('"default";r=179;t=3');
    const dearer = newClient();
    await dearer.post({ query: text(1_000, DEAR.query) });
    expect(await dearer.standing()).toBe('"default";r=98;t=11');
    const tooComplex = newClient();
    await tooComplex.post({
      query: `{ poolPairs(first: 500) { nodes { ${'pairs { poolPair { '.repeat(3)}id${' } }'.repeat(3)} } } }`,
    });
    expect(await tooComplex.standing()).toBe('"default";r=196;t=1');
  });

  test('for introspection, a twentieth of the objects of the schema', async () => {
    const { post } = newClient();
    const response = await post({ query: '{ __schema { types { fields { name } } } }' });
    expect(response.headers.get('ratelimit')).toBe('"default";r=196;t=1');
  });

  test('for each operation of an array', async () => {
    const { post, standing } = newClient();
    const response = await post([DEAR, CHEAP, DEAR]);
    const answer = { data: { poolPairs: { totalCount: expect.any(Number) } } };
    expect(await response.json()).toEqual([answer, { data: { __typename: 'Query' } }, { errors: [limited(400)] }]);
    expect(await standing()).toBe('"default";r=96;t=11');
  });

  test('more than the burst from a full bucket, which then has a debt', async () => {
    const { post } = newClient();
    const { clock } = gateway;
    const first = await post(DEAREST);
    expect([first.status, first.headers.get('ratelimit')]).toEqual([200, '"default";r=0;t=31']);
    expect((await (await post(CHEAP)).json()).errors).toEqual([limited(10_200)]);
    clock.now += 10_200;
    expect((await post(CHEAP)).status).toBe(200);
    expect((await (await post(CHEAP)).json()).errors).toEqual([limited(100)]);
    clock.now += 19_999;
    expect((await post(DEAREST)).status).toBe(429);
  });
});

describe('an operation above the rate limit is refused before its execution', () => {
  const answers: Record<string, (client: ReturnType<typeof newClient>) => Promise<Response>> = {
    'by POST, as JSON': ({ post }) => post(DEAR),
    'by POST, as a GraphQL response': ({ post }) => post(DEAR, { accept: GRAPHQL_RESPONSE }),
    'by GET': ({ get }) => get(DEAR),
  };

  test.each(Object.entries(answers))('%s', async (_, ask) => {
    const client = newClient();
    expect((await ask(client)).status).toBe(200);
    gateway.sandbox.node.resetCalls();
    const response = await ask(client);
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.headers.get('ratelimit')).toBe('"default";r=98;t=1');
    expect(await response.json()).toEqual({ errors: [limited(300)] });
    gateway.clock.now += 299;
    expect((await client.post(CHEAP)).headers.get('ratelimit')).toBe('"default";r=99;t=11');
    gateway.clock.now += 200;
    expect((await ask(client)).status).toBe(200);
  });

  test('with its cost, if the client requests that', async () => {
    const { post } = newClient();
    await post(DEAR);
    const refused = await post(DEAR, { 'x-pdex-cost': '1' });
    const cost = { points: 101, complexity: expect.any(Number), values: expect.any(Number) };
    expect(await refused.json()).toEqual({ errors: [limited(300)], extensions: { cost } });
  });

  test('by server-sent events', async () => {
    const { post } = newClient();
    async function events(response: Response) {
      const answers: unknown[] = [];
      for await (const answer of readEvents(response)) answers.push(answer);
      return [response.status, answers];
    }
    expect(await events(await post(DEAR, { accept: EVENTS }))).toEqual([
      200,
      [{ data: { poolPairs: { totalCount: expect.any(Number) } } }],
    ]);
    const refused = await post(DEAR, { accept: EVENTS });
    expect([refused.headers.get('retry-after'), refused.headers.get('ratelimit')]).toEqual(['1', '"default";r=98;t=1']);
    expect(await events(refused)).toEqual([429, [{ errors: [limited(300)] }]]);
  });

  test('by a websocket, which stays open', async () => {
    const { socket, ask } = await newClient().connect();
    const whole = (id: string) => [
      { id, type: 'next', payload: { data: { poolPairs: { totalCount: expect.any(Number) } } } },
      { id, type: 'complete' },
    ];
    // A text of its own each time: the response of an equal request would be known, and its document costs nothing then.
    const dear = (id: string) => ({ query: `query N${id}${DEAR.query.replaceAll(' ', '')}` });
    expect(await ask(dear('1'), '1')).toEqual(whole('1'));
    expect(await ask(dear('2'), '2')).toEqual([{ id: '2', type: 'error', payload: [limited(400)] }]);
    gateway.clock.now += 400;
    expect(await ask(dear('3'), '3')).toEqual(whole('3'));
    socket.close();
  });

  test('without parsing, if the client cannot pay for its document', async () => {
    const { post, connect } = newClient();
    const { socket, ask } = await connect();
    gateway.clock.now += 100;
    await post(DEAREST);
    const unread = await post('this is no JSON', { accept: GRAPHQL_RESPONSE });
    expect([unread.status, unread.headers.get('content-type'), unread.headers.get('retry-after')]).toEqual([
      429,
      `${GRAPHQL_RESPONSE}; charset=utf-8`,
      '11',
    ]);
    expect(await unread.json()).toEqual({ errors: [limited(10_200)] });
    expect(await ask({ query: '{'.padEnd(200) })).toEqual([{ id: '1', type: 'error', payload: [limited(10_500)] }]);
    socket.close();
  });

  test('when a websocket opens', async () => {
    const { post, connect } = newClient();
    await post(DEAREST);
    await expect(connect()).rejects.toThrow('Unexpected server response: 429');
  });

  test('when a subscription starts, but not for its updates', async () => {
    const { sandbox, app } = await startGatewayForTest({ config: LIMITED, sandbox: POOLS });
    const open = await app.listen(0, '127.0.0.1');
    const body = JSON.stringify({ query: 'subscription { head { beaconHeight } }' });
    const headers = { 'content-type': 'application/json', accept: EVENTS };
    const response = await fetch(open, { method: 'POST', headers, body });
    const heights = readEvents(response);
    await heights.next();
    const rest = async () => (await fetch(`${open}?query={__typename}`)).headers.get('ratelimit');
    expect(await rest()).toBe('"default";r=197;t=1');
    for (let n = 0; n < 3; n++) {
      sandbox.advance();
      expect((await heights.next()).done).toBe(false);
    }
    expect(await rest()).toBe('"default";r=196;t=1');
    await heights.return(undefined);
  });
});

describe('a limit belongs to an address', () => {
  const askAs = async (address: string) => (await newClient(address).post(DEAR)).status;

  test('for every transport', async () => {
    const { post, get, connect } = newClient();
    const { socket, ask } = await connect();
    await ask(DEAR);
    expect((await post(CHEAP)).headers.get('ratelimit')).toBe('"default";r=97;t=11');
    expect((await get(DEAR)).status).toBe(429);
    socket.close();
  });

  test('and not to another', async () => {
    expect([await askAs('198.51.100.1'), await askAs('198.51.100.1'), await askAs('198.51.100.2')]).toEqual([
      200, 429, 200,
    ]);
  });

  test('and to the whole /64 network of an IPv6 address', async () => {
    expect(await askAs('2001:db8:1:2::1')).toBe(200);
    expect(await askAs('2001:db8:1:2:ffff::2')).toBe(429);
    expect(await askAs('2001:db8:1:3::1')).toBe(200);
  });

  test('that only a trusted proxy can forward', async () => {
    const { app } = await startGatewayForTest({
      config: { ...LIMITED, trustedProxies: ['192.0.2.1'] },
      sandbox: POOLS,
    });
    const open = await app.listen(0, '127.0.0.1');
    const forged = (n: number) =>
      fetch(`${open}?${new URLSearchParams(DEAR)}`, { headers: { 'x-forwarded-for': `203.0.113.${n}` } });
    expect([(await forged(1)).status, (await forged(2)).status]).toEqual([200, 429]);
  });
});

describe('there is no limit', () => {
  test('for GraphiQL, health, metrics and preflight requests', async () => {
    const { post } = newClient();
    const { origin } = new URL(gateway.url);
    const address = { 'x-forwarded-for': `203.0.113.${clients}` };
    await post(DEAREST);
    // Other tests have moved the clock: until the next poll, the lists of the market are old.
    await gateway.untilReady();
    for (const path of ['/health', '/ready', '/metrics']) {
      const response = await fetch(origin + path, { headers: address });
      expect([path, response.status, response.headers.get('ratelimit')]).toEqual([path, 200, null]);
    }
    const page = await request(gateway.url, { headers: { ...address, accept: 'text/html' } });
    await page.body.dump();
    // The page is 503 if the explorer is not built.
    expect([200, 503]).toContain(page.statusCode);
    expect(page.headers['ratelimit']).toBeUndefined();
    const preflight = await fetch(gateway.url, {
      method: 'OPTIONS',
      headers: { ...address, origin: 'https://app.example' },
    });
    // Refused for its origin, which is not listed, and not for its rate.
    expect(preflight.status).toBe(403);
    expect((await fetch(gateway.url, { method: 'OPTIONS', headers: address })).status).toBe(204);
  });

  test('and pages of other origins can read the rate limit headers', async () => {
    const { app } = await startGatewayForTest({
      config: { ...LIMITED, corsOrigins: ['https://app.example'] },
      sandbox: POOLS,
    });
    const open = await app.listen(0, '127.0.0.1');
    const { headers } = await fetch(`${open}?query={__typename}`, { headers: { origin: 'https://app.example' } });
    expect(headers.get('access-control-expose-headers')).toBe(
      'x-request-id, x-pdex-height, x-pdex-sandbox, ratelimit, ratelimit-policy, retry-after',
    );
    expect(headers.get('ratelimit')).toBe('"default";r=199;t=1');
  });
});

describe('the operator', () => {
  test('sees the number of refusals in the metrics, by transport', async () => {
    const { app } = await startGatewayForTest({ config: LIMITED, sandbox: POOLS });
    const open = await app.listen(0, '127.0.0.1');
    await fetch(`${open}?${new URLSearchParams(DEAREST)}`);
    for (let n = 0; n < 3; n++) await fetch(`${open}?${new URLSearchParams(CHEAP)}`);
    await once(new WebSocket(open.replace('http', 'ws'), 'graphql-transport-ws'), 'error');
    const text = await (await fetch(new URL('/metrics', open))).text();
    expect(text.split('\n').filter((line) => line.startsWith('pdex_rate_limited_total'))).toEqual([
      'pdex_rate_limited_total{transport="http"} 3',
      'pdex_rate_limited_total{transport="websocket"} 1',
    ]);
  });

  test('reads one log line per minute for any number of refusals, also after the clock is set back', () => {
    const lines: unknown[] = [];
    const stream = new Writable({
      write(line, _encoding, done) {
        const { level, refused, latest } = JSON.parse(String(line));
        lines.push({ level, refused, latest });
        done();
      },
    });
    const clock = { now: START };
    const rates = createOwnRates(pino({ base: null }, stream), clock);
    const request = requestFrom('198.51.100.7');
    for (let n = 0; n < 1_000; n++) rates.charge(request, 'http', 1_000_000);
    clock.now += 60_000;
    rates.charge(request, 'http', 1);
    // The next minute would begin a day later.
    clock.now -= 86_400_000;
    for (let n = 0; n < 2; n++) rates.charge(request, 'http', 1);
    expect(lines).toEqual([
      { level: 40, refused: 1, latest: '198.51.100.7' },
      { level: 40, refused: 999, latest: '198.51.100.7' },
      { level: 40, refused: 1, latest: '198.51.100.7' },
    ]);
  });
});

test('an operation does not pay twice for work that was done already', () => {
  const account = new Account(createOwnRates(createKeptLog().log), requestFrom('198.51.100.7'), 'http');
  account.debit(3);
  expect([account.paid, account.chargeUpTo(3)]).toEqual([3, undefined]);
});

test('a hundred thousand addresses have a bucket: another one removes that of the first, which then has a full one', () => {
  const rates = createOwnRates(createKeptLog().log);
  const from = (n: number) => requestFrom(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
  for (let n = 0; n <= 100_000; n++) rates.debit(from(n), 1);
  const codes = [100_000, 1, 0].map((n) => rates.charge(from(n), 'http', 1)?.extensions['code']);
  expect(codes).toEqual(['RATE_LIMITED', 'RATE_LIMITED', undefined]);
});

describe('errors and refused variables cost points too', () => {
  const bad = (count: number) => `{ ${Array.from({ length: count }, (_, n) => `a${n}: ticker { id }`).join(' ')} }`;
  const unknown = `{ ${Array.from({ length: 30 }, (_, n) => `a${n}`).join(' ')} }`;
  const ids = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';

  test.each([
    ['each error of a document after the first', { query: unknown }, 29],
    ['variables that do not fit', { query: ids, variables: { ids: Array(2_000).fill({}) } }, 100],
    [
      'variables of an operation that is too complex',
      { query: ids, variables: { ids: Array(30_000).fill('x') } },
      1_500,
    ],
  ])('%s', async (_name, operation, atLeast) => {
    const { app } = await startGatewayForTest({ config: { rateLimitPerSecond: 10, rateLimitBurst: 10_000 } });
    const open = await app.listen(0, '127.0.0.1');
    const response = await fetch(open, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(operation),
    });
    const left = Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]);
    const paid = 10_000 - left;
    expect(paid).toBeGreaterThanOrEqual(atLeast);
    expect(paid).toBeLessThan(atLeast + 450);
  });

  test.each([
    ['each reported error after the first', 21, 20],
    ['no error that is not reported', 300, 100],
  ])('%s, beside the cost of the operation', async (_name, errors, expected) => {
    const { app } = await startGatewayForTest({ config: { rateLimitPerSecond: 10, rateLimitBurst: 10_000 } });
    const query = new URLSearchParams({ query: bad(errors) });
    const response = await fetch(`${await app.listen(0, '127.0.0.1')}?${query}`, { headers: { 'x-pdex-cost': '1' } });
    const left = Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]);
    expect(10_000 - left - (await response.json()).extensions.cost.points).toBe(expected);
  });
});
