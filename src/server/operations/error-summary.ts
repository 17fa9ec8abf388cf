import type { GraphQLError } from 'graphql';
import type { ErrorCode } from '../../errors.ts';
import type { WrittenResult } from '../../graphql/execution/written-result.ts';

/** What the access log says of the errors of an answer. */
export type ErrorSummary = {
  /** Each code once. */
  readonly codes: readonly string[];
  /** Whether the operation was refused, or the gateway itself failed: what the access log always shows. */
  readonly isNotable: boolean;
};

const INTERNAL: ErrorCode = 'INTERNAL_SERVER_ERROR';

/** A step of the protocol: the client sends the query with its next request. */
const EXPECTED: ErrorCode = 'PERSISTED_QUERY_NOT_FOUND';

/** Summarizes the errors of a result; `undefined` if it has none. A result without data was not executed. */
export function summarizeErrors({
  text,
  errors,
}: Partial<Pick<WrittenResult, 'text' | 'errors'>>): ErrorSummary | undefined {
  if (errors === undefined || errors.length === 0) return undefined;
  const codes = [...new Set(errors.map(codeOf))];
  const isRefused = text === undefined && !codes.includes(EXPECTED);
  return { codes, isNotable: isRefused || codes.includes(INTERNAL) };
}

/** The summary of why a request is refused. */
export function summarizeRefusal(error: GraphQLError): ErrorSummary {
  return { codes: [codeOf(error)], isNotable: true };
}

function codeOf({ extensions: { code } }: GraphQLError): string {
  return typeof code === 'string' ? code : 'UNKNOWN';
}
