import { once } from 'node:events';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Answer, TestGatewayOptions } from '../support/gateway.ts';
import { sample } from '../support/metrics.ts';
import { type ServedGateway, serveGateway, serveGatewayForTest } from '../support/served-gateway.ts';
import { firstEvent, nextMessage, openSocket, TRANSPORTS } from '../support/transports.ts';
import { endWithTest } from '../support/websocket.ts';

const HEADER = 'x-pdex-min-height';
const HEIGHT = '{ beaconHeight }';
const JSON_TYPE = { 'content-type': 'application/json' };

/** Serves a gateway that ends with the returned `close`. */
async function start(options: TestGatewayOptions = {}) {
  const gateway = await serveGateway({
    sandbox: { history: 20 },
    ...options,
    config: { marketPollMs: 60_000, maxOperationsPerRequest: 2, ...options.config },
  });
  if (options.without === undefined) await gateway.untilReady();
  const text = async () => (await fetch(new URL('/metrics', gateway.url))).text();
  const outcome = async (name: string) => sample(await text(), `pdex_minimum_heights_total{outcome="${name}"}`) ?? 0;
  const waiting = async () => sample(await text(), 'pdex_minimum_height_waiting');
  return { ...gateway, tip: gateway.sandbox.chain.tip.height, outcome, waiting };
}

/** Serves a gateway for one test. */
async function serve(options?: TestGatewayOptions) {
  const gateway = await start(options);
  onTestFinished(gateway.close);
  return gateway;
}

/** A gateway whose height does not change. */
let still: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  still = await start({ config: { upstreamTimeoutMs: 500 } });
});
afterAll(() => still.close());

type Served = Pick<ServedGateway, 'url' | 'webSocketUrl'>;

/** Sends the query of the height, and names a minimum. */
type Ask = (gateway: Served, minimum: unknown) => Promise<Answer>;

function socketAnswer(options: Parameters<typeof createClient>[0], extensions?: object): Promise<Answer> {
  const client = createClient({ webSocketImpl: WebSocket, retryAttempts: 0, ...options });
  endWithTest(client);
  return new Promise((resolve) => {
    const error = (errors: unknown) => resolve({ errors } as Answer);
    client.subscribe({ query: HEIGHT, ...(extensions && { extensions }) } as never, {
      next: resolve as never,
      error,
      complete() {},
    });
  });
}

/** A websocket whose upgrade has the header. */
function upgraded(minimum: unknown) {
  return class extends WebSocket {
    constructor(url: string, protocols: string) {
      super(url, protocols, { headers: { [HEADER]: String(minimum) } });
    }
  };
}

const post = (url: string, minimum: unknown, body: object, accept = 'application/json') =>
  fetch(url, {
    method: 'POST',
    headers: { ...JSON_TYPE, accept, [HEADER]: String(minimum) },
    body: JSON.stringify(body),
  });

const EXTENSIONS = (minimum: unknown) => ({ minHeight: minimum });

/** Every way to name a minimum. */
const WAYS: Readonly<Record<string, Ask>> = {
  'the header of a POST': async ({ url }, minimum) => (await post(url, minimum, { query: HEIGHT })).json(),
  'the header of a GET': async ({ url }, minimum) =>
    (await fetch(`${url}?query=${HEIGHT}`, { headers: { [HEADER]: String(minimum) } })).json(),
  'the header of an array': async ({ url }, minimum) =>
    ((await (await post(url, minimum, [{ query: HEIGHT }, { query: HEIGHT }])).json()) as Answer[])[1] as Answer,
  'the header of an event stream': async ({ url }, minimum) => {
    const query = 'subscription { head { beaconHeight } }';
    const { data, errors } = await firstEvent(await post(url, minimum, { query }, 'text/event-stream'));
    return errors === undefined ? { data: data?.['head'] as never } : { errors };
  },
  'the header of an upgrade': ({ webSocketUrl: url }, minimum) =>
    socketAnswer({ url, webSocketImpl: upgraded(minimum) }),
  'the payload of connection_init': ({ webSocketUrl: url }, minimum) =>
    socketAnswer({ url, connectionParams: { [HEADER]: minimum } }),
  ...Object.fromEntries(
    Object.entries(TRANSPORTS).map(([name, send]): [string, Ask] => [
      `extensions.minHeight over ${name}`,
      ({ url }, minimum) => send(url, { query: HEIGHT, extensions: EXTENSIONS(minimum) }),
    ]),
  ),
};

