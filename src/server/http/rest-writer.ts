import type { GraphQLError } from 'graphql';
import type { ErrorCode } from '../../domain/error-codes.ts';
import type { Instant } from '../../domain/instant.ts';
import { MAX_RETRY_AFTER_MS } from '../../errors.ts';
import type { RestDocument } from '../../rest/document.ts';
import { UDF_PREFIX } from '../../rest/rest-api.ts';
import { EXPOSED } from '../clients/origins.ts';
import { type AccessDetails, codesOf } from '../operations/log-details.ts';
import { commonHeaders, HEIGHT_HEADER, hasEtag, MIN_HEIGHT_HEADER, READ_METHODS } from '../requests/headers.ts';
import type { HttpExchange } from '../requests/http-exchange.ts';
import type { HttpExtension } from '../requests/refusal.ts';
import type { EndpointOptions } from '../transport-options.ts';
import type { OpenResponses } from './open-responses.ts';

/** A document that only changes with a release. */
export type FixedDocument = Pick<RestDocument, 'body' | 'etag' | 'contentType'>;

/** What the writer needs. */
export type RestWriterOptions = EndpointOptions & {
  readonly responses: OpenResponses;
  /** How often pairs and tickers are read: clients wait at least as long after an error that a retry can solve. */
  readonly marketPollMs: number;
};

/** Pages of all origins may read everything: it is public, and no response depends on who requests it. */
const CORS: readonly string[] = [
  ...['access-control-allow-origin', '*', 'access-control-expose-headers'],
  `age, etag, ${EXPOSED}`,
];

/** The status of each code. Those of upstreams and of the history have 503. */
const STATUSES: { readonly [Code in ErrorCode]?: number } = {
  BAD_USER_INPUT: 400,
  AMBIGUOUS_TICKER: 400,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  HEIGHT_NOT_AVAILABLE: 412,
  RATE_LIMITED: 429,
  INTERNAL_SERVER_ERROR: 500,
};

const NOT_AVAILABLE = 503;

/** What the response to a client needs of an error. */
type ErrorExtensions = {
  readonly code: ErrorCode;
  /** Of `AMBIGUOUS_TICKER`. */
  readonly poolIds?: readonly string[];
  readonly http?: HttpExtension;
};

/** Creates the writer of the responses of the REST API. As in `response-writer.ts`, all headers are written at once. */
export function createRestWriter(options: RestWriterOptions) {
  const { rates, responses, metrics, now, isSandbox, marketPollMs } = options;

  /** Sends a response with the headers that all have. Node sends no body in the response to a HEAD. */
  function end(
    exchange: HttpExchange,
    status: number,
    headers: readonly string[],
    access?: AccessDetails,
    body?: Buffer | string,
    retryAfter?: string,
  ): void {
    const { request, response, id } = exchange;
    const all = [...commonHeaders(id, isSandbox, responses.isLast(request)).flat(), ...CORS, ...headers];
    if (rates !== undefined) all.push(...rates.headersFor(request, retryAfter));
    if (retryAfter !== undefined) all.push('retry-after', retryAfter);
    if (body !== undefined) all.push('content-length', String(Buffer.byteLength(body)));
    response.writeHead(status, all).end(body);
    responses.trackWritten(exchange, access);
  }

  function write(
    exchange: HttpExchange,
    document: FixedDocument,
    headers: readonly string[],
    access?: AccessDetails,
  ): void {
    const { body, etag, contentType = 'application/json' } = document;
    const all = [...headers, 'etag', etag];
    if (exchange.response.destroyed) responses.track(exchange, access);
    else if (hasEtag(exchange.request, etag)) end(exchange, 304, all, access);
    else end(exchange, 200, [...all, 'content-type', contentType], access, body);
  }

  return {
    /** Sends a document with its age and for how long caches may use it, or 304 if the client already has it. */
    send(exchange: HttpExchange, document: RestDocument, access: AccessDetails): void {
      const { dependencies, height } = document;
      const at = now();
      const seconds = Math.max(0, Math.floor((dependencies.expectedUntil() - at) / 1_000));
      const headers = ['cache-control', `max-age=${seconds}`];
      const since = document.staleSince();
      if (since !== undefined) headers.push('age', String(Math.max(0, Math.floor((at - since) / 1_000))));
      headers.push('vary', document.contentType === undefined ? MIN_HEIGHT_HEADER : `${MIN_HEIGHT_HEADER}, accept`);
      if (height !== undefined) headers.push(HEIGHT_HEADER, String(height));
      write(exchange, document, headers, access);
    },
    /** Sends a document that only changes with a release, or 304 if the client already has it. */
    sendFixed(exchange: HttpExchange, document: FixedDocument): void {
      write(exchange, document, ['cache-control', 'no-cache']);
    },
    sendTime(exchange: HttpExchange, time: Instant): void {
      const headers = ['cache-control', 'no-store', 'content-type', 'text/plain'];
      end(exchange, 200, headers, undefined, String(Math.floor(time / 1_000)));
    },
    /** Sends the methods, and what a CORS preflight requests. */
    sendMethods(exchange: HttpExchange): void {
      const preflight = ['access-control-allow-methods', READ_METHODS, 'access-control-allow-headers', '*'];
      end(exchange, 204, ['allow', READ_METHODS, ...preflight, 'access-control-max-age', '86400']);
    },
    /**
     * Sends an error that was masked.
     *
     * @param retryMs how long the upstream requires clients to wait, or 0; `undefined` if a retry cannot succeed
     */
    fail(exchange: HttpExchange, error: GraphQLError, retryMs: number | undefined): void {
      const { request, response } = exchange;
      const { code, poolIds, http } = error.extensions as ErrorExtensions;
      const status = STATUSES[code] ?? NOT_AVAILABLE;
      // The log already has the errors of upstreams.
      const access = { errors: { codes: codesOf([error]), isNotable: status !== NOT_AVAILABLE } };
      metrics.recordErrors([error]);
      if (response.headersSent || response.destroyed) {
        response.destroy();
        responses.track(exchange, access);
        return;
      }
      const waitMs = Math.max(marketPollMs, Math.min(retryMs ?? 0, MAX_RETRY_AFTER_MS));
      const ofUpstream = retryMs === undefined ? undefined : String(Math.ceil(waitMs / 1_000));
      const retryAfter = status === NOT_AVAILABLE ? ofUpstream : http?.headers?.['retry-after'];
      const headers = ['cache-control', 'no-store', 'content-type', 'application/json'];
      if (status === 405) headers.push('allow', READ_METHODS);
      const { message } = error;
      // A chart shows the error of the datafeed's own shape.
      const named = request.url?.startsWith(UDF_PREFIX) ? { s: 'error', errmsg: message, code } : { code, message };
      const shown = { ...named, poolIds };
      end(exchange, status, headers, access, `${JSON.stringify(shown)}\n`, retryAfter);
    },
  };
}
