import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { createEtag } from '../../domain/entity-tag.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Dependencies } from '../../loaders/dependencies.ts';
import { corsHeaders, varyHeader } from '../clients/origins.ts';
import type { RateLimits } from '../clients/rate-limits.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { EncodedResponse } from '../operations/encoded-response.ts';
import type { AccessDetails } from '../operations/log-details.ts';
import { EVENT_STREAM_HEADERS } from '../requests/event-stream.ts';
import {
  COST_HEADER,
  HEIGHT_HEADER,
  hasEtag,
  IMMUTABLE,
  MIN_HEIGHT_HEADER,
  SANDBOX_HEADER,
} from '../requests/headers.ts';
import { type HttpExchange, isRead, REQUEST_ID_HEADER } from '../requests/http-exchange.ts';
import type { JsonType } from '../requests/media-types.ts';
import { statusOf, toRefusedResponse } from '../requests/refusal.ts';
import type { OpenResponses } from './open-responses.ts';

/** Writes the responses of the GraphQL endpoint. */
export type ResponseWriter = {
  /** Sends a response, or 304 if the client already has it. @param access what the access log says about it */
  send(exchange: HttpExchange, type: JsonType, encoded: EncodedResponse, access?: AccessDetails): void;
  /** Sends an event stream. It is not opened for a HEAD. */
  stream(exchange: HttpExchange, open: () => Readable, access: AccessDetails): void;
  /** Sends the error of a request that is refused. */
  refuse(exchange: HttpExchange, type: JsonType | undefined, error: GraphQLError, access: AccessDetails): void;
  /**
   * Sets the common headers of a response that others write, and tracks it. Caches do not store it, unless its writer allows that.
   *
   * @param retryAfter its header `retry-after`, in seconds
   */
  begin(exchange: HttpExchange, access?: AccessDetails, retryAfter?: string): void;
};

/** What writing responses needs. */
export type ResponseWriterOptions = {
  readonly now: () => Instant;
  readonly rates: RateLimits | undefined;
  readonly responses: OpenResponses;
  readonly metrics: Pick<Metrics, 'recordErrors'>;
  /** Origins whose pages may send operations, besides the gateway's own. */
  readonly corsOrigins: readonly string[];
  /** Whether the data is simulated. */
  readonly isSandbox: boolean;
  /** Whether the response to a request is the last on its connection. */
  readonly isLast: (request: IncomingMessage) => boolean;
};

/** Creates the writer. It writes all headers of a response at once, because setting them one by one takes longer. */
export function createResponseWriter({
  now,
  rates,
  responses,
  metrics,
  corsOrigins,
  isSandbox,
  isLast,
}: ResponseWriterOptions): ResponseWriter {
  const varying = `accept, ${COST_HEADER}, ${MIN_HEIGHT_HEADER}`;
  const vary = { get: varyHeader(varying, corsOrigins), post: varyHeader(undefined, corsOrigins) };

  function send(exchange: HttpExchange, type: JsonType, encoded: EncodedResponse, access?: AccessDetails): void {
    const { request, response } = exchange;
    const isGet = isRead(request);
    const { body, bytes, errors } = encoded;
    const { height } = encoded.facts;
    const { status, headers } = errors === undefined ? SUCCESS : statusOf(errors, type);
    if (response.destroyed) {
      responses.track(exchange, access);
      return;
    }
    metrics.recordErrors(errors);
    const all = commonHeaders(exchange);
    if (rates !== undefined) all.push(...rates.headersFor(request, headers['retry-after']));
    if (height !== undefined) all.push(HEIGHT_HEADER, String(height));
    const { etag, cacheControl } = isGet ? cacheHeadersOf(encoded, type, now()) : POSTED;
    if (cacheControl !== undefined) all.push('cache-control', cacheControl);
    if (etag !== undefined) all.push('etag', etag);
    if (etag !== undefined && hasEtag(request, etag)) {
      response.writeHead(304, all);
      response.end();
    } else {
      all.push('content-type', CONTENT_TYPES[type], 'content-length', String(bytes));
      if (headers !== NO_HEADERS) all.push(...Object.entries(headers).flat());
      response.writeHead(status, all);
      for (const piece of body.slice(0, -1)) response.write(piece);
      response.end(body.at(-1));
    }
    responses.trackWritten(exchange, access);
  }

  function stream(exchange: HttpExchange, open: () => Readable, access: AccessDetails): void {
    const { request, response } = exchange;
    begin(exchange, access);
    response.writeHead(200, EVENT_STREAM_HEADERS);
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    open().pipe(response);
  }

  function refuse(
    exchange: HttpExchange,
    type: JsonType | undefined,
    error: GraphQLError,
    access: AccessDetails,
  ): void {
    const { status, headers, body } = toRefusedResponse(error, type);
    metrics.recordErrors([error]);
    begin(exchange, access, headers['retry-after']);
    exchange.response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  }

  function begin(exchange: HttpExchange, access?: AccessDetails, retryAfter?: string): void {
    const { request, response } = exchange;
    responses.track(exchange, access);
    const all = commonHeaders(exchange);
    if (request.method !== 'OPTIONS') all.push(...(rates?.headersFor(request, retryAfter) ?? []));
    if (isRead(request)) all.push('cache-control', 'no-store');
    for (let n = 0; n < all.length; n += 2) response.setHeader(all[n] ?? '', all[n + 1] ?? '');
  }

  function commonHeaders({ request, id }: HttpExchange): string[] {
    const isGet = isRead(request);
    const all = isSandbox ? [REQUEST_ID_HEADER, id, ...SANDBOX_HEADER] : [REQUEST_ID_HEADER, id];
    if (isGet || corsOrigins.length > 0) all.push(...(isGet ? vary.get : vary.post));
    if (corsOrigins.length > 0) all.push(...corsHeaders(request, corsOrigins));
    if (isLast(request)) all.push('connection', 'close');
    return all;
  }

  return { send, stream, refuse, begin };
}

const CONTENT_TYPES: Readonly<Record<JsonType, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'application/graphql-response+json': 'application/graphql-response+json; charset=utf-8',
};

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** The status of a response without errors. */
const SUCCESS = { status: 200, headers: NO_HEADERS };

/** Caches do not store responses to POST. */
const POSTED = { etag: undefined, cacheControl: undefined };

/** The headers for caches of a response to a GET. */
type CacheHeaders = { readonly etag: string | undefined; readonly cacheControl: string };

const NOT_CACHEABLE: CacheHeaders = { etag: undefined, cacheControl: 'no-store' };

/** How long caches may use a response, and the entity tag with which they revalidate it afterwards. */
function cacheHeadersOf(response: EncodedResponse, type: JsonType, now: Instant): CacheHeaders {
  const { dependencies } = response.facts;
  if (dependencies === undefined || !dependencies.areCurrent(now)) return NOT_CACHEABLE;
  return { etag: etagOf(response, type), cacheControl: cacheControlOf(dependencies, now) };
}

/** One tag for each media type: they are different representations. */
function etagOf(response: EncodedResponse, type: JsonType): string {
  response.etags ??= {};
  response.etags[type] ??= createEtag(type, ...response.body);
  return response.etags[type];
}

function cacheControlOf(dependencies: Dependencies, now: Instant): string {
  if (dependencies.areOfFinalHeights()) return IMMUTABLE;
  const seconds = Math.floor((dependencies.expectedUntil() - now) / 1_000);
  // With no-cache, a cache may store the response, and revalidates it each time.
  return seconds >= 1 && seconds !== Number.POSITIVE_INFINITY ? `max-age=${seconds}` : 'no-cache';
}
