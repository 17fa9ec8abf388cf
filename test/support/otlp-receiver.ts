import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A span as OTLP's JSON has it, with its attributes as an object. */
export type ReceivedSpan = {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number };
  /** The attributes of the process that sent it. */
  readonly resource: Readonly<Record<string, unknown>>;
};

/** A request to the receiver. */
export type Received = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

/** An OpenTelemetry receiver: OTLP over HTTP. */
export type OtlpReceiver = {
  readonly url: URL;
  readonly requests: readonly Received[];
  /** All spans that came as JSON. */
  spans(): readonly ReceivedSpan[];
};

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
    spans: () => requests.flatMap(({ body }) => spansOf(JSON.parse(String(body)))),
  };
}

function succeed(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
}

type Value = {
  readonly stringValue?: string;
  readonly intValue?: number;
  readonly arrayValue?: { readonly values: readonly Value[] };
};
type Pair = { readonly key: string; readonly value: Value };
type Sent = Omit<ReceivedSpan, 'attributes' | 'resource'> & { readonly attributes: readonly Pair[] };
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
      .map((span) => ({
        ...span,
        links: span.links ?? [],
        attributes: toObject(span.attributes),
        resource: toObject(resource.attributes),
      })),
  );
}

function toObject(pairs: readonly Pair[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, toValue(value)]));
}

function toValue({ stringValue, intValue, arrayValue }: Value): unknown {
  return arrayValue === undefined ? (stringValue ?? intValue) : arrayValue.values.map(toValue);
}
