import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import { type ErrorCode, isRetryable } from '../domain/error-codes.ts';
import { GatewayError, withoutStacks } from '../errors.ts';
import { locationsOf } from './document-source.ts';
import { WrittenResult } from './execution/written-result.ts';

/** The result with its errors masked. */
export function maskErrors(result: WrittenResult, maskError: (error: unknown) => GraphQLError): WrittenResult {
  const { text, errors } = result;
  return errors === undefined ? result : new WrittenResult(text, errors.map(maskError));
}

const INTERNAL = 'An internal error occurred in the gateway.';

/**
 * Creates the error mask, which every error passes on its way to a client.
 *
 * A {@link GatewayError} keeps its message, its code and its extensions. An error of GraphQL itself is about the request, and
 * keeps its message. For anything else, the client gets `INTERNAL_SERVER_ERROR`.
 *
 * @param internal called with errors whose details clients do not get
 */
export function createErrorMask(internal: (error: unknown) => void): (error: unknown) => GraphQLError {
  return (error) => {
    const thrown = thrownIn(error);
    if (thrown instanceof GatewayError)
      return placeError(thrown.message, error, { ...thrown.extensions, code: thrown.code }, thrown);
    if (thrown instanceof GraphQLError) return withOurCode(thrown, error as GraphQLError);

    internal(thrown);
    return placeError(INTERNAL, error, { code: 'INTERNAL_SERVER_ERROR' });
  };
}

/** The error that was thrown, before GraphQL wrapped it with its path and its location. */
function thrownIn(error: unknown): unknown {
  let thrown = error;
  while (thrown instanceof GraphQLError) {
    const inner: unknown = thrown.originalError ?? thrown.cause;
    if (inner == null) break;
    thrown = inner;
  }
  return thrown;
}

/** The codes of this gateway for those of GraphQL and Yoga. */
const OUR_CODES: Readonly<Record<string, ErrorCode>> = {
  BAD_REQUEST: 'BAD_USER_INPUT',
  OPERATION_RESOLUTION_FAILURE: 'BAD_USER_INPUT',
  REQUEST_ENTITY_TOO_LARGE: 'QUERY_TOO_COMPLEX',
};

/**
 * An error of GraphQL itself, such as a syntax error or variables of wrong types, with a code of this gateway.
 *
 * @param placed the same error, as GraphQL has wrapped it with its path, or with the name of a variable in its message
 */
function withOurCode(error: GraphQLError, placed: GraphQLError): GraphQLError {
  const { code = 'BAD_USER_INPUT', http, ...others } = error.extensions as { code?: string; http?: object };
  // An error without a path concerns the whole request.
  const status = http ?? (placed.path === undefined ? { status: 400, spec: true } : undefined);
  return placeError(placed.message, placed, {
    ...others,
    code: OUR_CODES[code] ?? code,
    ...(status && { http: status }),
  });
}

/** Maximum length of a message, in characters: messages quote what a client has sent. */
const MAX_MESSAGE_LENGTH = 500;

/** Maximum number of locations: those of fragments in a circle are all fragments. */
const MAX_LOCATIONS = 10;

/**
 * Creates an error for clients, with the path and the location of another one. Many parsers of JSON refuse half of a surrogate
 * pair, which a shortened or quoted text can contain: U+FFFD replaces it.
 *
 * @param cause what the message describes, which clients do not get
 */
export function placeError(
  message: string,
  error: unknown,
  extensions: GraphQLErrorExtensions,
  cause?: GatewayError,
): GraphQLError {
  const at = error instanceof GraphQLError ? error : undefined;
  const isLong = message.length > MAX_MESSAGE_LENGTH;
  const shown = isLong ? `${message.slice(0, MAX_MESSAGE_LENGTH)}… (${message.length} characters)` : message;
  const placed = withoutStacks(
    () =>
      new GraphQLError(shown.toWellFormed(), { nodes: at?.nodes ?? null, path: at?.path ?? null, extensions, cause }),
  );
  return Object.assign(placed, { locations: at && locationsOf(at)?.slice(0, MAX_LOCATIONS) });
}

/** Whether the same operation can succeed a moment later, after an error that was masked or that refuses a request. */
export function isTemporary({ cause, extensions: { code, retryAfterMs } }: GraphQLError): boolean {
  if (retryAfterMs !== undefined) return true;
  return cause instanceof GatewayError ? cause.retryable : isRetryable(code);
}
