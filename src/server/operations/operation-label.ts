import { hash } from 'node:crypto';
import { Lexer, Source, type Token, TokenKind } from 'graphql';

/** How the access log names an operation, without its text and its variables. */
export type OperationLabel = {
  /** The name of the operation, where it has one. */
  readonly operation?: string;
  /** The first 16 hexadecimal digits of the SHA-256 hash of the document; persisted queries begin with the same. */
  readonly hash?: string;
};

/** What a client sends that names an operation; nothing of it has been checked. */
export type SentOperation = { readonly query?: unknown; readonly operationName?: unknown };

const HASH_DIGITS = 16;

const NAME = /^[_A-Za-z]\w{0,127}$/;

/** Labels an operation. */
export function labelOf({ query, operationName }: SentOperation): OperationLabel {
  const isText = typeof query === 'string';
  const given = typeof operationName === 'string' && NAME.test(operationName) ? operationName : undefined;
  const operation = given ?? (isText ? firstNameIn(query) : undefined);
  return {
    ...(operation !== undefined && { operation }),
    ...(isText && { hash: hash('sha256', query, 'hex').slice(0, HASH_DIGITS) }),
  };
}

const OPERATION_TYPES: ReadonlySet<string> = new Set(['query', 'mutation', 'subscription']);

/** Fragments in front of the first operation may be long: its name is only looked for so far. */
const MAX_TOKENS = 500;

/** The name of the first operation of a document, which may be malformed. */
function firstNameIn(text: string): string | undefined {
  const lexer = new Lexer(new Source(text));
  try {
    for (let depth = 0, count = 0; count < MAX_TOKENS; count++) {
      const token: Token = lexer.advance();
      if (token.kind === TokenKind.EOF) return undefined;
      if (token.kind === TokenKind.BRACE_L) depth += 1;
      if (token.kind === TokenKind.BRACE_R) depth -= 1;
      if (depth > 0 || token.kind !== TokenKind.NAME || !OPERATION_TYPES.has(token.value)) continue;
      const next = lexer.lookahead();
      return next.kind === TokenKind.NAME && NAME.test(next.value) ? next.value : undefined;
    }
  } catch {
    // The document is not GraphQL from here on.
  }
  return undefined;
}
