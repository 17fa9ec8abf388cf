import { once } from 'node:events';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startGatewayForTests } from '../support/gateway.ts';
import { sample } from '../support/metrics.ts';

const HEADER = 'x-pdex-sandbox';

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

describe.each([true, false])('whether the data is simulated: %s', (isSandbox) => {
  const gateway = startGatewayForTests({ isSandbox, config: { corsOrigins: ['https://app.example'] } });

  const header = isSandbox ? 'true' : null;

  test.each(Object.entries(REQUESTS))('a header shows it in the response to %s', async (_, ask) => {
    const response = await ask(gateway.url);
    expect(response.headers.get(HEADER)).toBe(header);
    await response.body?.cancel();
  });

  test('a response from the response cache shows it too, and a 304', async () => {
    const get = (headers = {}) => fetch(`${gateway.url}?query={beaconHeight}`, { headers });
    for (let n = 0; n < 3; n++) expect((await get()).headers.get(HEADER)).toBe(header);
    const metrics = await (await fetch(new URL('/metrics', gateway.url))).text();
    expect(sample(metrics, 'pdex_query_responses_total{from="cached"}')).toBeGreaterThan(0);
    const unchanged = await get({ 'if-none-match': String((await get()).headers.get('etag')) });
    expect([unchanged.status, unchanged.headers.get(HEADER)]).toEqual([304, header]);
  });

  test('the handshake of a websocket shows it too', async () => {
    const socket = new WebSocket(gateway.url.replace('http', 'ws'), 'graphql-transport-ws');
    const [[{ headers }]] = await Promise.all([once(socket, 'upgrade'), once(socket, 'open')]);
    expect(headers[HEADER] ?? null).toBe(header);
    socket.close();
  });

  test('pages of other origins may read the header', async () => {
    const { headers } = await fetch(`${gateway.url}?query={beaconHeight}`, {
      headers: { origin: 'https://app.example' },
    });
    expect(headers.get('access-control-expose-headers')).toContain(HEADER);
  });

  test('/ready, the metrics and GraphiQL show it', async () => {
    expect(await (await fetch(new URL('/ready', gateway.url))).json()).toEqual({
      status: 'ready',
      exchangeVersion: 'V1',
      sandbox: isSandbox,
    });
    const metrics = await (await fetch(new URL('/metrics', gateway.url))).text();
    expect(metrics).toMatch(new RegExp(`^pdex_build_info\\{.*sandbox="${isSandbox}"\\} 1$`, 'm'));
    const graphiql = await request(gateway.url, { headers: { accept: 'text/html' } });
    await graphiql.body.dump();
    expect(graphiql.headers[HEADER] ?? null).toBe(header);
  });
});
