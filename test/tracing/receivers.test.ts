import { status } from '@grpc/grpc-js';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createGateway } from '../../src/index.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { redactorOf } from '../../src/settings/secrets.ts';
import type { Config } from '../../src/settings/settings.ts';
import { startTracing } from '../../src/tracing/start.ts';
import { OTLP_PROTOCOLS, type OtlpProtocol } from '../../src/tracing/tracing.ts';
import { NEVER_MS } from '../support/gateway.ts';
import { createKeptLog, WARN } from '../support/log.ts';
import { DOWN, type OtlpReceiver, startGrpcReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { PARENT, post, SAMPLED, serveTraced, spansAfterClose } from '../support/traced-gateway.ts';

const PATHS: Record<OtlpProtocol, string> = {
  'http/protobuf': '/otlp/v1/traces',
  'http/json': '/otlp/v1/traces',
  grpc: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
};
const TYPES: Record<OtlpProtocol, string> = {
  'http/protobuf': 'application/x-protobuf',
  'http/json': 'application/json',
  grpc: 'application/grpc',
};

const startReceiver = (protocol: OtlpProtocol) => (protocol === 'grpc' ? startGrpcReceiver() : startOtlpReceiver());

const SECRET = 'a-secret-key';

describe.each(OTLP_PROTOCOLS)('a receiver of %s', (otelExporterOtlpProtocol) => {
  test('gets whole spans, with the configured headers', async () => {
    const receiver = await startReceiver(otelExporterOtlpProtocol);
    const otelExporterOtlpEndpoint = new URL('/otlp/', receiver.url.href.replace('//', '//someone:s3cr3t@'));
    const otelExporterOtlpHeaders = { 'x-api-key': SECRET };
    const gateway = await serveTraced(
      { otelExporterOtlpEndpoint, otelExporterOtlpHeaders, otelExporterOtlpProtocol, otelServiceName: 'gâteway' },
      receiver,
    );
    const before = Date.now();
    await post(gateway, { query: 'query Name { beaconHeight }' }, { traceparent: SAMPLED, 'x-request-id': 'r1' });
    const after = Date.now();
    const spans = await spansAfterClose(gateway, receiver);

    const [span] = spans.filter(({ parentSpanId }) => parentSpanId === PARENT);
    expect(span).toEqual({
      name: 'query',
      kind: 2,
      flags: 0x301,
      traceId: SAMPLED.split('-')[1],
      spanId: expect.stringMatching(/^[\da-f]{16}$/),
      parentSpanId: PARENT,
      startTimeUnixNano: expect.any(Number),
      endTimeUnixNano: expect.any(Number),
      attributes: {
        'network.protocol.name': 'http',
        'pdex.request_id': 'r1',
        'graphql.operation.type': 'query',
        'graphql.operation.name': 'Name',
        'pdex.cost_points': 1,
        'pdex.response_source': 'executed',
        'pdex.beacon_height': gateway.sandbox.chain.tip.height,
      },
      links: [],
      status: { code: 0 },
      resource: {
        'service.name': 'gâteway',
        'service.version': '0.0.0',
        'telemetry.sdk.language': 'nodejs',
        'telemetry.sdk.name': 'opentelemetry',
        'telemetry.sdk.version': expect.stringMatching(/^\d+\.\d+\.\d+$/),
      },
    });
    const { startTimeUnixNano = 0, endTimeUnixNano = 0 } = span ?? {};
    // Clocks differ by a millisecond.
    expect(startTimeUnixNano / 1e6).toBeGreaterThan(before - 2);
    expect(endTimeUnixNano).toBeGreaterThan(startTimeUnixNano);
    expect(endTimeUnixNano / 1e6).toBeLessThan(after + 2);

    const requests = receiver.requests.map(({ path, headers }) =>
      [path, headers['content-type'], headers['x-api-key'], headers.authorization].join(' '),
    );
    const basic = `Basic ${Buffer.from('someone:s3cr3t').toString('base64')}`;
    expect(new Set(requests)).toEqual(
      new Set([`${PATHS[otelExporterOtlpProtocol]} ${TYPES[otelExporterOtlpProtocol]} ${SECRET} ${basic}`]),
    );
    for (const secret of [SECRET, 's3cr3t']) expect(JSON.stringify(gateway.lines)).not.toContain(secret);
  });
});

// That of http/json is sent by the same client.
test.each<OtlpProtocol>(['http/protobuf', 'grpc'])(
  'a receiver of %s gets nothing that is only in the environment of a library',
  async (otelExporterOtlpProtocol) => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-of-app=secret');
    vi.stubEnv('OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'x-of-app=secret');
    vi.stubEnv('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://127.0.0.1:1');
    vi.stubEnv('OTEL_EXPORTER_OTLP_COMPRESSION', 'gzip');
    vi.stubEnv('OTEL_SERVICE_NAME', 'app');
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'of.app=1');
    vi.stubEnv('OTEL_TRACES_SAMPLER', 'always_off');
    for (const name of ['http_proxy', 'https_proxy', 'grpc_proxy']) vi.stubEnv(name, 'http://127.0.0.1:1');
    const receiver = await startReceiver(otelExporterOtlpProtocol);
    const gateway = await createGateway({
      otelExporterOtlpEndpoint: receiver.url.href,
      otelExporterOtlpProtocol,
      // Without an upstream, a sandbox would be started.
      fullnodeUrl: DOWN.url.href,
      historyDatabase: 'off',
      stopWindowMs: 0,
    });
    await (await gateway.fetch(new Request('http://any/graphql?query={beaconHeight}'))).text();
    await gateway.close();
    vi.unstubAllEnvs();
    const names = new Set(receiver.spans().map(({ resource }) => resource['service.name']));
    expect(names).toEqual(new Set(['pdex-gateway']));
    expect(receiver.spans().flatMap(({ resource }) => Object.keys(resource))).not.toContain('of.app');
    const headers = receiver.requests.flatMap((request) => Object.keys(request.headers));
    expect(headers.filter((name) => name === 'x-of-app' || name === 'content-encoding')).toEqual([]);
  },
);