/** Asks in every way at the same time. @returns the answers by the name of the way */
async function askInAllWays(gateway: Served, minimum: unknown): Promise<Readonly<Record<string, Answer>>> {
  const answers = Object.entries(WAYS).map(async ([name, ask]) => [name, await ask(gateway, minimum)] as const);
  return Object.fromEntries(await Promise.all(answers));
}

const inAllWays = (answer: Answer) => Object.fromEntries(Object.keys(WAYS).map((name) => [name, answer]));

/** Of the two operations of the array, both wait. */
const OPERATIONS = Object.keys(WAYS).length + 1;

/** Equal texts wait together: those of a POST and of a message on a websocket, both with `extensions`. */
const EXECUTIONS = OPERATIONS - 1;

describe('a minimum height', () => {
  test('is waited for, although answers with the previous height are cached', async () => {
    const { tip, sandbox, waiting, outcome, advance, ...gateway } = await serve();
    const answered = inAllWays({ data: { beaconHeight: tip } });
    for (let n = 0; n < 3; n++) expect(await askInAllWays(gateway, tip)).toEqual(answered);
    const asking = askInAllWays(gateway, tip + 2);
    await expect.poll(waiting).toBe(EXECUTIONS);
    await advance();
    expect(await waiting()).toBe(EXECUTIONS);
    sandbox.advance();
    expect(await asking).toEqual(inAllWays({ data: { beaconHeight: tip + 2 } }));
    expect([await waiting(), await outcome('waited')]).toEqual([0, EXECUTIONS]);
  });

  test('of a websocket is the higher one of its upgrade and of its connection_init', async () => {
    const { tip, waiting, advance, webSocketUrl: url } = await serve();
    const answers = [tip, tip + 1].map((height) =>
      socketAnswer({
        url,
        webSocketImpl: upgraded(height),
        connectionParams: { [HEADER]: height === tip ? tip + 1 : tip },
      }),
    );
    await expect.poll(waiting).toBe(2);
    await advance();
    expect(await Promise.all(answers)).toEqual(Array(2).fill({ data: { beaconHeight: tip + 1 } }));
  });

  test('that does not come in time is refused', async () => {
    const { tip, waiting, outcome } = still;
    const before = await outcome('late');
    const message = `The gateway did not reach the minimum height ${tip + 100} within 500 ms. Its newest height is ${tip}.`;
    const extensions = { code: 'HEIGHT_NOT_AVAILABLE', beaconHeight: tip, retryAfterMs: 1_000 };
    expect(await askInAllWays(still, tip + 100)).toEqual(inAllWays({ errors: [{ message, extensions }] }));
    expect([await waiting(), await outcome('late')]).toEqual([0, before + OPERATIONS]);
  });

  test('of another chain is refused at once', async () => {
    const { tip, outcome } = still;
    const before = await outcome('ahead');
    const message = `The minimum height ${tip + 101} is more than 100 heights ahead of the gateway. Its newest height is ${tip}.`;
    const extensions = { code: 'HEIGHT_NOT_AVAILABLE', beaconHeight: tip };
    expect(await askInAllWays(still, tip + 101)).toEqual(inAllWays({ errors: [{ message, extensions }] }));
    expect(await outcome('ahead')).toBe(before + OPERATIONS);
  });

  test('has no effect if it is 0', async () => {
    expect(await askInAllWays(still, 0)).toEqual(inAllWays({ data: { beaconHeight: still.tip } }));
  });
});

describe('a malformed minimum height', () => {
  const MESSAGE = 'must be a whole number from 1 to 2^53 - 1, or 0 for none.';

  const MALFORMED = ['', 'x', '-1', '1.5', '1e6', '0x10', '9007199254740993', '5, 6'];

  test('in a header is refused', async () => {
    for (const minimum of MALFORMED) await expectRefused(still, minimum);
  });

  async function expectRefused({ url, webSocketUrl }: Served, minimum: string) {
    const errors = [{ message: `${HEADER} ${MESSAGE}`, extensions: { code: 'BAD_USER_INPUT' } }];
    const responses = await Promise.all([
      post(url, minimum, { query: HEIGHT }),
      post(url, minimum, { query: HEIGHT }, 'application/graphql-response+json'),
      fetch(`${url}?query=${HEIGHT}`, { headers: { [HEADER]: minimum } }),
      post(url, minimum, { query: 'subscription { head { beaconHeight } }' }),
    ]);
    for (const response of responses) expect([response.status, await response.json()]).toEqual([400, { errors }]);
    const rest = await fetch(new URL('/api/v1/public/market-data/tickers', url), { headers: { [HEADER]: minimum } });
    const body = { code: 'BAD_USER_INPUT', message: `${HEADER} ${MESSAGE}` };
    expect([rest.status, await rest.json()]).toEqual([400, body]);

    const socket = new (upgraded(minimum))(webSocketUrl, 'graphql-transport-ws');
    const [, refused] = await once(socket, 'unexpected-response');
    expect(refused.statusCode).toBe(400);
    const client = new WebSocket(webSocketUrl, 'graphql-transport-ws');
    await once(client, 'open');
    client.send(JSON.stringify({ type: 'connection_init', payload: { [HEADER]: minimum } }));
    const [code, reason] = await once(client, 'close');
    expect([code, String(reason)]).toEqual([4400, `${HEADER} ${MESSAGE}`]);
  }

  test('in extensions is refused', async () => {
    const errors = [{ message: `extensions.minHeight ${MESSAGE}`, extensions: { code: 'BAD_USER_INPUT' } }];
    for (const minHeight of [...MALFORMED, -1, 1.5, true, [5], {}, 2 ** 53])
      for (const send of Object.values(TRANSPORTS))
        expect(await send(still.url, { query: HEIGHT, extensions: { minHeight } })).toEqual({ errors });
  });
});

