import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Server, ServerCredentials, type sendUnaryData } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import { onTestFinished } from 'vitest';
import type { Certificate } from './certificate.ts';

/** A span as OTLP's JSON has it, with its attributes as an object and its times as numbers. */
export type ReceivedSpan = {
  readonly name: string;
  readonly kind: number;
  readonly flags: number;
  readonly startTimeUnixNano: number;
  readonly endTimeUnixNano: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number };
  /** The attributes of the process that sent it. */
  readonly resource: Readonly<Record<string, unknown>>;
};

/** A request to the receiver. */
export type Received = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

/** An OpenTelemetry receiver: OTLP over HTTP or gRPC. */
export type OtlpReceiver = {
  readonly url: URL;
  readonly requests: readonly Received[];
  /** All spans, in the order of their starts. */
  spans(): readonly ReceivedSpan[];
};

/** A receiver to which nobody can connect. */
export const DOWN: OtlpReceiver = { url: new URL('http://127.0.0.1:1'), requests: [], spans: () => [] };

/** Starts a receiver for one test. @param answer responds to a request; by default with status 200 */
export async function startOtlpReceiver(answer: (response: ServerResponse) => void = succeed): Promise<OtlpReceiver> {
  const requests: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    requests.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) });
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    requests,
    spans: () => spansOfAll(requests),
  };
}

function spansOfAll(requests: readonly Received[]): readonly ReceivedSpan[] {
  return requests.flatMap(decodeSpans).toSorted((a, b) => a.startTimeUnixNano - b.startTimeUnixNano);
}

const EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

/**
 * Starts a receiver of gRPC for one test.
 *
 * @param answer responds to a request; by default that it has all spans
 * @param certificate of `localhost`; without it, the receiver is not encrypted
 */
export async function startGrpcReceiver(
  answer: (respond: sendUnaryData<Buffer>) => void = (respond) => respond(null, Buffer.alloc(0)),
  certificate?: Certificate,
): Promise<OtlpReceiver> {
  const requests: Received[] = [];
  const server = new Server();
  const [requestDeserialize, responseSerialize] = [(bytes: Buffer) => bytes, (bytes: Buffer) => bytes];
  const stream = { requestStream: false, responseStream: false } as const;
  const types = {
    requestDeserialize,
    responseSerialize,
    requestSerialize: Buffer.from,
    responseDeserialize: Buffer.from,
  };
  const service = { export: { path: EXPORT, ...stream, ...types } };
  server.addService(service, {
    export(
      { request, metadata }: { request: Buffer; metadata: { toHttp2Headers(): object } },
      respond: sendUnaryData<Buffer>,
    ) {
      const headers = Object.entries({ 'content-type': 'application/grpc', ...metadata.toHttp2Headers() });
      requests.push({
        path: EXPORT,
        headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
        body: request,
      });
      answer(respond);
    },
  });
  const { cert, key } = certificate ?? {};
  const keys = cert && key ? [{ cert_chain: Buffer.from(cert), private_key: Buffer.from(key) }] : undefined;
  const credentials = keys ? ServerCredentials.createSsl(null, keys) : ServerCredentials.createInsecure();
  const port = await promisify(server.bindAsync).call(server, '127.0.0.1:0', credentials);
  onTestFinished(() => server.forceShutdown());
  return {
    url: new URL(keys ? `https://localhost:${port}` : `http://127.0.0.1:${port}`),
    requests,
    spans: () => spansOfAll(requests),
  };
}

function succeed(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
}

const PROTO = fileURLToPath(new URL('otlp.proto', import.meta.url));
const exportRequest = protobuf.loadSync(PROTO).lookupType('opentelemetry.ExportTraceServiceRequest');

/** Decodes the body of a request to a receiver, in either encoding. */
function decodeSpans({ headers, body }: Pick<Received, 'headers' | 'body'>): ReceivedSpan[] {
  if (headers['content-type'] === 'application/json') return spansOf(JSON.parse(String(body)));
  const request = exportRequest.toObject(exportRequest.decode(body), { longs: String, bytes: Buffer, defaults: true });
  return spansOf(request as Batch);
}

/** In protobuf, ids are bytes, and what is not set has the default of its type. */
type Id = string | Buffer;
type Value = {
  readonly stringValue?: string;
  readonly intValue?: string;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly Value[] };
};
type Pair = { readonly key: string; readonly value: Value };
type Sent = {
  readonly name: string;
  readonly kind: number;
  readonly flags: number;
  readonly traceId: Id;
  readonly spanId: Id;
  readonly parentSpanId?: Id;
  readonly traceState?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Pair[];
  readonly links: readonly { readonly traceId: Id; readonly spanId: Id }[];
  readonly status: { readonly code: number } | null;
};
type Batch = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Pair[] };
    readonly scopeSpans: readonly { readonly spans: readonly Sent[] }[];
  }[];
};

function spansOf({ resourceSpans }: Batch): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ name, kind, flags, parentSpanId, traceState, ...span }) => ({
        ...{ name, kind, flags },
        traceId: toHex(span.traceId),
        spanId: toHex(span.spanId),
        ...(parentSpanId?.length ? { parentSpanId: toHex(parentSpanId) } : {}),
        ...(traceState ? { traceState } : {}),
        startTimeUnixNano: Number(span.startTimeUnixNano),
        endTimeUnixNano: Number(span.endTimeUnixNano),
        attributes: toObject(span.attributes),
        links: span.links.map(({ traceId, spanId }) => ({ traceId: toHex(traceId), spanId: toHex(spanId) })),
        status: { code: span.status?.code ?? 0 },
        resource: toObject(resource.attributes),
      })),
  );
}

function toHex(id: Id): string {
  return typeof id === 'string' ? id : id.toString('hex');
}

function toObject(pairs: readonly Pair[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, toValue(value)]));
}

function toValue({ stringValue, intValue, doubleValue, arrayValue }: Value): unknown {
  if (arrayValue !== undefined) return arrayValue.values.map(toValue);
  return stringValue ?? doubleValue ?? Number(intValue);
}
