import { request } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { poolPairAt } from '../../../src/domain/exchange.ts';
import { NEVER_MS, startGatewayForTests } from '../../support/gateway.ts';
import { sample } from '../../support/metrics.ts';
import { repeat } from '../../support/operations.ts';
import { nextMessage, openSocket } from '../../support/transports.ts';

type Body = Readonly<Record<string, unknown>>;
type Received = { readonly status: number; readonly type: string | undefined; readonly text: string };

let corpus: Readonly<Record<string, Body>> = {};
// No poll comes between two requests.
const gateway = startGatewayForTests({
  sandbox: { history: 20 },
  config: { headPollMs: NEVER_MS, marketPollMs: NEVER_MS },
});
beforeAll(() => {
  corpus = makeCorpus();
});

const POOL = 'fragment P on PoolPair { id key price exactPrice token1 { tokenId symbol decimals } token2 { symbol } }';

/** Requests of every kind. */
const CASES = [
  'a value',
  'aliases',
  'fragments and __typename',
  'variables',
  'variables left out, with defaults',
  'directives',
  'nulls',
  'abstract types',
  'text beyond ASCII',
  'market data',
  'an order book',
  'a final height',
  'introspection',
  'several operations, one named',
  'a partial error',
  'an error in a list of aliases',
  'a height in the future',
  'no text',
  'a syntax error',
  'an unknown field',
  'a variable that is missing',
  'a variable of another type',
  'an unknown operation',
  'several operations, none named',
  'too complex',
  'too many tokens',
  'only a comment',
  'a mutation',
  'null variables and an empty name',
  'unknown extensions',
] as const;

function makeCorpus(): Record<(typeof CASES)[number], Body> {
  const { head, market } = gateway.app.service.sources;
  const { beaconHeight = 0, exchange } = head.current() ?? {};
  const pool = exchange && poolPairAt(exchange, 0);
  const tickerId = market.tickers.current()?.market.rows[0]?.tickerId;
  const tokens = { a: pool?.token1Id, b: pool?.token2Id };
  return {
    'a value': { query: '{ beaconHeight }' },
    aliases: { query: '{ a: beaconHeight b: beaconHeight c: poolPairs(first: 2) { totalCount } }' },
    'fragments and __typename': {
      query: `{ __typename poolPairs(first: 3) { __typename nodes { __typename ...P ...P } } } ${POOL}`,
    },
    variables: {
      query: `query One($a: TokenId!, $b: TokenId!) { poolPair(token1Id: $a, token2Id: $b) { ...P } } ${POOL}`,
      variables: tokens,
      operationName: 'One',
    },
    'variables left out, with defaults': {
      query: 'query ($n: Int = 2) { poolPairs(first: $n) { nodes { id } pageInfo { hasNextPage endCursor } } }',
    },
    directives: {
      query:
        'query ($no: Boolean!) { beaconHeight @skip(if: $no) poolPairs(first: 1) @include(if: $no) { totalCount } }',
      variables: { no: true },
    },
    nulls: { query: `query ($a: TokenId!) { poolPair(token1Id: $a, token2Id: $a) { id } }`, variables: tokens },
    'abstract types': {
      query: `{ node(id: "PoolPair:none") { id } nodes(ids: ["x", "y"]) { __typename id ... on PoolPair { price } } }`,
    },
    'text beyond ASCII': {
      query: 'query ($t: String) { ticker(tickerId: $t) { id } pairs { id } } # π €',
      variables: { t: 'ü' },
    },
    'market data': { query: '{ pairs { id tickerId } tickers { id lastPrice } }' },
    'an order book': {
      query: 'query ($t: String!) { orderBook(tickerId: $t) { tickerId } }',
      variables: { t: tickerId },
    },
    'a final height': { query: `{ poolPairs(at: ${beaconHeight - 10}, first: 5) { nodes { id price } } }` },
    introspection: { query: '{ __schema { types { name fields { name } } } }' },
    'several operations, one named': {
      query: 'query A { beaconHeight } query B { b: beaconHeight }',
      operationName: 'B',
    },
    'a partial error': { query: '{ beaconHeight poolPairs(first: -1) { totalCount } }' },
    'an error in a list of aliases': {
      query: `{ ${repeat(5, (n) => `a${n}: poolPairs(first: ${n - 2}) { totalCount }`)} }`,
    },
    'a height in the future': { query: `{ poolPairs(at: ${beaconHeight + 10}) { totalCount } }` },
    'no text': { query: '' },
    'a syntax error': { query: '{ beaconHeight' },
    'an unknown field': { query: '{ beaconHeight nothing { id } }' },
    'a variable that is missing': { query: 'query ($n: Int!) { poolPairs(first: $n) { totalCount } }' },
    'a variable of another type': {
      query: 'query ($n: Int!) { poolPairs(first: $n) { totalCount } }',
      variables: { n: 'many' },
    },
    'an unknown operation': { query: 'query A { beaconHeight }', operationName: 'B' },
    'several operations, none named': { query: 'query A { beaconHeight } query B { beaconHeight }' },
    'too complex': {
      query: `{ ${repeat(60, (n) => `a${n}: poolPairs(first: 500) { nodes { pairs { poolPair { pairs { id } } } } }`)} }`,
    },
    'too many tokens': { query: `{ ${repeat(6_000, () => 'a: beaconHeight')} }` },
    'only a comment': { query: '# nothing' },
    'a mutation': { query: 'mutation { nothing }' },
    'null variables and an empty name': { query: '{ beaconHeight }', variables: null, operationName: '' },
    'unknown extensions': { query: '{ beaconHeight }', extensions: { trace: true } },
  };
}