describe('an operation that waits for a height', () => {
  test('is not executed if its client has disconnected', async () => {
    const { tip, url, webSocketUrl, waiting, outcome, sandbox } = await serve();
    const leaving = new AbortController();
    const { signal } = leaving;
    const headers = { ...JSON_TYPE, [HEADER]: String(tip + 1) };
    const body = JSON.stringify({ query: HEIGHT });
    const stream = JSON.stringify({ query: 'subscription { head { beaconHeight } }' });
    const accept = 'text/event-stream';
    const requests = [
      fetch(url, { method: 'POST', headers, body, signal }),
      fetch(url, { method: 'POST', headers: { ...headers, accept }, body: stream, signal }),
      fetch(new URL('/api/v1/public/market-data/tickers', url), { headers, signal }),
    ];
    const client = createClient({ url: webSocketUrl, webSocketImpl: WebSocket, connectionParams: headers });
    for (let n = 0; n < 20; n++)
      client.subscribe({ query: `{ a${n}: beaconHeight }` }, { next() {}, error() {}, complete() {} });
    await expect.poll(waiting).toBe(23);
    leaving.abort();
    await Promise.allSettled(requests);
    await client.terminate();
    sandbox.advance();
    await expect.poll(waiting).toBe(0);
    expect(await outcome('left')).toBe(23);
  });

  test('is refused when the gateway stops, and so are those that come then', async () => {
    const { tip, url, waiting, app } = await serve({ config: { stopWindowMs: 2_000 } });
    const asking = [post(url, tip + 1, { query: HEIGHT }), post(url, tip + 1, [{ query: HEIGHT }])];
    await expect.poll(waiting).toBe(2);
    const closed = app.close();
    // At the same time: on a busy machine, the first two could take longer than the window.
    const [response, array, later] = await Promise.all([...asking, post(url, tip + 1, { query: HEIGHT })]);
    const message = `The gateway is stopping, and has not reached the minimum height ${tip + 1}. Its newest height is ${tip}.`;
    const extensions = { code: 'HEIGHT_NOT_AVAILABLE', beaconHeight: tip, retryAfterMs: 1_000 };
    const refused = { errors: [{ message, extensions }] };
    expect([await response?.json(), await array?.json(), await later?.json()]).toEqual([refused, [refused], refused]);
    await closed;
  });

  test('is refused if its client has too many of them', async () => {
    const count = 1_001;
    const { tip, url, waiting, sandbox, outcome } = await serve({ config: { maxOperationsPerRequest: count } });
    const asking = post(
      url,
      tip + 1,
      Array.from({ length: count }, () => ({ query: HEIGHT })),
    );
    await expect.poll(() => outcome('full')).toBe(1);
    expect(await waiting()).toBe(count - 1);
    sandbox.advance();
    const answers = (await (await asking).json()) as Answer[];
    expect(answers.filter(({ data }) => data?.['beaconHeight'] === tip + 1)).toHaveLength(count - 1);
    expect(answers.flatMap(({ errors = [] }) => errors)).toMatchObject([
      { message: expect.stringMatching('^Too many operations wait for a height') },
    ]);
  });

  test('is refused on a websocket if the open operations of that have too many values', async () => {
    const { tip, url, waiting, advance } = await serve({ config: { maxValuesPerConnection: 1_000 } });
    const socket = await openSocket(url);
    const variables = { unused: Array(600).fill(1) };
    const payload = { query: HEIGHT, variables, extensions: { minHeight: tip + 1 } };
    socket.send(JSON.stringify({ id: 'first', type: 'subscribe', payload }));
    await expect.poll(waiting).toBe(1);
    socket.send(JSON.stringify({ id: 'second', type: 'subscribe', payload: { ...payload, operationName: '' } }));
    expect(JSON.parse(await nextMessage(socket))).toMatchObject({
      id: 'second',
      type: 'error',
      payload: [{ message: expect.stringContaining('too many values'), extensions: { code: 'RATE_LIMITED' } }],
    });
    const answer = nextMessage(socket);
    await advance();
    expect(JSON.parse(await answer)).toMatchObject({ id: 'first', payload: { data: { beaconHeight: tip + 1 } } });
  });

  test('counts as a thousand of them if its message has a million values', async () => {
    const config = { maxBodyBytes: 4_000_000, maxValuesPerConnection: 2_000_000 };
    const { url, sandbox, waiting, advance } = await serve({ config });
    const payload = { query: HEIGHT, variables: { unused: Array(999_000).fill(1) } };
    const ways: readonly ((minimum: number) => Promise<unknown>)[] = [
      (minimum) => post(url, minimum, [payload]),
      (minimum) => post(url, 0, { ...payload, extensions: EXTENSIONS(minimum) }),
      async (minimum) => {
        const socket = await openSocket(url, {}, { [HEADER]: minimum });
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
        await nextMessage(socket);
      },
    ];
    for (const ask of ways) {
      const minimum = sandbox.chain.tip.height + 1;
      const asking = ask(minimum);
      await expect.poll(waiting).toBe(1);
      const other = await post(url, minimum, { query: HEIGHT });
      expect(await other.json()).toMatchObject({
        errors: [{ message: expect.stringMatching('^Too many operations') }],
      });
      await advance();
      await asking;
    }
  });

  test('costs a point on a websocket, also if it is refused', async () => {
    const { tip, url } = await serve({ config: { rateLimitPerSecond: 1, rateLimitBurst: 3 } });
    const socket = await openSocket(url, { headers: { [HEADER]: String(tip + 101) } });
    const codes = [];
    for (let n = 0; n < 3; n++) {
      socket.send(JSON.stringify({ id: String(n), type: 'subscribe', payload: { query: HEIGHT } }));
      codes.push(JSON.parse(await nextMessage(socket)).payload[0].extensions.code);
    }
    // The websocket itself has cost a point. The clock stands still.
    expect(codes).toEqual(['HEIGHT_NOT_AVAILABLE', 'HEIGHT_NOT_AVAILABLE', 'RATE_LIMITED']);
  });

  test('waits for the first height of a gateway that has just started', async () => {
    const { tip, sandbox, ...gateway } = await serveStarting();
    const asking = Promise.all([
      WAYS['the header of a POST']?.(gateway, tip),
      post(gateway.url, tip + 500, { query: HEIGHT }),
    ]);
    await expect.poll(gateway.waiting).toBe(2);
    sandbox.node.faults.clear();
    const [answer, ahead] = await asking;
    expect(answer).toEqual({ data: { beaconHeight: tip } });
    expect(await ahead.json()).toMatchObject({ errors: [{ extensions: { code: 'HEIGHT_NOT_AVAILABLE' } }] });
  });

  test('is not delayed where no node is configured', async () => {
    const { url } = await serve({ without: 'NODE' });
    expect(await (await post(url, 5, { query: '{ __typename }' })).json()).toEqual({ data: { __typename: 'Query' } });
  });
});

