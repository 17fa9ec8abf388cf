import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createSchema, createYoga } from 'graphql-yoga';
import { expect, onTestFinished, test } from 'vitest';
import { createErrorMask } from '../../../src/graphql/errors.ts';
import type { Subscribe } from '../../../src/live/broadcast/broadcast.ts';
import { createClientAddresses } from '../../../src/server/clients/client-address.ts';
import type { EncodedUpdate } from '../../../src/server/operations/encoded-response.ts';
import { createPersistedQueries } from '../../../src/server/operations/persisted-queries.ts';
import { fetchWith, type ServerContext, useOperations } from '../../../src/server/yoga/yoga.ts';
import { serveGatewayForTest } from '../../support/served-gateway.ts';
import { until } from '../../support/until.ts';

const HEAD = 'subscription{head{beaconHeight}}';

/** Reads a stream until its text matches. */
async function readUntil({ body }: Response, until: RegExp): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (until.test(text)) break;
  }
  return text;
}

test('a reader that waits for an event receives a comment in each keep-alive period', async () => {
  const { url, sandbox } = await serveGatewayForTest({ config: { keepAliveMs: 500 } });
  const response = await fetch(`${url}?query=${HEAD}`, { headers: { accept: 'text/event-stream' } });
  const names = ['content-type', 'cache-control', 'connection'];
  expect([response.status, ...names.map((name) => response.headers.get(name))]).toEqual([
    200,
    'text/event-stream',
    'no-cache, no-transform',
    'keep-alive',
  ]);
  const event = `event: next\ndata: {"data":{"head":{"beaconHeight":${sandbox.chain.tip.height}}}}\n\n`;
  const text = await readUntil(response, /data: .*\n\n:\n\n:\n\n/);
  // On a busy machine, the event comes after the first period.
  const comments = [/^(:\n\n)+$/, /^(:\n\n){2,}$/];
  expect(text.split(event)).toEqual(comments.map((pattern) => expect.stringMatching(pattern)));
});

/** Yoga with the operations, whose subscriptions have these updates. */
function createTestYoga(
  updates: Subscribe<EncodedUpdate>,
  internal: (error: unknown) => void,
  differing: Partial<Parameters<typeof useOperations>[0]> = {},
) {
  const schema = createSchema({ typeDefs: 'type Query { none: Boolean }' });
  const plugin = useOperations({
    pipeline: { admit: () => undefined, respond: () => ({ updates, points: 1 }) },
    respondToArray: () => expect.unreachable(),
    persisted: createPersistedQueries({ documents: new Map(), isOnly: false }),
    clients: createClientAddresses([]),
    rates: undefined,
    maxOperationsPerRequest: 1,
    keepAliveMs: 60_000,
    metrics: { recordErrors() {} },
    trackStream() {},
    internal,
    ...differing,
  });
  return createYoga<ServerContext>({
    schema,
    plugins: [plugin],
    logging: false,
    maskedErrors: { maskError: createErrorMask(internal) },
  });
}

test('an event stream with an update that cannot be encoded is aborted, and the log gets the reason', async () => {
  const error = new TypeError('This cannot be encoded.');
  const logged: unknown[] = [];
  const yoga = createTestYoga(
    ({ onError }) => ({ request: () => onError(error), cancel() {} }),
    (each) => logged.push(each),
  );

  const server = createServer((request, response) => {
    const served = { request, response, id: '1', startedAt: 0, paid: 0, begin() {} };
    yoga(request, response, { served });
  }).listen(0);
  onTestFinished(() => void server.close());
  await once(server, 'listening');

  const { port } = server.address() as AddressInfo;
  const headers = { accept: 'text/event-stream' };
  const response = await fetch(`http://127.0.0.1:${port}/graphql?query={none}`, { headers });
  await expect(readUntil(response, /complete/)).rejects.toThrow('terminated');
  expect(logged).toEqual([error]);
});

