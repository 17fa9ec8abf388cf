import { GraphQLError } from 'graphql';

/**
 * Explains the error about a directive of incremental delivery, which the schema does not have. Other errors stay as they are.
 *
 * A response is about one height that is in memory, so no part of it would arrive earlier than the rest.
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
