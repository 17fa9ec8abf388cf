import { hash } from 'node:crypto';
import type { GraphQLError } from 'graphql';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ErrorCode } from '../../domain/error-codes.ts';
import type { ResponseSource } from '../metrics/metrics.ts';

/** Identifies an operation in the access log, without its text and its variables. */
export type OperationLabel = {
  /** The name of the operation that the client sends, or else the name of the operation with which the document begins. */
  readonly operation?: string;
  /** The first 16 hexadecimal digits of the SHA-256 hash of the document, as in persisted queries. */
  readonly hash?: string;
};

const HASH_DIGITS = 16;

const NAME = /^[_A-Za-z]\w{0,127}$/;

/** Identifies an operation by the parameters of its request, which are unchecked. */
export function labelOf(params: { readonly query?: unknown; readonly operationName?: unknown }): OperationLabel {
  const { query, operationName } = params;
  const isText = typeof query === 'string';
  const sent = typeof operationName === 'string' && NAME.test(operationName) ? operationName : undefined;
  const operation = sent ?? (isText ? FIRST_NAME.exec(query.slice(0, START_LENGTH))?.[1] : undefined);
  return {
    ...(operation !== undefined && { operation }),
    ...(isText && { hash: hash('sha256', query, 'hex').slice(0, HASH_DIGITS) }),
  };
}

/** How many characters of a document are searched for the name of its operation. */
const START_LENGTH = 2_000;

/** Matches the start of a document that begins with a named operation, after comments. */
const FIRST_NAME = /^(?:[\s,]|#[^\n\r]*[\n\r])*(?:query|mutation|subscription)[\s,]+([_A-Za-z]\w{0,127})(?!\w)/;

/** The errors of a result, for the access log. */
type ErrorSummary = {
  /** The codes without duplicates. */
  readonly codes: readonly string[];
  /** Whether the operation was refused or failed internally: the access log has it also in the mode `errors`. */
  readonly isNotable: boolean;
  /** What the operator can do about a refused page. Messages of other errors can contain parts of the operation. */
  readonly message?: string | undefined;
};

const INTERNAL: ErrorCode = 'INTERNAL_SERVER_ERROR';
const OTHER_ORIGIN: ErrorCode = 'ORIGIN_NOT_ALLOWED';

/** Not the code of a refusal: the client sends the query with its next request. */
export const EXPECTED_CODE: ErrorCode = 'PERSISTED_QUERY_NOT_FOUND';

/** Summarizes the errors of an operation, which is refused if it was not executed; `undefined` if there are none. */
export function summarizeErrors(errors: readonly GraphQLError[] = [], isExecuted = false): ErrorSummary | undefined {
  if (errors.length === 0) return undefined;
  const codes = codesOf(errors);
  const isRefused = !isExecuted && !codes.includes(EXPECTED_CODE);
  const message = codes.includes(OTHER_ORIGIN) ? errors[0]?.message : undefined;
  return { codes, isNotable: isRefused || codes.includes(INTERNAL), message };
}

/** The codes of errors, without duplicates. */
export function codesOf(errors: readonly GraphQLError[] = []): readonly string[] {
  return [...new Set(errors.map(({ extensions: { code } }) => (typeof code === 'string' ? code : 'UNKNOWN')))];
}

/** What a line of the access log says about the operations of a request. */
export type AccessDetails = {
  readonly label?: OperationLabel;
  readonly errors?: ErrorSummary | undefined;
  readonly from?: ResponseSource;
  /** The height of the head that the response depends on. */
  readonly height?: BeaconHeight | undefined;
  /** Points that the operation costs. */
  readonly cost?: number;
};