test.each([
  ['cancels', (reader: ReadableStreamDefaultReader) => reader.cancel(), 'AbortError'],
  ['aborts its request', (_: unknown, aborting: AbortController) => aborting.abort(), 'AbortError'],
  ['aborts it for a reason', (_: unknown, aborting: AbortController) => aborting.abort(new RangeError()), 'RangeError'],
])('the reader of an event stream without a server that %s is closed, and nothing is logged', async (_, end, name) => {
  const logged: unknown[] = [];
  const yoga = createTestYoga(
    () => ({ request() {}, cancel() {} }),
    (each) => logged.push(each),
  );
  const aborting = new AbortController();
  const headers = { accept: 'text/event-stream' };
  const response = await yoga.fetch('http://x/graphql?query={none}', { headers, signal: aborting.signal });
  const reader = (response.body as ReadableStream).getReader();
  await reader.read();
  const closed = expect(reader.closed).rejects.toMatchObject({ name });
  await end(reader, aborting);
  await closed;
  expect(logged).toEqual([]);
});

test('the event stream for a HEAD without a server is closed at once', async () => {
  const streams: Readable[] = [];
  const updates = () => ({ request() {}, cancel() {} });
  const trackStream = (stream: Readable) => void streams.push(stream);
  const yoga = createTestYoga(updates, () => expect.unreachable(), { trackStream });
  const headers = { accept: 'text/event-stream' };
  const response = await fetchWith(yoga, new Request('http://x/graphql?query={none}', { method: 'HEAD', headers }));
  const shown = [response.status, response.headers.get('content-type'), response.body];
  expect(shown).toEqual([200, 'text/event-stream', null]);
  expect(streams.map(({ destroyed }) => destroyed)).toEqual([true]);
});

test('the event stream of a reader without a server that aborts while its subscription starts is closed at once', async () => {
  const aborting = new AbortController();
  const streams: Readable[] = [];
  const updates = () => ({ request() {}, cancel() {} });
  async function respond() {
    await nextTurn();
    aborting.abort();
    return { updates, points: 1 };
  }
  const yoga = createTestYoga(updates, () => expect.unreachable(), {
    pipeline: { admit: () => undefined, respond },
    trackStream: (stream) => void streams.push(stream),
  });
  const headers = { accept: 'text/event-stream' };
  const fetching = yoga.fetch('http://x/graphql?query={none}', { headers, signal: aborting.signal });
  await Promise.allSettled([fetching, until(() => streams.length > 0)]);
  expect(streams.map(({ destroyed }) => destroyed)).toEqual([true]);
});

test.each([
  [
    'text/event-stream',
    'text/event-stream',
    (text: string) => `:\n\nevent: next\ndata: ${text}\n\nevent: complete\ndata:\n\n`,
  ],
  [
    'multipart/mixed',
    'multipart/mixed; boundary="-"',
    (text: string) =>
      `\r\n---\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${text.length}\r\n\r\n${text}\r\n-----\r\n`,
  ],
])('a query of a client that accepts only %s has one event or part', async (accept, type, toBody) => {
  const { url, sandbox } = await serveGatewayForTest({ config: { maxOperationsPerRequest: 2 } });
  const query = '{ beaconHeight }';
  const result = `{"data":{"beaconHeight":${sandbox.chain.tip.height}}}`;
  const headers = { accept, 'content-type': 'application/json' };
  const post = (body: unknown) => fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  for (const [response, text] of [
    [await post({ query }), result],
    [await post([{ query }, { query }]), `[${result},${result}]`],
  ] as const) {
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    expect(await response.text()).toBe(toBody(text));
  }
});

test('a client that disconnects in the middle of its body is no internal error', async () => {
  const logged: unknown[] = [];
  const yoga = createTestYoga(
    () => expect.unreachable(),
    (each) => logged.push(each),
  );
  const handled = Promise.withResolvers<unknown>();
  const server = createServer((request, response) => {
    const served = { request, response, id: '1', startedAt: 0, paid: 0, begin: handled.resolve };
    // Yoga reads the body.
    request.once('resume', () => socket.destroy());
    yoga(request, response, { served });
  }).listen(0);
  onTestFinished(() => void server.close());
  await once(server, 'listening');

  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{');
  await handled.promise;
  expect(logged).toEqual([]);
});
