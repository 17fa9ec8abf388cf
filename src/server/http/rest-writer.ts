import type { GraphQLError } from 'graphql';
import type { ErrorCode } from '../../domain/error-codes.ts';
import type { Instant } from '../../domain/instant.ts';
import type { RestDocument } from '../../rest/document.ts';
import { UDF_PREFIX } from '../../rest/paths.ts';
import { type AccessDetails, codesOf } from '../operations/log-details.ts';
import { hasEtag } from '../requests/entity-tag.ts';
import { HEIGHT_HEADER, MIN_HEIGHT_HEADER, SANDBOX_HEADER } from '../requests/headers.ts';
import type { HttpExchange } from '../requests/http-exchange.ts';
import { REQUEST_ID_HEADER } from '../requests/request-id.ts';
import type { ResponseWriterOptions } from './response-writer.ts';

/** Writes the responses of the REST API. */
type RestWriter = {
  /** Sends a document with its age and for how long caches may use it, or 304 if the client already has it. */
  send(exchange: HttpExchange, document: RestDocument, access: AccessDetails): void;
  /** Sends a document that only changes with a release, or 304 if the client already has it. */
  sendFixed(exchange: HttpExchange, document: FixedDocument): void;
  /** Sends the time as whole Unix seconds. */
  sendTime(exchange: HttpExchange, time: Instant): void;
  /** Sends the methods, and what a CORS preflight requests. */
  sendMethods(exchange: HttpExchange): void;
  /** Sends an error that was masked. @param isRetryable whether a client may get a document later */
  fail(exchange: HttpExchange, error: GraphQLError, isRetryable: boolean): void;
};

type FixedDocument = Pick<RestDocument, 'body' | 'etag' | 'contentType'>;

/** What the writer needs. */
export type RestWriterOptions = Omit<ResponseWriterOptions, 'corsOrigins'> & {
  /** How often pairs and tickers are read: how long a client waits after an error of the market-data host. */
  readonly marketPollMs: number;
};

const METHODS = 'GET, HEAD, OPTIONS';

/** Pages of all origins may read everything: it is public, and no response depends on who requests it. */
const CORS: readonly string[] = [
  ...['access-control-allow-origin', '*', 'access-control-expose-headers'],
  `age, etag, ratelimit, ratelimit-policy, retry-after, ${HEIGHT_HEADER}, ${SANDBOX_HEADER[0]}, ${REQUEST_ID_HEADER}`,
];

/** The status of each code, and 503 for those of upstreams. */
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

/** Creates the writer. As in `response-writer.ts`, all headers of a response are written at once. */
export function createRestWriter(options: RestWriterOptions): RestWriter {
  const { rates, responses, metrics, now, isSandbox, isLast } = options;
  const retrySeconds = String(Math.ceil(options.marketPollMs / 1_000));

  function send(exchange: HttpExchange, document: RestDocument, access: AccessDetails): void {
    const { dependencies, height } = document;
    const at = now();
    const seconds = Math.max(0, Math.floor((dependencies.expectedUntil() - at) / 1_000));
    const headers = ['cache-control', `max-age=${seconds}`];
    const since = document.staleSince();
    if (since !== undefined) headers.push('age', String(Math.max(0, Math.floor((at - since) / 1_000))));
    headers.push('vary', document.contentType === undefined ? MIN_HEIGHT_HEADER : `${MIN_HEIGHT_HEADER}, accept`);
    if (height !== undefined) headers.push(HEIGHT_HEADER, String(height));
    write(exchange, document, headers, access);
  }

  function write(
    exchange: HttpExchange,
    document: FixedDocument,
    headers: readonly string[],
    access?: AccessDetails,
  ): void {
    const { body, etag, contentType = 'application/json' } = document;
    const { request, response } = exchange;
    if (response.destroyed) {
      responses.track(exchange, access);
      return;
    }
    const all = [...commonHeaders(exchange), ...headers, 'etag', etag];
    if (hasEtag(request, etag)) end(exchange, 304, all, access);
    else end(exchange, 200, [...all, ...contentHeaders(contentType, body)], access, body);
  }

  /** Sends a response. Node sends no body in the response to a HEAD. */
  function end(
    exchange: HttpExchange,
    status: number,
    headers: string[],
    access: AccessDetails | undefined,
    body?: Buffer | string,
  ): void {
    exchange.response.writeHead(status, headers).end(body);
    responses.trackWritten(exchange, access);
  }

  function fail(exchange: HttpExchange, error: GraphQLError, isRetryable: boolean): void {
    const { request, response } = exchange;
    const { code } = error.extensions as { readonly code: ErrorCode };
    const status = STATUSES[code] ?? NOT_AVAILABLE;
    // The log already has the errors of upstreams.
    const access = { errors: { codes: codesOf([error]), isNotable: status !== NOT_AVAILABLE } };
    metrics.recordErrors([error]);
    if (response.headersSent || response.destroyed) {
      response.destroy();
      responses.track(exchange, access);
      return;
    }
    const retryAfter = status === NOT_AVAILABLE ? (isRetryable ? retrySeconds : undefined) : retryAfterOf(error);
    const headers = [...commonHeaders(exchange, retryAfter), 'cache-control', 'no-store'];
    if (retryAfter !== undefined) headers.push('retry-after', retryAfter);
    if (status === 405) headers.push('allow', METHODS);
    const { message } = error;
    // A chart shows the error of the datafeed's own shape.
    const shown = request.url?.startsWith(UDF_PREFIX) ? { s: 'error', errmsg: message, code } : { code, message };
    const body = Buffer.from(`${JSON.stringify(shown)}\n`);
    end(exchange, status, [...headers, ...contentHeaders('application/json', body)], access, body);
  }

  function retryAfterOf({ extensions: { http } }: GraphQLError): string | undefined {
    return (http as { readonly headers?: Readonly<Record<string, string>> } | undefined)?.headers?.['retry-after'];
  }

  function commonHeaders({ request, id }: HttpExchange, retryAfter?: string): string[] {
    const all = isSandbox ? [REQUEST_ID_HEADER, id, ...SANDBOX_HEADER, ...CORS] : [REQUEST_ID_HEADER, id, ...CORS];
    if (rates !== undefined) all.push(...rates.headersFor(request, retryAfter));
    if (isLast(request)) all.push('connection', 'close');
    return all;
  }

  return {
    send,
    fail,
    sendTime(exchange, time) {
      const body = String(Math.floor(time / 1_000));
      const headers = ['cache-control', 'no-store', ...contentHeaders('text/plain', body)];
      end(exchange, 200, [...commonHeaders(exchange), ...headers], undefined, body);
    },
    sendFixed: (exchange, document) => write(exchange, document, ['cache-control', 'no-cache']),
    sendMethods(exchange) {
      const preflight = ['access-control-allow-methods', METHODS, 'access-control-allow-headers', '*'];
      const headers = ['allow', METHODS, ...preflight, 'access-control-max-age', '86400'];
      end(exchange, 204, [...commonHeaders(exchange), ...headers], undefined);
    },
  };
}

/** @param body ASCII characters, if it is a string */
function contentHeaders(contentType: string, body: Buffer | string): readonly string[] {
  return ['content-type', contentType, 'content-length', String(body.length)];
}
