import { GraphQLError } from 'graphql';

/**
 * Says what to do about a directive of incremental delivery, which the schema does not have; any other error stays as it is.
 *
 * An answer is one height read from memory: no part of it would come sooner than the rest.
 */
export function explainDirective(error: GraphQLError): GraphQLError {
  const [, name] = UNKNOWN.exec(error.message) ?? [];
  if (name === undefined) return error;
  const message = `Unknown directive "@${name}": the gateway does not support incremental delivery. Remove the directive to receive the complete response.`;
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    extensions: error.extensions,
  });
}

const UNKNOWN = /^Unknown directive "@(defer|stream)"\.$/;
