import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, newPage } from '../../support/browser.ts';
import { startGateway } from '../../support/gateway.ts';
import { serveGatewayForTest } from '../../support/served-gateway.ts';

const HEADS = 'subscription { head { beaconHeight } }';

/** Operations that fail at each attempt, with their error codes. */
const REFUSED: readonly (readonly [name: string, code: string, params: Record<string, string>])[] = [
  ['a document that cannot be parsed', 'GRAPHQL_PARSE_FAILED', { query: 'subscription {' }],
  ['a document that does not fit the schema', 'GRAPHQL_VALIDATION_FAILED', { query: 'subscription { nothing }' }],
  ['a mutation', 'GRAPHQL_VALIDATION_FAILED', { query: 'mutation { x }' }],
  ['no document', 'BAD_USER_INPUT', {}],
  ['variables that are not JSON', 'BAD_USER_INPUT', { query: HEADS, variables: 'x' }],
  [
    'a variable that is missing',
    'BAD_USER_INPUT',
    { query: 'subscription ($id: String!) { orderBook(tickerId: $id) { id } }' },
  ],
  ['an operation that is not in the document', 'BAD_USER_INPUT', { query: HEADS, operationName: 'Other' }],
  [
    'an argument that means nothing',
    'BAD_USER_INPUT',
    { query: 'subscription { prices(tokenIds: []) { missedHeights } }' },
  ],
  ['a ticker that does not exist', 'BAD_USER_INPUT', { query: 'subscription { orderBook(tickerId: "x") { id } }' }],
  [
    'a height far in the future',
    'HEIGHT_NOT_AVAILABLE',
    { query: 'subscription { prices(afterHeight: 9000000) { missedHeights } }' },
  ],
  [
    'more than is allowed',
    'QUERY_TOO_COMPLEX',
    {
      query: 'subscription { prices { poolPairs { pairs { poolPair { pairs { poolPair { pairs { id } } } } } } } }',
    },
  ],
];

describe('an event stream by GET whose operation is refused', () => {
  test('has status 400 and errors in JSON', async () => {
    const { url } = await serveGatewayForTest();
    for (const [name, code, params] of REFUSED) {
      const headers = { accept: 'text/event-stream' };
      const response = await fetch(`${url}?${new URLSearchParams(params)}`, { headers });
      const type = response.headers.get('content-type');
      expect([name, response.status, type]).toEqual([name, 400, 'application/json; charset=utf-8']);
      expect(await response.json()).toEqual({
        errors: [expect.objectContaining({ extensions: expect.objectContaining({ code }) })],
      });
    }
  });

  test('has status 400 too if an upstream is not configured', async () => {
    const { url } = await serveGatewayForTest({ without: 'MARKET_DATA' });
    const response = await fetch(`${url}?query=subscription{tickers{id}}`, {
      headers: { accept: 'text/event-stream' },
    });
    expect(response.status).toBe(400);
    expect((await response.json()).errors[0].extensions.code).toBe('UPSTREAM_NOT_CONFIGURED');
  });

  test('stays a stream if the same operation can succeed later', async () => {
    const { url, sandbox } = await serveGatewayForTest();
    sandbox.marketData.faults.set({ kind: 'status', status: 503, on: 'orderbook' });
    const query = 'subscription { orderBook(tickerId: "pBTC_PRV") { id } }';
    const response = await fetch(`${url}?${new URLSearchParams({ query })}`, {
      headers: { accept: 'text/event-stream' },
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const chunks = response.body?.pipeThrough(new TextDecoderStream()) ?? [];
    for await (const chunk of chunks) if (chunk.includes('"code":"UPSTREAM_BAD_STATUS"')) break;
  });

  test('stays a stream for a POST, whose client reads errors from the stream', async () => {
    const { url } = await serveGatewayForTest();
    const response = await fetch(url, {
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'subscription { nothing }' }),
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(await response.text()).toContain('"code":"GRAPHQL_VALIDATION_FAILED"');
  });
});

describe.skipIf(!hasBrowser)("a browser's EventSource", () => {
  let page: Page;
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  let requests: string[] = [];

  beforeAll(async () => {
    gateway = await startGateway();
    const url = await gateway.app.listen(0, '127.0.0.1');
    page = await newPage();
    await page.goto(new URL('/health', url).href);
    page.on('request', (request) => requests.push(request.url()));
  });

  afterAll(async () => {
    await page?.context().close();
    await gateway?.close();
  });

  /** Opens an event stream, and closes it after its first event or error. */
  async function open(params: Record<string, string>) {
    requests = [];
    const outcome = await page.evaluate(
      async (search) => {
        const source = new EventSource(`/graphql?${search}`);
        const event = await new Promise<Event>((resolve) => {
          source.addEventListener('next', resolve, { once: true });
          source.addEventListener('error', resolve, { once: true });
        });
        const isClosed = source.readyState === EventSource.CLOSED;
        source.close();
        return { type: event.type, isClosed, data: event instanceof MessageEvent ? JSON.parse(event.data) : undefined };
      },
      String(new URLSearchParams(params)),
    );
    return { ...outcome, requests: requests.length };
  }

  test('receives the updates of its subscription', async () => {
    const { height } = gateway.sandbox.chain.tip;
    expect(await open({ query: HEADS })).toEqual({
      type: 'next',
      isClosed: false,
      data: { data: { head: { beaconHeight: height } } },
      requests: 1,
    });
  });

  // Any other status than 200 ends it: one that is refused before it is executed, and one whose field fails.
  test.each(REFUSED.filter(([name]) => /parsed|ticker/.test(name)))(
    'gives up at once for %s',
    async (_name, _code, params) => {
      expect(await open(params)).toEqual({ type: 'error', isClosed: true, data: undefined, requests: 1 });
    },
  );
});
