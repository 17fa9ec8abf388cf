import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLError } from 'graphql';
import type { Instant } from '../../domain/instant.ts';
import type { Dependencies } from '../../loaders/dependencies.ts';
import { corsHeaders, varyHeader } from '../clients/origins.ts';
import type { RateLimits } from '../clients/rate-limits.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { EncodedResponse } from '../operations/encoded-response.ts';
import { createEtag, hasEtag, IMMUTABLE } from '../requests/entity-tag.ts';
import { COST_HEADER, HEIGHT_HEADER, MIN_HEIGHT_HEADER, SANDBOX_HEADER } from '../requests/headers.ts';
import type { JsonType } from '../requests/media-types.ts';
import { statusOf, toRefusedResponse } from '../requests/refusal.ts';
import { REQUEST_ID_HEADER } from '../requests/request-id.ts';
import { isRead } from '../requests/target.ts';
import type { HttpExchange, OpenResponses } from './open-responses.ts';

/** Writes the responses of the GraphQL endpoint. */
export type ResponseWriter = {
  /** Sends a response, or 304 if the client already has it. */
  send(exchange: HttpExchange, type: JsonType, encoded: EncodedResponse): void;
  /** Sends the error of a request that is refused. */
  refuse(exchange: HttpExchange, type: JsonType, error: GraphQLError): void;
  /** Sets the common headers of a response that others write. Caches do not store it, unless its writer allows that. */
  begin(exchange: HttpExchange): void;
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

  function send(exchange: HttpExchange, type: JsonType, encoded: EncodedResponse): void {
    const { request, response } = exchange;
    const isGet = isRead(request);
    const { body, bytes, errors, heightText } = encoded;
    const { status, headers } = errors === undefined ? SUCCESS : statusOf(errors, type);
    if (response.destroyed) {
      responses.track(exchange);
      return;
    }
    if (errors !== undefined) metrics.recordErrors(errors);
    const all = commonHeaders(exchange);
    if (rates !== undefined) all.push(...rates.headersFor(request, headers['retry-after']));
    if (heightText !== undefined) all.push(HEIGHT_HEADER, heightText);
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
      const last = body.length - 1;
      for (let index = 0; index < last; index++) response.write(body[index]);
      response.end(body[last], 'latin1');
    }
    responses.trackWritten(exchange);
  }

  function refuse(exchange: HttpExchange, type: JsonType, error: GraphQLError): void {
    const { request, response } = exchange;
    const { status, headers, body } = toRefusedResponse(error, type);
    metrics.recordErrors([error]);
    begin(exchange);
    setAll(response, rates?.headersFor(request, headers['retry-after']) ?? []);
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  }

  function begin(exchange: HttpExchange): void {
    responses.track(exchange);
    setAll(exchange.response, commonHeaders(exchange));
    if (isRead(exchange.request)) exchange.response.setHeader('cache-control', 'no-store');
  }

  function commonHeaders({ request, id }: HttpExchange): string[] {
    const isGet = isRead(request);
    const all = isSandbox ? [REQUEST_ID_HEADER, id, ...SANDBOX_HEADER] : [REQUEST_ID_HEADER, id];
    if (isGet || corsOrigins.length > 0) all.push(...(isGet ? vary.get : vary.post));
    if (corsOrigins.length > 0) all.push(...corsHeaders(request, corsOrigins));
    if (isLast(request)) all.push('connection', 'close');
    return all;
  }

  return { send, refuse, begin };
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

function setAll(response: ServerResponse, headers: readonly string[]): void {
  for (let n = 0; n < headers.length; n += 2) response.setHeader(headers[n] ?? '', headers[n + 1] ?? '');
}

/** The headers for caches of a response to a GET. */
type CacheHeaders = { readonly etag: string | undefined; readonly cacheControl: string };

const NOT_CACHEABLE: CacheHeaders = { etag: undefined, cacheControl: 'no-store' };

/** How long caches may use a response, and the entity tag with which they revalidate it afterwards. */
function cacheHeadersOf(response: EncodedResponse, type: JsonType, now: Instant): CacheHeaders {
  const { dependencies } = response;
  if (dependencies === undefined || !dependencies.areCurrent(now)) return NOT_CACHEABLE;
  return { etag: etagOf(response, type), cacheControl: cacheControlOf(dependencies, now) };
}

/** One tag for each media type: they are different representations. */
function etagOf(response: EncodedResponse, type: JsonType): string {
  response.etags ??= {};
  response.etags[type] ??= createEtag(type, response.body);
  return response.etags[type];
}

function cacheControlOf(dependencies: Dependencies, now: Instant): string {
  if (dependencies.areOfFinalHeights()) return IMMUTABLE;
  const seconds = Math.floor((dependencies.expectedUntil() - now) / 1_000);
  // With no-cache, a cache may store the response, and revalidates it each time.
  return seconds >= 1 && seconds !== Number.POSITIVE_INFINITY ? `max-age=${seconds}` : 'no-cache';
}
