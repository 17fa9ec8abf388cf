import { STATUS_CODES } from 'node:http';
import { GraphQLError } from 'graphql';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ErrorCode } from '../../domain/error-codes.ts';
import { withoutStacks } from '../../errors.ts';
import { WrittenResult } from '../../graphql/execution/written-result.ts';

/** The extension `http` of an error, as in Yoga: what the error means for the HTTP response. */
export type HttpExtension = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the status is only for clients that prefer `application/graphql-response+json`. */
  readonly spec?: boolean;
};

/**
 * An error with that code, and that status for all clients. As in `placeError`, its message is well-formed Unicode.
 *
 * @param more further extensions
 */
export function errorOf(code: ErrorCode, message: string, http: HttpExtension, more: object = {}): GraphQLError {
  return withoutStacks(() => new GraphQLError(message.toWellFormed(), { extensions: { code, ...more, http } }));
}

/**
 * The error of an operation that is not executed. As in GraphQL over HTTP, its status is 400 for clients that prefer
 * `application/graphql-response+json`, and 200 for those that prefer `application/json`.
 */
export function refusal(code: ErrorCode, message: string, more: HttpExtension = {}): GraphQLError {
  return errorOf(code, message, { status: 400, spec: true, ...more });
}

/** The error of a request that is not a GraphQL request, with that status for all clients. */
export function requestError(status: number, message: string, headers: HttpExtension['headers'] = {}): GraphQLError {
  return errorOf('BAD_USER_INPUT', message, { status, headers });
}

/** The error of a request whose body has too many bytes. */
export function bodyTooLarge(): GraphQLError {
  return errorOf('QUERY_TOO_COMPLEX', 'Request body too large', { status: 413 });
}

/** The error of a subscription whose client accepts no event stream. */
export function noEventStream(): GraphQLError {
  return requestError(406, 'A subscription requires a websocket, or a client that accepts text/event-stream.');
}

/** The error of a request whose client accepts none of the media types of responses. */
export function notAcceptable(): GraphQLError {
  const types = 'application/graphql-response+json or application/json, or text/event-stream for a subscription';
  return requestError(406, `The Accept header must allow ${types}.`);
}

/** The error of a request whose body has another media type. */
export function notReadable(): GraphQLError {
  const message = 'Send the body as JSON in UTF-8, with the header "Content-Type: application/json".';
  return requestError(415, message, { 'accept-post': 'application/json' });
}

/** The error of a request with a compressed body. */
export function compressed(): GraphQLError {
  const message = 'Compressed request bodies are not supported. Send the body without Content-Encoding.';
  return requestError(415, message, { 'accept-encoding': 'identity' });
}

/** The error of a request that is refused until others have ended. */
export function tooManyAtOnce(message: string): GraphQLError {
  return errorOf('RATE_LIMITED', message, { status: 429 });
}

/** How long a client should wait before it names the same minimum height again. */
const RETRY_HEIGHT_MS = 1_000;

/** The error of a request whose minimum height the gateway has not reached. @param isTemporary whether it soon may */
export function heightNotReached(
  message: string,
  newest: BeaconHeight | undefined,
  isTemporary: boolean,
): GraphQLError {
  const known = newest === undefined ? 'It has no height yet.' : `Its newest height is ${newest}.`;
  const retry = isTemporary ? { retryAfterMs: RETRY_HEIGHT_MS } : {};
  const headers = isTemporary ? retryAfter(RETRY_HEIGHT_MS) : {};
  const http = { status: 412, spec: true, headers };
  return errorOf('HEIGHT_NOT_AVAILABLE', `${message} ${known}`, http, { beaconHeight: newest, ...retry });
}

/** The error of a request that exceeds the rate limit, with status 429 for all clients. */
export function overRate(retryAfterMs: number): GraphQLError {
  const message = `This client address exceeds the rate limit. Retry in ${retryAfterMs} ms.`;
  return errorOf('RATE_LIMITED', message, { status: 429, headers: retryAfter(retryAfterMs) }, { retryAfterMs });
}

function retryAfter(ms: number) {
  return { 'retry-after': String(Math.ceil(ms / 1_000)) };
}

/** An internal error as the response to an HTTP request, with status 500 for all clients. */
export function internalError(masked: GraphQLError): GraphQLError {
  return new GraphQLError(masked.message, { extensions: { ...masked.extensions, http: { status: 500 } } });
}

/** The status, headers and body of the HTTP response to a request that is refused before its operation is known. */
export function toRefusedResponse(error: GraphQLError) {
  const { status, headers } = statusOf({ errors: [error], isExecuted: false }, 'application/json');
  headers['content-type'] = 'application/json; charset=utf-8';
  return { status, headers, body: new WrittenResult(undefined, [error]).toText() };
}

type Answered = { readonly errors: readonly GraphQLError[] | undefined; readonly isExecuted: boolean };

/** The highest status of the errors, and all their headers. The response is a success without a status, and if it was executed. */
export function statusOf({ errors = [], isExecuted }: Answered, type: string) {
  let highest = 0;
  const headers: Record<string, string> = {};
  for (const { extensions } of isExecuted ? [] : errors) {
    const { http = {} } = extensions as { readonly http?: HttpExtension };
    for (const [name, value] of Object.entries(http.headers ?? {})) headers[name.toLowerCase()] = value;
    if (type !== 'application/graphql-response+json' && http.spec) continue;
    highest = Math.max(highest, http.status ?? 0);
  }
  return { status: highest || 200, headers };
}

/** An error as a complete HTTP response, after which the connection is closed. @param more further headers */
export function toHttpText(error: GraphQLError, more: Readonly<Record<string, string>> = {}): string {
  const { status, headers, body } = toRefusedResponse(error);
  const all = { ...more, ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}