/** A gateway whose node does not respond yet. */
async function serveStarting() {
  const gateway = await serveGatewayForTest({
    sandbox: { history: 20 },
    before: ({ node }) => void node.faults.set({ kind: 'reset' }),
  });
  const text = async () => (await fetch(new URL('/metrics', gateway.url))).text();
  return {
    ...gateway,
    tip: gateway.sandbox.chain.tip.height,
    waiting: async () => sample(await text(), 'pdex_minimum_height_waiting'),
  };
}

describe('the status of a refused minimum height', () => {
  test.each([
    ['application/graphql-response+json', 412],
    ['application/json', 200],
  ])('for %s is %i', async (accept, status) => {
    const response = await post(still.url, still.tip + 101, { query: HEIGHT }, accept);
    expect(response.status).toBe(status);
    await response.body?.cancel();
  });

  test('of the REST API is 412, and it says when to come again', async () => {
    const response = await fetch(new URL('/api/v1/public/market-data/tickers', still.url), {
      headers: { [HEADER]: String(still.tip + 1) },
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([412, '1']);
    expect(await response.json()).toMatchObject({ code: 'HEIGHT_NOT_AVAILABLE' });
  });

  test('of an event stream lets an EventSource connect again, unless the height is of another chain', async () => {
    const { tip, url } = still;
    const statusAt = async (minHeight: number) => {
      const query = 'subscription { head { beaconHeight } }';
      const search = new URLSearchParams({ query, extensions: JSON.stringify({ minHeight }) });
      const response = await fetch(`${url}?${search}`, { headers: { accept: 'text/event-stream' } });
      await response.body?.cancel();
      return response.status;
    };
    expect([await statusAt(tip + 1), await statusAt(tip + 101)]).toEqual([200, 400]);
  });
});

describe('the first update of a subscription', () => {
  test.each([
    ['head', 54, 'subscription { head { beaconHeight } }'],
    ['prices', 54, 'subscription { prices { beaconHeight } }'],
    ['divergentPairs', 2_000, 'subscription { divergentPairs(minPercent: 0, first: 1) { poolPair { beaconHeight } } }'],
  ])('of %s is not below the minimum', async (_, pools, query) => {
    // With so many pools, the ranking of a new head takes several turns of the event loop.
    const { tip, url, sandbox, subscribe } = await serve({ sandbox: { history: 20, pools } });
    // Another subscriber: what has to be computed is computed for it before.
    const other = subscribe(query);
    await other.next();
    const asking = firstEvent(await post(url, tip, { query: HEIGHT }).then(() => postAt(url, tip + 1, query, sandbox)));
    expect(JSON.stringify((await asking).data)).toContain(`"beaconHeight":${tip + 1}`);
    await other.return(undefined);
  });

  async function postAt(url: string, minimum: number, query: string, sandbox: ServedGateway['sandbox']) {
    const response = post(url, minimum, { query }, 'text/event-stream');
    sandbox.advance();
    return response;
  }

  test('that resumes is the one after the height that the client names, also below the minimum', async () => {
    const { tip, url, advance } = await serve();
    await advance(1);
    await advance(1);
    const query = `subscription { prices(afterHeight: ${tip}) { beaconHeight } }`;
    const response = await post(url, tip + 2, { query }, 'text/event-stream');
    expect(await firstEvent(response)).toEqual({ data: { prices: { beaconHeight: tip + 1 } } });
  });
});

describe('the height of a response', () => {
  test('is in a header, also of a cached response, an array, and one that has not changed', async () => {
    const { tip, url, app, advance } = await serve();
    const heightOf = (response: Response) => response.headers.get('x-pdex-height');
    const ask = async () => heightOf(await post(url, 0, { query: HEIGHT }));
    expect([await ask(), await ask(), await ask()]).toEqual([String(tip), String(tip), String(tip)]);
    await advance(1);
    expect(await ask()).toBe(String(tip + 1));
    expect(heightOf(await post(url, 0, [{ query: '{ __typename }' }, { query: HEIGHT }]))).toBe(String(tip + 1));
    const get = (headers = {}) => fetch(`${url}?query=${HEIGHT}`, { headers });
    const etag = (await get()).headers.get('etag') ?? '';
    const again = await get({ 'if-none-match': etag });
    expect([again.status, heightOf(again)]).toEqual([304, String(tip + 1)]);
    const direct = await app.fetch(new Request(`http://gateway/graphql?query=${HEIGHT}`));
    expect(heightOf(direct)).toBe(String(tip + 1));
    expect(heightOf(await post(url, 0, { query: '{ __typename }' }))).toBeNull();
  });

  test('can be read by pages of other origins, which may name a minimum', async () => {
    const origin = 'https://app.example';
    const { url } = await serve({ config: { corsOrigins: [origin] } });
    const response = await fetch(`${url}?query=${HEIGHT}`, { headers: { origin } });
    expect(response.headers.get('access-control-expose-headers')).toContain('x-pdex-height');
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': HEADER },
    });
    expect(preflight.headers.get('access-control-allow-headers')).toBe(HEADER);
  });
});

test('an answer that has not changed is not confirmed before the minimum is reached', async () => {
  const { tip, url, sandbox, waiting } = await serve();
  const query = encodeURIComponent('{ tokens { symbol } }');
  const etag = (await fetch(`${url}?query=${query}`)).headers.get('etag') ?? '';
  const asking = fetch(`${url}?query=${query}`, { headers: { 'if-none-match': etag, [HEADER]: String(tip + 1) } });
  await expect.poll(waiting).toBe(1);
  sandbox.advance();
  expect((await asking).status).toBe(304);
});
