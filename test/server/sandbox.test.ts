import { once } from 'node:events';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startGatewayForTest } from '../support/gateway.ts';
import { sample } from '../support/metrics.ts';

const HEADER = 'x-pdex-sandbox';

async function open(isSandbox: boolean) {
  const gateway = await startGatewayForTest({ isSandbox, config: { corsOrigins: ['https://app.example'] } });
  const url = await gateway.app.listen(0, '127.0.0.1');
  return { ...gateway, url };
}

/** A request for every kind of answer. */
const REQUESTS: Record<string, (url: string) => Promise<Response>> = {
  'a query': (url) => post(url, '{ beaconHeight }'),
  'a query by GET': (url) => fetch(`${url}?query={beaconHeight}`),
  'an error of a document': (url) => post(url, '{ nothing }'),
  'a body that is no JSON': (url) => send(url, '{'),
  'a form': (url) => fetch(url, { method: 'POST', body: new URLSearchParams({ query: '{beaconHeight}' }) }),
  'a subscription': (url) => post(url, 'subscription { head { beaconHeight } }', 'text/event-stream'),
  'an array of operations': (url) => send(url, '[{"query":"{beaconHeight}"}]'),
  'a preflight': (url) =>
    fetch(url, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    }),
  '/ready': (url) => fetch(new URL('/ready', url)),
  'the REST API': (url) => fetch(new URL('/api/v1/public/market-data/tickers', url)),
};

function post(url: string, query: string, accept = 'application/json'): Promise<Response> {
  return send(url, JSON.stringify({ query }), accept);
}

function send(url: string, body: string, accept = 'application/json'): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', accept }, body });
}

test('each answer has a header if the data is simulated, and only then', async () => {
  for (const isSandbox of [true, false]) {
    const { url } = await open(isSandbox);
    for (const [name, ask] of Object.entries(REQUESTS)) {
      const response = await ask(url);
      expect([name, response.headers.get(HEADER)]).toEqual([name, isSandbox ? 'true' : null]);
      await response.body?.cancel();
    }
  }
});

test('an answer from the response cache has it too, and a 304', async () => {
  const { url, ask } = await open(true);
  await ask('{ beaconHeight pairs { id } tickers { id } }');
  const get = (headers = {}) => fetch(`${url}?query={beaconHeight}`, { headers });
  for (let n = 0; n < 3; n++) expect((await get()).headers.get(HEADER)).toBe('true');
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  expect(sample(metrics, 'pdex_query_responses_total{from="cached"}')).toBeGreaterThan(0);
  const unchanged = await get({ 'if-none-match': String((await get()).headers.get('etag')) });
  expect([unchanged.status, unchanged.headers.get(HEADER)]).toEqual([304, 'true']);
});

test('the handshake of a websocket has it too', async () => {
  for (const isSandbox of [true, false]) {
    const { url } = await open(isSandbox);
    const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
    const [[{ headers }]] = await Promise.all([once(socket, 'upgrade'), once(socket, 'open')]);
    expect(headers[HEADER]).toBe(isSandbox ? 'true' : undefined);
    socket.close();
  }
});

test('pages of other origins may read it', async () => {
  const { url } = await open(true);
  const { headers } = await fetch(`${url}?query={beaconHeight}`, { headers: { origin: 'https://app.example' } });
  expect(headers.get('access-control-expose-headers')).toContain(HEADER);
});

test.each([true, false])('/ready, the metrics and GraphiQL show whether it is the sandbox: %s', async (isSandbox) => {
  const { url, ask } = await open(isSandbox);
  await ask('{ beaconHeight pairs { id } tickers { id } }');
  expect(await (await fetch(new URL('/ready', url))).json()).toEqual({
    status: 'ready',
    exchangeVersion: 'V1',
    sandbox: isSandbox,
  });
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  expect(metrics).toMatch(new RegExp(`^pdex_build_info\\{.*sandbox="${isSandbox}"\\} 1$`, 'm'));
  const graphiql = await request(url, { headers: { accept: 'text/html' } });
  await graphiql.body.dump();
  expect(graphiql.headers[HEADER]).toBe(isSandbox ? 'true' : undefined);
});