/** Traces that are sent to a receiver, without a gateway. */
async function traceTo(receiver: OtlpReceiver, otelExporterOtlpProtocol: OtlpProtocol, timeoutMs = NEVER_MS) {
  const otelExporterOtlpHeaders = { 'x-api-key': SECRET };
  const { lines, log } = createKeptLog(redactorOf({ ...(readConfig([], {}) as Config), otelExporterOtlpHeaders }));
  const tracing = await startTracing({
    ...{ version: '0.0.0', otelServiceName: '', otelResourceAttributes: {}, otelExporterOtlpProtocol, log, timeoutMs },
    ...{ otelTracesSampler: 'always_on', otelTracesSamplerArg: 1, otelSdkDisabled: false },
    ...{ otelExporterOtlpEndpoint: receiver.url, otelExporterOtlpHeaders },
    ...{ httpProxy: undefined, httpsProxy: undefined, noProxy: [] },
  });
  onTestFinished(() => tracing?.close(0));
  return {
    lines,
    /** Records as many spans as the SDK sends at once. */
    recordBatch() {
      for (let n = 0; n < 512; n++) tracing?.startOperation('http', undefined, {})?.end();
    },
    warnings: () => lines.filter(({ level }) => level === WARN),
    close: async (waitMs: number) => tracing?.close(waitMs),
  };
}

test.each<[OtlpProtocol, string, string, () => Promise<OtlpReceiver>]>([
  ['http/protobuf', 'is down', 'connect ECONNREFUSED 127.0.0.1:1', async () => DOWN],
  [
    'http/protobuf',
    'refuses',
    'it responded with status 503',
    () => startOtlpReceiver((response) => response.writeHead(503, { 'retry-after': '0' }).end(SECRET)),
  ],
  [
    'http/protobuf',
    'has another path',
    'it responded with status 404: the gateway appends /v1/traces to the configured URL',
    () => startOtlpReceiver((response) => response.writeHead(404).end(SECRET)),
  ],
  [
    'grpc',
    'is down',
    'gRPC status UNAVAILABLE: No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1. Resolution note: ',
    async () => DOWN,
  ],
  [
    'grpc',
    'refuses',
    'gRPC status RESOURCE_EXHAUSTED: [redacted]',
    () => startGrpcReceiver((respond) => respond({ code: status.RESOURCE_EXHAUSTED, details: SECRET })),
  ],
  ['grpc', 'never responds', 'gRPC status CANCELLED: Cancelled on client', () => startGrpcReceiver(() => {})],
])('a receiver of %s that %s is one line of the log, and gets no span twice', async (protocol, how, error, start) => {
  const receiver = await start();
  const { lines, recordBatch, warnings, close } = await traceTo(receiver, protocol);
  for (let batches = 0; batches < 2; batches++) recordBatch();
  const isSilent = how === 'never responds';
  if (isSilent) await expect.poll(() => receiver.requests).toHaveLength(2);
  await close(isSilent ? 0 : NEVER_MS);
  await expect
    .poll(warnings)
    .toEqual([
      { level: WARN, msg: expect.stringMatching(/^spans are lost/), receiver: receiver.url.host, spans: 512, error },
    ]);
  expect(JSON.stringify(lines)).not.toContain(SECRET);
  const sent = receiver.spans().map(({ spanId }) => spanId);
  expect([sent.length, new Set(sent).size]).toEqual(receiver === DOWN ? [0, 0] : [1_024, 1_024]);
});

