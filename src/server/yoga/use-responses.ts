import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { concatTexts, type JsonText, toTextOrBytes, toWholeText } from '../../graphql/execution/json-text.ts';
import { hasData, WrittenResult } from '../../graphql/execution/written-result.ts';
import type { Subscribe } from '../../live/broadcast/broadcast.ts';
import { whenClosed } from '../clients/closing.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { EncodedUpdate } from '../operations/encoded-update.ts';
import { HEIGHT_HEADER } from '../requests/headers.ts';
import { accepts, createAcceptedTypes, type JsonType } from '../requests/media-types.ts';
import { badRequest, statusOf, toRefusedResponse } from '../requests/refusal.ts';
import { createEventStream, EVENT_STREAM_HEADERS, toEventStream } from './event-stream.ts';

/** What encoding responses needs. */
export type UseResponsesOptions = {
  /** An event stream without events sends a comment this often. */
  readonly keepAliveMs: number;
  /** Called with each event stream that has no HTTP response. */
  readonly trackStream: (stream: Readable) => void;
  readonly metrics: Pick<Metrics, 'recordErrors'>;
  /** Called with internal errors that abort an event stream. */
  readonly internal: (error: unknown) => void;
};

/** The result of one operation: from the pipeline, or errors of Yoga. */
type Result = WrittenResult | Subscribe<EncodedUpdate> | { readonly errors: readonly GraphQLError[] };

/** A response before it is a `Response`. */
type Encoded = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | ReadableStream;
};

/**
 * Encodes results, in the place of Yoga: as JSON in the media type that the handler of plain queries would choose, or as
 * server-sent events. Yoga's own event streams execute updates ahead of a slow reader.
 */
export function useResponses({ keepAliveMs, trackStream, metrics, internal }: UseResponsesOptions): Plugin {
  const acceptedType = createAcceptedTypes();

  function openEventStream(updates: Subscribe<EncodedUpdate>, { signal }: Request, response?: ServerResponse) {
    const events = createEventStream(updates, keepAliveMs);
    if (response === undefined) trackStream(events);
    events.once('error', (error) => {
      internal(error);
      response?.destroy();
    });
    const abort = () => events.destroy();
    // Yoga does not abort the signal of a response that was closed before.
    if (response !== undefined) whenClosed(response, abort);
    else if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    // Yoga's Response sends a Readable as it is, though its type knows web streams only.
    return events as unknown as ReadableStream;
  }

  function encode(result: Result | readonly Result[], request: Request, response?: ServerResponse): Encoded {
    const isHead = response?.req.method === 'HEAD';
    const accept = request.headers.get('accept') ?? undefined;
    const jsonType = acceptedType(accept);
    const type = jsonType ?? (accepts(accept, MULTIPART) ? MULTIPART : EVENT_STREAM);
    if (isList(result)) {
      const all = result.map((each) => (isSubscription(each) ? IN_AN_ARRAY : toWritten(each)));
      for (const { errors = [] } of all) metrics.recordErrors(errors);
      const entries = all.flatMap((each, index) => [index === 0 ? '[' : ',', each.toJson()]);
      return withHeight(encodeAs(type, concatTexts([...entries, ']'])), all);
    }
    if (isSubscription(result)) {
      if (accepts(accept, EVENT_STREAM)) {
        const body = isHead ? '' : openEventStream(result, request, response);
        return { status: 200, headers: EVENT_STREAM_HEADERS, body };
      }
      const error = badRequest(406, accepts(accept, MULTIPART) ? `${NO_MULTIPART} ${NO_STREAM}` : NO_STREAM);
      metrics.recordErrors([error]);
      return encodeAs(jsonType ?? 'application/json', new WrittenResult(undefined, [error]).toJson(), [error]);
    }
    const written = toWritten(result);
    metrics.recordErrors(written.errors ?? []);
    if (jsonType !== undefined || request.method !== 'GET' || !isFinal(written))
      return withHeight(encodeAs(type, written.toJson(), written.errors), [written]);
    const encoded = encodeAs('application/json', written.toJson(), written.errors);
    return encoded.status === 200 ? { ...encoded, status: 400 } : encoded;
  }

  return {
    onRequestParse({ request, endResponse, fetchAPI }) {
      const accept = request.headers.get('accept') ?? undefined;
      if (acceptedType(accept) !== undefined || accepts(accept, EVENT_STREAM) || accepts(accept, MULTIPART)) return;
      metrics.recordErrors([NOT_ACCEPTED]);
      const { status, headers, body } = toRefusedResponse(NOT_ACCEPTED);
      endResponse(new fetchAPI.Response(body, { status, headers }));
    },
    onResponse({ response: { headers } }) {
      if (headers.has('allow')) headers.set('allow', 'GET, HEAD, POST');
    },
    onResultProcess({ request, result, setResultProcessor, serverContext }) {
      const { res } = serverContext as { readonly res?: ServerResponse };
      const { status, headers, body } = encode(result as never, request, res);
      setResultProcessor((_result, { Response }) => new Response(body as BodyInit, { status, headers }), '*/*');
    },
  };
}

