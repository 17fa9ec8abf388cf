import type { GraphQLError } from 'graphql';
import type { ErrorCode } from '../../errors.ts';
import type { WrittenResult } from '../../graphql/execution/written-result.ts';

/** The errors of a result, for the access log. */
export type ErrorSummary = {
  /** The codes without duplicates. */
  readonly codes: readonly string[];
  /** Whether the operation was refused or failed internally, which the access log always contains. */
  readonly isNotable: boolean;
};

const INTERNAL: ErrorCode = 'INTERNAL_SERVER_ERROR';

/** Not a refusal: the client sends the query with its next request. */
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

/** Summarizes the error of a request that is refused. */
export function summarizeRefusal(error: GraphQLError): ErrorSummary {
  return { codes: [codeOf(error)], isNotable: true };
}

function codeOf({ extensions: { code } }: GraphQLError): string {
  return typeof code === 'string' ? code : 'UNKNOWN';
}
