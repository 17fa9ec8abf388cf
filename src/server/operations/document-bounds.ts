import { type DocumentNode, type GraphQLError, Kind, TokenKind } from 'graphql';
import { textOf } from '../../graphql/document-source.ts';
import type { Limits } from '../../graphql/limits.ts';
import { refusal } from '../requests/refusal.ts';

/** Maximum number of operations, of lines, and of characters of a name in a document. No client comes near them. */
const MAX_OPERATIONS = 100;
const MAX_LINES = 20_000;
const MAX_NAME_LENGTH = 1_000;

/**
 * Maximum number of operations multiplied by the uses of variables: graphql-js checks each use in a fragment once for each
 * operation that spreads the fragment.
 */
const MAX_USES = 20_000;

/** Maximum number of open brackets for each allowed level of nesting: one of the selection, the rest of values. */
const BRACKETS_PER_LEVEL = 5;

/** Maximum length of a document that is stored, as a text or parsed. Usual documents are far shorter. */
export const MAX_STORED_CHARACTERS = 20_000;

/** Documents with more tokens are long: each step of their work has its own turn of the event loop. */
export const MAX_TOKENS_AT_ONCE = 1_000;

/** Why a text is not parsed; `undefined` if it may be. */
export function findExcessInText(text: string): GraphQLError | undefined {
  const hasTooManyLines =
    text.length > MAX_LINES && ['\n', '\r'].some((end) => text.split(end, MAX_LINES + 1).length > MAX_LINES);
  return hasTooManyLines ? tooMany('lines', MAX_LINES) : undefined;
}

/** Why a parsed document is not validated; `undefined` if it may be. */
export function findExcess(
  document: DocumentNode,
  { maxNesting }: Pick<Limits, 'maxNesting'>,
): GraphQLError | undefined {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length;
  if (operations > MAX_OPERATIONS) return tooMany('operations', MAX_OPERATIONS);
  if (operations > 1 && operations * countDollars(document) > MAX_USES) return tooManyComparisons();
  return findExcessInTokens(document, maxNesting * BRACKETS_PER_LEVEL);
}

/** The number of dollar signs of a document, an upper bound for the number of uses of variables. */
function countDollars(document: DocumentNode): number {
  return (textOf(document) ?? '').split('$', MAX_USES).length - 1;
}

/**
 * Checks the length of names, and how many brackets are open at once: of selections, lists, input objects and types together.
 * Recursive functions would exceed the stack in a document with more.
 */
function findExcessInTokens({ loc }: DocumentNode, maxOpen: number): GraphQLError | undefined {
  let open = 0;
  for (let token = loc?.startToken ?? null; token !== null; token = token.next) {
    const { kind, start, end } = token;
    if (kind === TokenKind.NAME && end - start > MAX_NAME_LENGTH)
      return refusal('QUERY_TOO_COMPLEX', `A name has ${end - start} characters. The maximum is ${MAX_NAME_LENGTH}.`);
    if (OPENING.has(kind)) open++;
    else if (CLOSING.has(kind)) open--;
    if (open > maxOpen) return tooDeep();
  }
  return undefined;
}

const OPENING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** The error of a document with too many parts of a kind. */
export function tooMany(parts: string, max: number): GraphQLError {
  return refusal('QUERY_TOO_COMPLEX', `The document has too many ${parts}. The maximum is ${max}.`);
}

/** The error of a document whose fields or variables take too long to compare. */
export function tooManyComparisons(): GraphQLError {
  return refusal(
    'QUERY_TOO_COMPLEX',
    'The document has too many fields with the same name, or too many variables in several operations.',
  );
}

/** The error of a document that is nested too deeply. */
export function tooDeep(): GraphQLError {
  return refusal('QUERY_TOO_COMPLEX', 'The document is nested too deeply.');
}
