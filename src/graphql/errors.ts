import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import { type ErrorCode, GatewayError } from '../errors.ts';

/** Told of every error that is not for clients, or whose details are not. */
export type ErrorLog = {
  /** An error of ours: nobody but the log learns what it is. */
  internal(error: unknown): void;
};

const INTERNAL = 'Something went wrong in the gateway.';

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
    if (origin instanceof GraphQLError) return withOurCode(origin);

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

/** An error of GraphQL itself, with one of our codes: a request that is none, or variables that do not fit. */
function withOurCode(error: GraphQLError): GraphQLError {
  const { code = 'BAD_USER_INPUT', http, ...others } = error.extensions as { code?: string; http?: object };
  // Without a place in the answer it stands for the whole of it, and its status is that of a bad request.
  const status = http ?? (error.path === undefined ? { status: 400, spec: true } : undefined);
  return place(error, error.message, { ...others, code: OUR_CODES[code] ?? code, ...(status && { http: status }) });
}

/** An error with that message where the given one stands in the document and the answer. */
function place(error: unknown, message: string, extensions: GraphQLErrorExtensions): GraphQLError {
  const at = error instanceof GraphQLError ? error : undefined;
  return new GraphQLError(message, {
    nodes: at?.nodes ?? null,
    source: at?.source ?? null,
    positions: at?.positions ?? null,
    path: at?.path ?? null,
    extensions,
  });
}
