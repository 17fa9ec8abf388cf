import type { Readable } from 'node:stream';
import { isTemporary } from '../../graphql/errors.ts';
import { type JsonText, toBytes, toWholeText } from '../../graphql/execution/written-result.ts';
import type { Subscribe } from '../../live/broadcast/broadcast.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { EncodedResponse, type EncodedUpdate, type StartedSubscription } from '../operations/encoded-response.ts';
import { EVENT_STREAM_HEADERS, toEventStream } from '../requests/event-stream.ts';
import { HEIGHT_HEADER, METHODS } from '../requests/headers.ts';
import { type Accepted, EVENT_STREAM, MULTIPART, type ResponseType } from '../requests/media-types.ts';
import { statusOf } from '../requests/refusal.ts';

/** A response before it is a `Response`. */
type Encoded = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | Readable;
};

type EncodeOptions = {
  readonly accepted: Accepted;
  readonly isGet: boolean;
  /** Opens an event stream. */
  readonly open: (updates: Subscribe<EncodedUpdate>) => Readable | '';
  readonly recordErrors: Metrics['recordErrors'];
};

/**
 * Encodes the result of a request: as JSON in the media type that the handler of plain requests would choose, as server-sent
 * events, or as one part. Yoga's own event streams execute updates ahead of a slow reader.
 */
export function encode(result: EncodedResponse | StartedSubscription, options: EncodeOptions): Encoded {
  const { accepted, isGet, open, recordErrors } = options;
  const { json, events, multipart } = accepted;
  if (!(result instanceof EncodedResponse))
    return { status: 200, headers: EVENT_STREAM_HEADERS, body: open(result.updates) };
  const { errors, facts } = result;
  recordErrors(errors);
  const endsStreams = json === undefined && isGet && cannotSucceed(result);
  const preferred = json ?? (multipart ? MULTIPART : events ? EVENT_STREAM : 'application/json');
  const type = endsStreams ? 'application/json' : preferred;
  const { status, headers } = statusOf(result, type === MULTIPART ? 'application/graphql-response+json' : type);
  if (headers['allow'] !== undefined) headers['allow'] = METHODS;
  if (facts.height !== undefined) headers[HEIGHT_HEADER] = String(facts.height);
  const encoded = encodeAs(type, result.body);
  return {
    status: endsStreams && status === 200 ? 400 : status,
    headers: { ...headers, ...encoded.headers },
    body: encoded.body,
  };
}

/** A result in that media type. */
function encodeAs(type: ResponseType, json: JsonText): Pick<Encoded, 'headers' | 'body'> {
  if (type === EVENT_STREAM) return { headers: EVENT_STREAM_HEADERS, body: toEventStream(toWholeText(json)) };
  if (type !== MULTIPART)
    return { headers: { 'content-type': `${type}; charset=utf-8` }, body: Buffer.concat(toBytes(json)) };
  const text = toWholeText(json);
  const part = `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  return { headers: { 'content-type': `${MULTIPART}; boundary="-"` }, body: `\r\n---\r\n${part}\r\n-----\r\n` };
}

/**
 * Whether the same operation can never succeed. An EventSource connects again after every stream that ends. It gives up only
 * at a status such as 400. A client that sends POST reads the errors from the stream, as in graphql-sse.
 */
function cannotSucceed({ hasData, errors = [] }: EncodedResponse): boolean {
  return !hasData && errors.length > 0 && !errors.some(isTemporary);
}
