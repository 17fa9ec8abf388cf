import { once } from 'node:events';
import { GraphQLError } from 'graphql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { ERROR_CODES } from '../../../src/domain/error-codes.ts';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import { type Answer, type AnswerError, startGatewayForTest, type TestGatewayOptions } from '../../support/gateway.ts';
import { nextMessage, openSocket, TRANSPORTS } from '../../support/transports.ts';

type Counts = Readonly<Record<string, number>>;

async function open(options: TestGatewayOptions = {}) {
  const gateway = await startGatewayForTest({ ...options, config: { marketPollMs: 60_000, ...options.config } });
  const url = await gateway.app.listen(0, '127.0.0.1');
  return { ...gateway, url, counted: async () => countsIn(await (await fetch(new URL('/metrics', url))).text()) };
}

/** The codes that were counted at least once. */
function countsIn(text: string): Counts {
  const samples = [...text.matchAll(/^pdex_errors_total\{code="(\w+)"\} (\d+)$/gm)];
  return Object.fromEntries(samples.map(([, code, count]) => [code, Number(count)]).filter(([, count]) => count));
}

/** How often each code is in responses. */
function codesOf(responses: readonly { readonly errors?: readonly AnswerError[] }[]): Counts {
  const counts: Record<string, number> = {};
  for (const { errors = [] } of responses)
    for (const { extensions } of errors) counts[extensions.code] = (counts[extensions.code] ?? 0) + 1;
  return counts;
}

const post = async (url: string, body: string, headers: Record<string, string> = {}) =>
  (
    await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
  ).json() as Promise<{ errors: AnswerError[] }>;

const BAD_POOL = 'poolPair(token1Id: "x", token2Id: "y") { id }';

