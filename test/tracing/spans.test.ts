import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { createTracing } from '../../src/tracing/spans.ts';
import type { Tracing } from '../../src/tracing/tracing.ts';
import { NEVER_MS } from '../support/gateway.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import { NOT_SAMPLED, PARENT, post, SAMPLED, serveTraced, spansAfterClose, TRACE } from '../support/traced-gateway.ts';
import { nextMessage } from '../support/transports.ts';

const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

const ATTRIBUTES = { 'service.name': 'prices', 'deployment.environment.name': 'test' };

/** The spans of some work, as OTLP's JSON has them. */
async function spansOf(work: (tracing: Tracing) => void) {
  const batches: string[] = [];
  const tracing = createTracing({
    ...{ version: '0.0.0', otelServiceName: '', otelResourceAttributes: {}, otelExporterOtlpProtocol: 'http/json' },
    ...{ otelTracesSampler: 'always_on', otelTracesSamplerArg: 1 },
    send: async (body) => void batches.push(Buffer.from(body).toString()),
  });
  work(tracing);
  await tracing.close(NEVER_MS);
  return batches.flatMap((batch) => JSON.parse(batch).resourceSpans[0].scopeSpans[0].spans);
}

describe('an operation', () => {
  test('is a child of the trace context of the client, and its upstream call is a child of the operation', async () => {
    const receiver = await startOtlpReceiver();
    const gateway = await serveTraced({ otelResourceAttributes: ATTRIBUTES }, receiver);
    const { tip } = gateway.sandbox.chain;
    const query = `query AtHeight { poolPairs(first: 1, at: ${tip.height - 50}) { totalCount } }`;
    const tracestate = 'vendor=its,other=1';
    gateway.sandbox.node.faults.set({ kind: 'reset', times: 1, on: 'getpdestate' });
    await post(gateway, { query }, { traceparent: SAMPLED, tracestate, 'x-request-id': 'r1' });

    const spans = (await spansAfterClose(gateway, receiver)).filter(({ traceId }) => traceId === TRACE);
    const operation = spans.find(({ parentSpanId }) => parentSpanId === PARENT);
    expect(operation).toMatchObject({
      name: 'query',
      kind: SERVER,
      attributes: {
        'graphql.operation.type': 'query',
        'graphql.operation.name': 'AtHeight',
        'network.protocol.name': 'http',
        'pdex.request_id': 'r1',
        'pdex.response_source': 'executed',
        'pdex.cost_points': expect.any(Number),
      },
      resource: ATTRIBUTES,
    });
    const calls = spans.filter(({ parentSpanId }) => parentSpanId === operation?.spanId);
    const [call] = calls;
    const { hostname, port } = new URL(gateway.sandbox.nodeUrl);
    expect(call).toMatchObject({
      name: 'getpdestate',
      kind: CLIENT,
      attributes: {
        'pdex.upstream': 'NODE',
        'server.address': hostname,
        'server.port': Number(port),
        'http.response.status_code': 200,
        'http.response.body.size': expect.any(Number),
        'http.request.resend_count': 1,
      },
    });
    expect(spans).toHaveLength(calls.length + 1);
    const sent = gateway.sandbox.node.requests.map(({ headers }) => [headers['traceparent'], headers['tracestate']]);
    expect(sent).toContainEqual([`00-${TRACE}-${call?.spanId}-01`, tracestate]);
    expect(spans.map(({ traceState }) => traceState)).toEqual(spans.map(() => tracestate));
  });

  test('whose response was executed or cached has its type and name, that source and the height', async () => {
    const receiver = await startOtlpReceiver();
    const gateway = await serveTraced({}, receiver);
    const query = 'query Height { beaconHeight }';
    for (let n = 0; n < 3; n++) await post(gateway, { query }, { traceparent: SAMPLED });
    const spans = (await spansAfterClose(gateway, receiver)).filter(({ parentSpanId }) => parentSpanId === PARENT);
    expect(spans.map(({ name }) => name)).toEqual(['query', 'query', 'query']);
    for (const source of ['executed', 'cached']) {
      const found = spans.find(({ attributes }) => attributes['pdex.response_source'] === source);
      expect([source, found?.attributes]).toMatchObject([
        source,
        {
          'graphql.operation.type': 'query',
          'graphql.operation.name': 'Height',
          'pdex.cost_points': 1,
          'pdex.beacon_height': gateway.sandbox.chain.tip.height,
        },
      ]);
    }
  });

  test('with an error has its code; an error of the client is no error of the span', async () => {
    const receiver = await startOtlpReceiver();
    const gateway = await serveTraced({}, receiver);
    const { tip } = gateway.sandbox.chain;
    await post(gateway, { query: '{ nothing }' }, { traceparent: SAMPLED });
    gateway.sandbox.node.faults.set({ kind: 'status', status: 503, on: 'getpdestate' });
    const query = `{ poolPairs(first: 1, at: ${tip.height - 60}) { totalCount } }`;
    await post(gateway, { query }, { traceparent: SAMPLED });
    gateway.sandbox.node.faults.clear();
    const spans = (await spansAfterClose(gateway, receiver)).filter(({ parentSpanId }) => parentSpanId === PARENT);
    expect(
      spans.map(({ name, attributes, status }) => [name, attributes['error.type'], status.code === ERROR]),
    ).toEqual([
      ['GraphQL Operation', 'GRAPHQL_VALIDATION_FAILED', false],
      ['query', 'UPSTREAM_BAD_STATUS', true],
    ]);
  });

  test('is an error of the span if the gateway or an upstream is the reason', async () => {
    const codes = ['INTERNAL_SERVER_ERROR', 'UPSTREAM_BUSY', 'UPSTREAM_NOT_CONFIGURED', 'BAD_USER_INPUT'];
    const spans = await spansOf((tracing) => {
      for (const code of codes) {
        const span = tracing.startOperation('http', undefined, {});
        span?.end({ codes: [code] });
        // Later calls have no effect.
        span?.end();
        span?.prepared('query', undefined);
      }
    });
    expect(spans.map(({ name, status }) => [name, status.code])).toEqual(
      codes.map((_, index) => ['GraphQL Operation', index < 2 ? ERROR : 0]),
    );
  });

  test('begins when its request arrived', async () => {
    const now = performance.now();
    const [first, later] = await spansOf((tracing) => {
      for (const startedAt of [now - 1_000, now]) tracing.startOperation('http', undefined, {}, startedAt)?.end();
    });
    const betweenMs = (later.startTimeUnixNano - first.startTimeUnixNano) / 1e6;
    // The times of the SDK differ by a millisecond.
    expect(Math.abs(betweenMs - 1_000)).toBeLessThan(3);
  });

  test('is not traced if the client does not sample its trace, and starts one if the trace context is not valid', async () => {
    const receiver = await startOtlpReceiver();
    const gateway = await serveTraced({}, receiver);
    for (const traceparent of [NOT_SAMPLED, `${SAMPLED}, ${SAMPLED}`])
      await post(gateway, { query: '{ beaconHeight }' }, { traceparent });
    const operations = (await spansAfterClose(gateway, receiver)).filter(({ kind }) => kind === SERVER);
    expect(operations.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([['query', undefined]]);
    expect(operations[0]?.traceId).not.toBe(TRACE);
  });

  test('of an array, of an event stream and of a websocket is traced', async () => {
    const receiver = await startOtlpReceiver();
    const gateway = await serveTraced({ maxOperationsPerRequest: 2 }, receiver);
    const headers = { traceparent: SAMPLED, tracestate: 'vendor=its' };
    await post(gateway, [{ query: 'query A { beaconHeight }' }, { query: 'query B { beaconHeight }' }], headers);
    const controller = new AbortController();
    const search = new URLSearchParams({ query: 'subscription C { head { beaconHeight } }' });
    const accept = { ...headers, accept: 'text/event-stream' };
    await fetch(`${gateway.url}?${search}`, { headers: accept, signal: controller.signal });
    controller.abort();

    const socket = new WebSocket(gateway.webSocketUrl, 'graphql-transport-ws', { headers });
    onTestFinished(() => socket.terminate());
    await once(socket, 'open');
    socket.send('{"type":"connection_init"}');
    await nextMessage(socket);
    for (const query of ['query D { beaconHeight }', 'subscription E { head { beaconHeight } }', '{ nothing }']) {
      socket.send(JSON.stringify({ id: query, type: 'subscribe', payload: { query } }));
      await nextMessage(socket);
    }

    const spans = (await spansAfterClose(gateway, receiver)).filter(({ parentSpanId }) => parentSpanId === PARENT);
    const seen = spans.map(({ name, attributes }) =>
      [name, attributes['graphql.operation.name'], attributes['network.protocol.name']].join(' '),
    );
    expect(new Set(spans.map(({ traceState }) => traceState))).toEqual(new Set(['vendor=its']));
    expect(seen.sort()).toEqual([
      'GraphQL Operation  websocket',
      'query A http',
      'query B http',
      'query D websocket',
      'subscription C http',
      'subscription E websocket',
    ]);
  });
});

describe('a head', () => {
  test('is a span with the calls that read it, and an update of a subscription is linked to it', async () => {
    const receiver = await startOtlpReceiver();
    const gateway = await serveTraced({}, receiver);
    const updates = gateway.subscribe('subscription Prices { prices { beaconHeight poolPairs { id } } }');
    await updates.next();
    gateway.sandbox.node.faults.set({ kind: 'delay', ms: 50, on: 'getpdestate' });
    gateway.sandbox.advance();
    await updates.next();
    const { height } = gateway.sandbox.chain.tip;
    await updates.return(undefined);

    const spans = await spansAfterClose(gateway, receiver);
    const head = spans.find(
      ({ name, attributes }) => name === 'poll head' && attributes['pdex.beacon_height'] === height,
    );
    expect(head?.attributes).toEqual({
      'pdex.beacon_height': height,
      'pdex.changed_pools': expect.any(Number),
      'pdex.host': new URL(gateway.sandbox.nodeUrl).host,
    });
    const calls = spans.filter(({ parentSpanId }) => parentSpanId !== undefined && parentSpanId === head?.spanId);
    expect(calls.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['getblockchaininfo', 'getbeaconbeststatedetail', 'getpdestate']),
    );
    // Each call ends at its own end, and not with the poll.
    const [info = 0, state = 0] = ['getblockchaininfo', 'getpdestate'].map(
      (method) => calls.find(({ name }) => name === method)?.endTimeUnixNano,
    );
    expect((state - info) / 1e6).toBeGreaterThan(40);
    const update = spans.find(
      ({ name, attributes }) => name === 'update' && attributes['pdex.beacon_height'] === height,
    );
    expect(update?.attributes).toMatchObject({
      'graphql.operation.type': 'subscription',
      'graphql.operation.name': 'Prices',
    });
    expect(update?.links).toMatchObject([{ traceId: head?.traceId, spanId: head?.spanId }]);
    expect(update?.traceId).not.toBe(head?.traceId);
  });

  test('has the address of a host by its scheme, and no call after the end of its poll', async () => {
    const spans = await spansOf((tracing) => {
      const poll = tracing.startPoll('head');
      const call = (url: string) => poll?.run(() => tracing.startCall('getpdestate', 'NODE', new URL(url))?.end());
      for (const url of ['https://node/rpc', 'http://node/rpc', 'https://node:9334/rpc']) call(url);
      poll?.published({ height: 1 });
      call('http://late/');
    });
    const calls = spans.filter(({ kind }) => kind === CLIENT);
    const addressOf = (attributes: readonly { key: string; value: Record<string, unknown> }[]) =>
      attributes.filter(({ key }) => key.startsWith('server.')).flatMap(({ value }) => Object.values(value));
    expect(calls.map(({ attributes }) => addressOf(attributes))).toEqual([
      ['node', 443],
      ['node', 80],
      ['node', 9_334],
    ]);
  });

  test('has no span for polls without a new block, and none of their calls', async () => {
    const receiver = await startOtlpReceiver();
    const gateway = await serveTraced({ marketPollMs: 60_000 }, receiver);
    const before = gateway.sandbox.node.calls('getblockchaininfo');
    await expect.poll(() => gateway.sandbox.node.calls('getblockchaininfo')).toBeGreaterThan(before + 5);
    const spans = await spansAfterClose(gateway, receiver);
    expect(spans.filter(({ name }) => name === 'poll head')).toHaveLength(1);
    const polls = new Set(spans.filter(({ name }) => name.startsWith('poll ')).map(({ spanId }) => spanId));
    const orphans = spans.filter(({ kind, parentSpanId }) => kind === CLIENT && !polls.has(parentSpanId ?? ''));
    expect(orphans).toEqual([]);
  });

  test('that cannot be read is one span with an error, and with the calls of that poll', async () => {
    const receiver = await startOtlpReceiver();
    const gateway = await serveTraced({ marketPollMs: 60_000 }, receiver);
    const before = gateway.sandbox.node.calls('getblockchaininfo');
    gateway.sandbox.node.faults.set({ kind: 'status', status: 503, on: 'getblockchaininfo' });
    await expect.poll(() => gateway.sandbox.node.calls('getblockchaininfo')).toBeGreaterThan(before + 2);
    const spans = await spansAfterClose(gateway, receiver);
    const failed = spans.filter(({ name, status }) => name === 'poll head' && status.code === ERROR);
    expect(failed.map(({ attributes }) => attributes)).toEqual([{ 'error.type': 'UPSTREAM_BAD_STATUS' }]);
    const calls = spans.filter(({ parentSpanId }) => parentSpanId === failed[0]?.spanId);
    expect(calls.map(({ name, attributes, status }) => [name, attributes['error.type'], status.code])).toEqual([
      ['getblockchaininfo', 'UPSTREAM_BAD_STATUS', ERROR],
    ]);
  });
});