const TYPES = ['application/json', 'application/graphql-response+json'];

const ACCEPTS = [...TYPES, 'application/graphql-response+json,application/json;q=0.9', '*/*'];

const toUrl = (body: Body) =>
  `${gateway.url}?${new URLSearchParams(
    Object.entries(body).flatMap(([name, value]) =>
      value == null ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
    ),
  )}`;

/** The response by Yoga, without the handler of plain queries. */
async function requestByYoga(method: 'GET' | 'POST', body: Body, accept: string): Promise<Received> {
  const headers = { accept, ...(method === 'POST' && { 'content-type': 'application/json' }) };
  const sent = method === 'GET' ? { headers } : { method, headers, body: JSON.stringify(body) };
  const response = await gateway.app.fetch(new Request(method === 'GET' ? toUrl(body) : gateway.url, sent));
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? undefined,
    text: await response.text(),
  };
}

async function overHttp(method: 'GET' | 'POST', body: Body, accept: string): Promise<Received> {
  const post = { headers: { accept, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await request(method === 'GET' ? toUrl(body) : gateway.url, {
    method,
    ...(method === 'GET' ? { headers: { accept } } : post),
  });
  const { statusCode: status, headers } = response;
  return { status, type: String(headers['content-type']), text: await response.body.text() };
}

describe.each(CASES)('%s', (name) => {
  test.each(TYPES)('has the same bytes if it is executed, coalesced, cached or handled by Yoga: %s', async (accept) => {
    const body = corpus[name] ?? {};
    for (const method of ['POST', 'GET'] as const) {
      // The headers of a request have 16 KiB.
      if (method === 'GET' && toUrl(body).length > 15_000) continue;
      const wanted = await requestByYoga(method, body, accept);
      const atOnce = await Promise.all(Array.from({ length: 3 }, () => overHttp(method, body, accept)));
      const again = await overHttp(method, body, accept);
      expect([...atOnce, again], method).toEqual(Array(4).fill(wanted));
    }
  });

  test('comes from the response cache when it has no errors', async () => {
    const body = corpus[name] ?? {};
    const { text } = await overHttp('POST', body, 'application/json');
    await overHttp('POST', body, 'application/json');
    const before = await counted('cached');
    await overHttp('POST', body, 'application/json');
    expect((await counted('cached')) - before).toBe(text.startsWith('{"errors"') ? 0 : 1);
  });

  test('has the same result on a websocket', async () => {
    const body = corpus[name] ?? {};
    const { text } = await requestByYoga('POST', body, 'application/json');
    const socket = await openSocket(gateway.url);
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: body }));
    const { type, payload } = JSON.parse(await nextMessage(socket));
    socket.close();
    // graphql-ws sends an `error` message for a document that is refused.
    expect(JSON.stringify(type === 'error' ? { errors: payload } : payload)).toBe(text);
  });
});

describe('equal requests that wait for an upstream cause one call, and have the same bytes', () => {
  test.each(['whole', 'failed', 'partly failed'])('%s', async (outcome) => {
    const { head, market } = gateway.app.service.sources;
    const height = head.current()?.beaconHeight ?? 0;
    const tickerId = market.tickers.current()?.market.rows[0]?.tickerId;
    const before = await counted('coalesced');
    const requests = ACCEPTS.map((accept, place) => {
      // A different height each time, which was not read before.
      const at = height - 5 - place - (outcome === 'whole' ? 0 : ACCEPTS.length);
      const state = outcome === 'failed' ? '' : `a: poolPairs(at: ${at}, first: 2) { totalCount nodes { id } }`;
      const book = outcome === 'whole' ? '' : `b${place}: orderBook(tickerId: "${tickerId}") { tickerId }`;
      return { accept, body: { query: `{ ${state} ${book} }` } };
    });
    gateway.clock.now += 10_000;
    const { faults: ofNode } = gateway.sandbox.node;
    const { faults: ofMarketData } = gateway.sandbox.marketData;
    // All have come before the upstream responds to the first.
    const delays = [ofNode, ofMarketData].map((faults) => faults.set({ kind: 'delay', ms: 1_000 }));
    if (outcome !== 'whole') ofMarketData.set({ kind: 'status', status: 403 });
    const atOnce = await Promise.all(
      requests.flatMap(({ accept, body }) => Array.from({ length: 4 }, () => overHttp('POST', body, accept))),
    );
    for (const end of delays) end();
    for (const [place, { accept, body }] of requests.entries()) {
      gateway.clock.now += 10_000;
      const wanted = await requestByYoga('POST', body, accept);
      expect(atOnce.slice(4 * place, 4 * place + 4)).toEqual(Array(4).fill(wanted));
      expect(wanted.text.includes('"errors"')).toBe(outcome !== 'whole');
    }
    ofNode.clear();
    ofMarketData.clear();
    expect((await counted('coalesced')) - before).toBe(3 * ACCEPTS.length);
  });
});

async function counted(from: string): Promise<number> {
  return (
    sample(
      await (await fetch(new URL('/metrics', gateway.url))).text(),
      `pdex_query_responses_total{from="${from}"}`,
    ) ?? 0
  );
}