const EVENT_STREAM = 'text/event-stream';
const MULTIPART = 'multipart/mixed';

/** A result, or the results of an array, in that media type, with the status of its errors. */
function encodeAs(
  type: JsonType | typeof EVENT_STREAM | typeof MULTIPART,
  json: JsonText,
  errors: readonly GraphQLError[] = [],
): Encoded {
  const { status, headers } = statusOf(errors, type === MULTIPART ? 'application/graphql-response+json' : type);
  if (type !== EVENT_STREAM && type !== MULTIPART)
    return { status, headers: { ...headers, 'content-type': `${type}; charset=utf-8` }, body: toTextOrBytes(json) };
  const text = toWholeText(json);
  if (type === EVENT_STREAM)
    return { status, headers: { ...headers, ...EVENT_STREAM_HEADERS }, body: toEventStream(text) };
  const part = `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  const body = `\r\n---\r\n${part}\r\n-----\r\n`;
  return { status, headers: { ...headers, 'content-type': `${MULTIPART}; boundary="-"` }, body };
}

/** Adds the header with the highest height that the results describe. */
function withHeight(encoded: Encoded, results: readonly WrittenResult[]): Encoded {
  const heights = results.flatMap(({ height }) => height ?? []);
  if (heights.length === 0) return encoded;
  return { ...encoded, headers: { ...encoded.headers, [HEIGHT_HEADER]: String(Math.max(...heights)) } };
}

const NOT_ACCEPTED = badRequest(
  406,
  'The Accept header must allow application/graphql-response+json or application/json, or text/event-stream for a subscription.',
);
const NO_STREAM = 'A subscription requires a websocket, or a client that accepts text/event-stream.';
const NO_MULTIPART = 'Multipart subscriptions are not supported.';
const IN_AN_ARRAY = new WrittenResult(undefined, [
  new GraphQLError('An array of operations cannot contain a subscription.', { extensions: { code: 'BAD_USER_INPUT' } }),
]);

function isList(result: Result | readonly Result[]): result is readonly Result[] {
  return Array.isArray(result);
}

function isSubscription(result: Result): result is Subscribe<EncodedUpdate> {
  return typeof result === 'function';
}

function toWritten(result: Exclude<Result, Subscribe<EncodedUpdate>>): WrittenResult {
  return result instanceof WrittenResult ? result : new WrittenResult(undefined, result.errors);
}

/**
 * Whether the same operation can never succeed. An EventSource connects again after every stream that ends. It gives up only
 * at a status such as 400. A client that sends POST reads the errors from the stream, as in graphql-sse.
 */
function isFinal(result: WrittenResult): boolean {
  const { errors = [] } = result;
  return !hasData(result) && errors.length > 0 && !errors.some(isTemporary);
}

/** Whether an error is of an upstream, of the gateway or of this moment. */
function isTemporary({ extensions: { code, retryAfterMs } }: GraphQLError): boolean {
  if (retryAfterMs !== undefined) return true;
  if (typeof code !== 'string' || code === 'RATE_LIMITED' || code === 'INTERNAL_SERVER_ERROR') return true;
  return code.startsWith('UPSTREAM_') && code !== 'UPSTREAM_NOT_CONFIGURED';
}
