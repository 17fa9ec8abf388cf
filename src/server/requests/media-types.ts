import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { MAX_ACCEPT_LENGTH } from './headers.ts';

/** The two media types of a JSON response. */
export type JsonType = 'application/json' | 'application/graphql-response+json';

/** The media type of server-sent events. */
export const EVENT_STREAM = 'text/event-stream';

/** The media type with one part for each result. */
export const MULTIPART = 'multipart/mixed';

/** A media type of a response to a GraphQL request. */
export type ResponseType = JsonType | typeof EVENT_STREAM | typeof MULTIPART;

/** The media types with the parameters that a client may require. If a client accepts both of JSON equally, the first is used. */
const JSON_TYPES = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8'];
const STREAM_TYPES = [`${EVENT_STREAM}; charset=utf-8`, `${MULTIPART}; charset=utf-8`];

/** Parameters of multipart responses: each client has a boundary and a protocol of its own. */
const OF_MULTIPART = /;\s*(?:boundary|subscriptionSpec|deferSpec)=(?:"[^"]*"|[^;,\s]*)/gi;

/** What a client accepts, by its header `Accept`. */
export type Accepted = {
  /** The preferred media type of JSON; `undefined` if it accepts none. */
  readonly json: JsonType | undefined;
  /** Whether it accepts server-sent events. */
  readonly events: boolean;
  readonly multipart: boolean;
};

/** Maximum number of header values in the cache. Usual clients send a handful. */
const MAX_CACHED = 200;

/** Creates the function that reads `Accept`. Without it, a client accepts everything. */
export function createNegotiation(): (accept: string | undefined | null) => Accepted {
  const cache = new LRUCache<string, Accepted>({ max: MAX_CACHED, memoMethod: negotiate });
  return (accept) => cache.memo(accept?.slice(0, MAX_ACCEPT_LENGTH) || '*/*');
}

function negotiate(accept: string): Accepted {
  const negotiator = new Negotiator({ headers: { accept: accept.replace(OF_MULTIPART, '') } });
  const [json] = negotiator.mediaType(JSON_TYPES)?.split(';') ?? [];
  const streams = negotiator.mediaTypes(STREAM_TYPES).map((type) => type.split(';')[0]);
  return {
    json: json as JsonType | undefined,
    events: streams.includes(EVENT_STREAM),
    multipart: streams.includes(MULTIPART),
  };
}

/** The format of a request body: JSON with the operation, or only the text of the operation. */
export type BodyKind = 'json' | 'graphql';

const KINDS: ReadonlyMap<string, BodyKind> = new Map([
  ['application/json', 'json'],
  ['application/graphql+json', 'json'],
  ['application/graphql', 'graphql'],
]);

/** Reads a `Content-Type` header. @returns `undefined` for a media type or a charset that is not supported */
export function readContentType(contentType: string | undefined): BodyKind | undefined {
  if (contentType === 'application/json') return 'json';
  // A list is not a valid content type, but some clients send one.
  const [type = '', ...parameters] = (contentType ?? '').split(',', 1).join().toLowerCase().split(';');
  return parameters.every(isUtf8Parameter) ? KINDS.get(type.trim()) : undefined;
}

/** Whether a parameter is not another charset than UTF-8. These types have no other parameters with a meaning. */
function isUtf8Parameter(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=', 2);
  return name.trim() !== 'charset' || /^"?utf-?8"?$/.test(value.trim());
}

/** Whether a `Content-Encoding` header names a coding. Codings are written in any case (RFC 9110, 8.4.1). */
export function isCompressed(contentEncoding: string | null | undefined): boolean {
  return !['', 'identity'].includes((contentEncoding ?? '').trim().toLowerCase());
}
