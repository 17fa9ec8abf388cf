import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import { type ErrorCode, GatewayError, withoutStacks } from '../errors.ts';
import { locationsOf } from './document-locations.ts';
import { WrittenResult } from './execution/written-result.ts';

/** Told of every error that is not for clients, or whose details are not. */
export type ErrorLog = {
  /** An error of ours: nobody but the log learns what it is. */
  internal(error: unknown): void;
};

/** A result with its errors as clients get them. */
export function maskErrors(result: WrittenResult, maskError: (error: unknown) => GraphQLError): WrittenResult {
  const { text, errors, extensions } = result;
  if (errors === undefined) return result;
  const masked = errors.map(maskError);
  return new WrittenResult(text, text === undefined ? masked : masked.map(withoutStatus), extensions);
}

/** The error of an operation that was executed: over HTTP its answer is a success, whatever failed. */
function withoutStatus(error: GraphQLError): GraphQLError {
  if (!('http' in error.extensions)) return error;
  const { http: _http, ...extensions } = error.extensions;
  return placeError(error.message, error, extensions);
}

const INTERNAL = 'An internal error occurred in the gateway.';

/**
 * The one border that errors cross on their way to a client.
 *
 * A {@link GatewayError} becomes its message, its code and its extensions. An error of GraphQL itself is the client's
 * doing and passes. Anything else is logged and masked.
 */
export function createErrorMask(log: ErrorLog): (error: unknown) => GraphQLError {
  return (error) => {
    const origin = originOf(error);
    if (origin instanceof GatewayError)
      return place(error, origin.message, { ...origin.extensions, code: origin.code });
    if (origin instanceof GraphQLError) return withOurCode(origin, error);

    log.internal(origin);
    return place(error, INTERNAL, { code: 'INTERNAL_SERVER_ERROR' });
  };
}

/** What was thrown before GraphQL wrapped it to say where. */
function originOf(error: unknown): unknown {
  let origin = error;
  while (origin instanceof GraphQLError) {
    const inner: unknown = origin.originalError ?? origin.cause;
    if (inner == null) break;
    origin = inner;
  }
  return origin;
}

/** Codes that GraphQL and Yoga give by themselves, as ours say it. */
const OUR_CODES: Readonly<Record<string, ErrorCode>> = {
  BAD_REQUEST: 'BAD_USER_INPUT',
  OPERATION_RESOLUTION_FAILURE: 'BAD_USER_INPUT',
  REQUEST_ENTITY_TOO_LARGE: 'QUERY_TOO_COMPLEX',
};

/**
 * An error of GraphQL itself, with one of our codes: a request that is none, or variables or arguments that do not fit.
 *
 * @param placed the same, where GraphQL has wrapped it to say where in the answer it is
 */
function withOurCode(error: GraphQLError, placed: unknown): GraphQLError {
  const { code = 'BAD_USER_INPUT', http, ...others } = error.extensions as { code?: string; http?: object };
  // Without a place in the answer it stands for the whole of it, and its status is that of a bad request.
  const hasPath = placed instanceof GraphQLError && placed.path !== undefined;
  const status = http ?? (hasPath ? undefined : { status: 400, spec: true });
  return place(placed, error.message, { ...others, code: OUR_CODES[code] ?? code, ...(status && { http: status }) });
}

/** How many characters a message has at most: what a client sent comes back in messages, and can be long. */
const MAX_MESSAGE_LENGTH = 500;

/** A message that is not too long, with its beginning and its length. */
function shorten(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  return `${message.slice(0, MAX_MESSAGE_LENGTH)}… (${message.length} characters)`;
}

/** An error with that message where the given one stands in the document and the answer. */
function place(error: unknown, message: string, extensions: GraphQLErrorExtensions): GraphQLError {
  return placeError(message, error instanceof GraphQLError ? error : undefined, extensions);
}

/** Makes an error for clients, in the place of another one. */
export function placeError(
  message: string,
  at: GraphQLError | undefined,
  extensions: GraphQLErrorExtensions,
): GraphQLError {
  const placed = withoutStacks(
    () => new GraphQLError(shorten(message), { nodes: at?.nodes ?? null, path: at?.path ?? null, extensions }),
  );
  return Object.assign(placed, { locations: at && locationsOf(at) });
}