test('a receiver that does not use TLS, as its URL says it does, is logged with a hint', async () => {
  const receiver = await startOtlpReceiver();
  const url = new URL(receiver.url);
  url.protocol = 'https:';
  const { recordBatch, warnings } = await traceTo({ ...receiver, url }, 'http/protobuf');
  recordBatch();
  await expect.poll(warnings).toMatchObject([{ hint: 'the configured URL should perhaps begin with http://' }]);
});

test('a receiver that never responds changes no response, is one line of the log, and delays the end by a second at most', async () => {
  const receiver = await startOtlpReceiver(() => {});
  const gateway = await serveTraced({ maxOperationsPerRequest: 200 }, receiver);
  // The SDK sends 512 spans at once: these are more.
  const query = { query: '{ service { sandbox } }' };
  const queries = Array.from({ length: 200 }, () => query);
  const responses = await Promise.all([query, queries, queries, queries].map((body) => post(gateway, body)));
  const response = '{"data":{"service":{"sandbox":true}}}';
  const ofAll = `[${Array(200).fill(response).join(',')}]`;
  expect(responses).toEqual([response, ofAll, ofAll, ofAll]);
  const startedAt = performance.now();
  await gateway.app.close();
  // Without that second, it would wait for the receiver: for an hour, because that is the timeout of test gateways.
  expect(performance.now() - startedAt).toBeLessThan(120_000);
  const warnings = () => gateway.lines.filter(({ level, msg }) => level === WARN && msg.startsWith('spans are lost'));
  await expect.poll(warnings).toHaveLength(1);
  // On a busy machine, more batches wait for a receiver that never responds than the gateway sends at once.
  const error = expect.toBeOneOf(['The client is destroyed', 'it is too slow']);
  expect(warnings()).toMatchObject([{ receiver: receiver.url.host, spans: expect.any(Number), error }]);
});

test.each<[OtlpProtocol, string, () => Promise<OtlpReceiver>]>([
  ['http/protobuf', 'The operation was aborted due to timeout', () => startOtlpReceiver(() => {})],
  ['grpc', 'gRPC status DEADLINE_EXCEEDED', () => startGrpcReceiver(() => {})],
])('a receiver of %s has a timeout for a batch', async (protocol, error, start) => {
  const { recordBatch, warnings } = await traceTo(await start(), protocol, 100);
  recordBatch();
  await expect.poll(warnings).toMatchObject([{ spans: 512, error: expect.stringContaining(error) }]);
});

test('four batches are sent at the same time: while the receiver is slow, the spans of another one are lost', async () => {
  const receiver = await startOtlpReceiver(() => {});
  const { recordBatch, warnings } = await traceTo(receiver, 'http/protobuf');
  for (let batches = 1; batches <= 5; batches++) {
    recordBatch();
    await expect.poll(() => receiver.requests.length + warnings().length).toBe(batches);
  }
  expect(receiver.requests).toHaveLength(4);
  expect(warnings()).toMatchObject([{ spans: 512, error: 'it is too slow' }]);

  // A minute later, the log has those that are lost since then.
  const { now } = performance;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 60_000);
  onTestFinished(() => clock.mockRestore());
  recordBatch();
  await expect.poll(warnings).toHaveLength(2);
  expect(warnings()[1]).toMatchObject({ spans: 512 });
});