describe('pdex_errors_total', () => {
  test('counts every error that a client gets, on every transport', async () => {
    const { url, counted } = await open();
    const operations = [
      { query: `{ a: ${BAD_POOL} b: ${BAD_POOL} beaconHeight }` },
      { query: '{ beaconHeight }' },
      { query: '{' },
      { query: '{ nothing other }' },
      { query: 'query A { beaconHeight }', operationName: 'B' },
      {
        query: `{ ${Array.from({ length: 60 }, (_, n) => `a${n}: poolPairs(first: 500) { nodes { pairs { poolPair { pairs { id } } } } }`).join(' ')} }`,
      },
      { query: 'query ($n: Int!) { poolPairs(first: $n) { totalCount } }' },
    ];
    const answers: Answer[] = [];
    for (const [name, send] of Object.entries(TRANSPORTS)) {
      const received: Answer[] = [];
      for (const operation of operations) received.push(await send(url, operation));
      expect([name, Object.keys(codesOf(received)).toSorted()]).toEqual([
        name,
        ['BAD_USER_INPUT', 'GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED', 'QUERY_TOO_COMPLEX'],
      ]);
      expect(codesOf(received)['BAD_USER_INPUT']).toBeGreaterThan(3);
      answers.push(...received);
      expect([name, await counted()]).toEqual([name, codesOf(answers)]);
    }
  });

  const REFUSED: readonly (readonly [name: string, init: RequestInit, search?: string])[] = [
    ['a body that is not JSON', { method: 'POST', body: '{' }],
    ['a body that is no object', { method: 'POST', body: '5' }],
    ['an array', { method: 'POST', body: '[{"query":"{ beaconHeight }"}]' }],
    ['variables that are not JSON', {}, '?query={beaconHeight}&variables=x'],
    ['another method', { method: 'PUT', body: '{}' }],
    ['another content type', { method: 'POST', body: '{}', headers: { 'content-type': 'text/csv' } }],
    ['no media type that the gateway has', { headers: { accept: 'image/png' } }, '?query={beaconHeight}'],
    ['a subscription without an event stream', {}, '?query=subscription{head{beaconHeight}}'],
    ['another origin', { headers: { origin: 'https://evil.example' } }, '?query={beaconHeight}'],
    ['a body that is too long', { method: 'POST', body: `{"query":"${' '.repeat(3_000)}"}` }],
  ];

  test('counts the error of a request that is refused', async () => {
    const { url, counted } = await open({ config: { maxBodyBytes: 2_000 } });
    const answers: { errors: AnswerError[] }[] = [];
    for (const [name, init, search = ''] of REFUSED) {
      const headers = { 'content-type': 'application/json', accept: 'application/json', ...init.headers };
      const response = await fetch(url + search, { ...init, headers });
      const answer = (await response.json()) as { errors: AnswerError[] };
      answers.push(answer);
      expect([name, answer.errors.length]).toEqual([name, 1]);
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect([name, await counted()]).toEqual([name, codesOf(answers)]);
    }
  });

  test('counts the operations of an array', async () => {
    const { url, counted } = await open({ config: { maxOperationsPerRequest: 3 } });
    const body = JSON.stringify([
      { query: '{ nothing }' },
      { query: '{ beaconHeight }' },
      { query: 'subscription { head { beaconHeight } }' },
    ]);
    const answers = (await post(url, body)) as unknown as { errors: AnswerError[] }[];
    expect(answers).toHaveLength(3);
    expect(await counted()).toEqual({ GRAPHQL_VALIDATION_FAILED: 1, BAD_USER_INPUT: 1 });
  });

  test('counts what exceeds the rate or the connections of an address, and a refused websocket', async () => {
    const limited = await open({ config: { rateLimitPerSecond: 1, rateLimitBurst: 1 } });
    await post(limited.url, '{"query":"{ beaconHeight }"}');
    await post(limited.url, '{"query":"{ beaconHeight }"}');
    expect(await limited.counted()).toEqual({ RATE_LIMITED: 1 });

    const { url, counted } = await open({ config: { maxConnectionsPerAddress: 1 } });
    const foreign = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', {
      origin: 'https://evil.example',
    });
    await expect(once(foreign, 'open')).rejects.toThrow('403');
    const socket = await openSocket(url);
    onTestFinished(() => socket.terminate());
    expect(codesOf([await post(url, '{"query":"{ beaconHeight }"}')])).toEqual({ RATE_LIMITED: 1 });
    expect(await counted()).toEqual({ ORIGIN_NOT_ALLOWED: 1, RATE_LIMITED: 1 });
  });

  test('counts an update once for each subscriber that gets it, on all transports', async () => {
    const { url, counted, subscribe } = await open({ before: ({ node }) => node.stop() });
    const query = 'subscription { head { beaconHeight } }';
    const streams = [subscribe(query), subscribe(query)];
    for (const stream of streams) expect(codesOf([(await stream.next()).value ?? {}])['UPSTREAM_UNREACHABLE']).toBe(1);
    const socket = await openSocket(url);
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }));
    expect(codesOf([JSON.parse(await nextMessage(socket)).payload])).toEqual({ UPSTREAM_UNREACHABLE: 1 });
    expect(await counted()).toEqual({ UPSTREAM_UNREACHABLE: 3 });
    socket.close();
    for (const stream of streams) await stream.return(undefined);
  });

  test('counts a shared response for each client', async () => {
    const { url, counted, sandbox, untilReady } = await open();
    await untilReady();
    sandbox.node.faults.set({ kind: 'delay', ms: 200 });
    const query = `{ poolPairs(first: 1, at: ${sandbox.chain.tip.height - 5}) { totalCount } ${BAD_POOL} }`;
    const body = JSON.stringify({ query });
    const answers = await Promise.all([post(url, body), post(url, body)]);
    expect(answers[0]).toEqual(answers[1]);
    expect(await counted()).toEqual(codesOf(answers));
  });

  test('has every code from the start, and counts unknown ones together', async () => {
    const metrics = createMetrics('test');
    const codes = async () =>
      [...(await metrics.text()).matchAll(/^pdex_errors_total\{code="(\w+)"\} 0$/gm)].map(([, code]) => code);
    expect(await codes()).toEqual([...Object.keys(ERROR_CODES), 'other']);
    const withCode = (code?: unknown) => new GraphQLError('x', { extensions: { code } });
    metrics.recordErrors([withCode('MADE_UP'), withCode('toString'), withCode(), withCode('RATE_LIMITED')]);
    expect(countsIn(await metrics.text())).toEqual({ RATE_LIMITED: 1, other: 3 });
  });
});
