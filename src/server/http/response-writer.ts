import type { Readable } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { createEtag } from '../../domain/entity-tag.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Dependencies } from '../../loaders/dependencies.ts';
import { corsHeaders, varyHeader } from '../clients/origins.ts';
import { type EncodedResponse, refusedResponse } from '../operations/encoded-response.ts';
import type { AccessDetails, OperationLabel } from '../operations/log-details.ts';
import { EVENT_STREAM_HEADERS } from '../requests/event-stream.ts';
import {
  COST_HEADER,
  commonHeaders,
  HEIGHT_HEADER,
  hasEtag,
  IMMUTABLE,
  MIN_HEIGHT_HEADER,
} from '../requests/headers.ts';
import { type HttpExchange, isRead } from '../requests/http-exchange.ts';
import type { JsonType } from '../requests/media-types.ts';
import { statusOf } from '../requests/refusal.ts';
import type { TransportOptions } from '../transport-options.ts';
import type { OpenResponses } from './open-responses.ts';

/** Writes the responses of the GraphQL endpoint. */
export type ResponseWriter = ReturnType<typeof createResponseWriter>;

type ResponseWriterOptions = Pick<TransportOptions, 'now' | 'rates' | 'metrics' | 'corsOrigins' | 'isSandbox'> & {
  readonly responses: OpenResponses;
};

/** Creates the writer. It writes all headers of a response at once, because setting them one by one takes longer. */
export function createResponseWriter(options: ResponseWriterOptions) {
  const { now, rates, responses, metrics, corsOrigins, isSandbox } = options;
  const varying = `accept, ${COST_HEADER}, ${MIN_HEIGHT_HEADER}`;
  const vary = { get: varyHeader(varying, corsOrigins), post: varyHeader(undefined, corsOrigins) };

  /** Sends a response, or 304 if the client already has it. */
  function send(exchange: HttpExchange, type: JsonType, encoded: EncodedResponse, access?: AccessDetails): void {
    const { request, response } = exchange;
    const isGet = isRead(request);
    const { body, bytes, errors } = encoded;
    const { height } = encoded.facts;
    const { status, headers } = statusOf(encoded, type);
    if (response.destroyed) {
      responses.track(exchange, access);
      return;
    }
    metrics.recordErrors(errors);
    const all = headersOf(exchange);
    if (rates !== undefined) all.push(...rates.headersFor(request, headers['retry-after']));
    if (height !== undefined) all.push(HEIGHT_HEADER, String(height));
    // Caches do not store responses to POST.
    const dependencies =
      isGet && encoded.facts.dependencies?.areCurrent(now()) ? encoded.facts.dependencies : undefined;
    const etag = dependencies && etagOf(encoded, type);
    if (isGet) all.push('cache-control', dependencies ? cacheControlOf(dependencies, now()) : 'no-store');
    if (etag !== undefined) all.push('etag', etag);
    if (etag !== undefined && hasEtag(request, etag)) {
      response.writeHead(304, all);
      response.end();
    } else {
      all.push('content-type', `${type}; charset=utf-8`, 'content-length', String(bytes));
      all.push(...Object.entries(headers).flat());
      response.writeHead(status, all);
      for (const piece of body.slice(0, -1)) response.write(piece);
      response.end(body.at(-1));
    }
    responses.trackWritten(exchange, access);
  }

  /** Sends an event stream. It is not opened for a HEAD. */
  function stream(exchange: HttpExchange, open: () => Readable, access: AccessDetails): void {
    const { request, response } = exchange;
    begin(exchange, access);
    response.writeHead(200, EVENT_STREAM_HEADERS);
    if (request.method === 'HEAD') response.end();
    else open().pipe(response);
  }

  function refuse(
    exchange: HttpExchange,
    type: JsonType | undefined,
    error: GraphQLError,
    label?: OperationLabel,
  ): void {
    const response = refusedResponse(error);
    send(exchange, type ?? 'application/json', response, { ...(label && { label }), ...response.accessDetails });
  }

  /** Sets the common headers of a response that others write, and tracks it. Caches do not store it, unless its writer allows that. */
  function begin(exchange: HttpExchange, access?: AccessDetails, retryAfter?: string): void {
    const { request, response } = exchange;
    responses.track(exchange, access);
    const all = headersOf(exchange);
    if (request.method !== 'OPTIONS') all.push(...(rates?.headersFor(request, retryAfter) ?? []));
    if (isRead(request)) all.push('cache-control', 'no-store');
    for (let n = 0; n < all.length; n += 2) response.setHeader(all[n] ?? '', all[n + 1] ?? '');
  }

  function headersOf({ request, id }: HttpExchange): string[] {
    const common = commonHeaders(id, isSandbox, responses.isLast(request)).flat();
    return [...common, ...(isRead(request) ? vary.get : vary.post), ...corsHeaders(request, corsOrigins)];
  }

  return { send, stream, refuse, begin };
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
