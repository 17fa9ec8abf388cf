import { GraphQLError } from 'graphql';
import type { ErrorCode } from '../errors.ts';

/**
 * The error of an operation that is not executed at all.
 *
 * Over HTTP it is a 400 for clients that accept `application/graphql-response+json`, and stays a 200 for those that know
 * only `application/json`, as GraphQL over HTTP has it.
 */
export function refusal(code: ErrorCode, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code, http: { status: 400, spec: true } } });
}
