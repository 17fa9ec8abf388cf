import type { GraphQLError } from 'graphql';
import { type JsonText, toBytes } from '../../graphql/execution/json-text.ts';
import { type ErrorSummary, summarizeErrors } from '../operations/log-details.ts';
import type { Executed } from '../operations/pipeline.ts';
import type { JsonType } from './media-types.ts';

/**
 * The bytes of a response body, one piece after another. A short one is a string with one character for each byte (Latin-1),
 * which Node sends together with the headers.
 */
type ResponseBody = readonly [string] | readonly Buffer[];

/** A response to a query, in one of the two JSON media types. */
export type EncodedResponse = {
  readonly status: number;
  /** Headers of its errors, such as `retry-after`: names and values alternate. */
  readonly headers: readonly string[];
  readonly body: ResponseBody;
  /** The length of the body. */
  readonly bytes: number;
  /** Points that the operation took from its client's rate limit. */
  readonly points: number;
  /** What the data depends on; `undefined` if it must not be cached. */
  readonly dependencies: Executed['dependencies'];
  /** The errors, for the access log. */
  readonly errors: ErrorSummary | undefined;
  /** Its entity tag in each media type, from the first time that it is sent with one. */
  etags: Partial<Record<JsonType, string>> | undefined;
};

/** A longer body is sent faster as a separate buffer. */
const MAX_STRING_BYTES = 8_192;

/** Encodes a result as GraphQL over HTTP. */
export function encodeResponse({ result, dependencies }: Executed, type: JsonType, points: number): EncodedResponse {
  const body = toBody(result.toJson());
  const bytes = body.reduce((sum: number, { length }) => sum + length, 0);
  const { errors } = result;
  if (errors === undefined)
    return { status: 200, headers: [], body, bytes, points, dependencies, errors: undefined, etags: undefined };
  const { status, headers } = statusOf(errors, type);
  const pairs = Object.entries(headers).flat();
  const summary = summarizeErrors(result);
  return { status, headers: pairs, body, bytes, points, dependencies: undefined, errors: summary, etags: undefined };
}

/** The extension `http` of an error, as in Yoga: what the error means for the HTTP response. */
type HttpExtension = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the status is for clients that accept `application/graphql-response+json` only. */
  readonly spec?: boolean;
};

/** The highest status of the errors, and all their headers. Without a status, the response is a success. */
export function statusOf(errors: readonly GraphQLError[], type: string) {
  let highest = 0;
  const headers: Record<string, string> = {};
  for (const { extensions } of errors) {
    const { http = {} } = extensions as { readonly http?: HttpExtension };
    for (const [name, value] of Object.entries(http.headers ?? {})) headers[name.toLowerCase()] = value;
    if (type !== 'application/graphql-response+json' && http.spec) continue;
    highest = Math.max(highest, http.status ?? 0);
  }
  return { status: highest || 200, headers };
}

function toBody(text: JsonText): ResponseBody {
  if (typeof text !== 'string') return toBytes(text);
  // Most responses are ASCII, which already has one character for each byte.
  if (text.length <= MAX_STRING_BYTES && Buffer.byteLength(text) === text.length) return [text];
  const bytes = Buffer.from(text);
  return bytes.length > MAX_STRING_BYTES ? [bytes] : [bytes.toString('latin1')];
}
