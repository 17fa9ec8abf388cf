import { type DocumentNode, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Limits } from '../../graphql/limits.ts';
import { refusal } from '../refusal.ts';

/**
 * Gives errors of the document their codes. One of too many tokens, or nested too deeply for the stack, is too complex;
 * the parser alone would call it a syntax error.
 */
export function useDocumentErrors({ maxTokens, maxNesting }: Limits): Plugin {
  return {
    onParse({ parseFn, setParseFn }) {
      setParseFn((source, options) => {
        try {
          return parseFn(source, { ...options, maxTokens });
        } catch (error) {
          if (isTooLong(error)) throw refusal('QUERY_TOO_COMPLEX', `A document has ${maxTokens} tokens at most.`);
          if (isTooDeep(error)) throw tooDeep();
          throw error instanceof GraphQLError ? parseFailed(error) : error;
        }
      });
    },
    onValidate({ validateFn, setValidationFn }) {
      setValidationFn((...args: Parameters<typeof validateFn>) => {
        // Validation walks down by calling itself: what is too deep for it depends on the stack it happens to have.
        if (isDeeperThan(maxNesting, args[1])) return [tooDeep()];
        try {
          const errors = validateFn(...args);
          return errors.some(isTooTangled) ? [tooTangled()] : errors;
        } catch (error) {
          if (isTooDeep(error)) return [tooDeep()];
          throw error;
        }
      });
    },
  };
}

function isTooLong(error: unknown): boolean {
  return error instanceof GraphQLError && error.message.startsWith('Syntax Error: Document contains more than');
}

function isTooDeep(error: unknown): boolean {
  return error instanceof RangeError;
}

/** Whether selections are nested deeper than that, found without nesting calls. Fragments count each by itself. */
function isDeeperThan(levels: number, { definitions }: DocumentNode): boolean {
  let sets = definitions.flatMap((definition) => ('selectionSet' in definition ? [definition.selectionSet] : []));
  for (let level = 0; level <= levels; level++) {
    sets = sets.flatMap(({ selections }) =>
      selections.flatMap((selection) => ('selectionSet' in selection ? [selection.selectionSet ?? []].flat() : [])),
    );
    if (sets.length === 0) return false;
  }
  return true;
}

/** GraphQL gives up comparing fields that may be one, so that a document cannot make it work for long. */
function isTooTangled({ message }: GraphQLError): boolean {
  return message === 'Validation aborted.';
}

function tooTangled(): GraphQLError {
  return refusal('QUERY_TOO_COMPLEX', 'The document has too many fields of the same name to compare.');
}

function tooDeep(): GraphQLError {
  return refusal('QUERY_TOO_COMPLEX', 'The document is nested too deeply to be read.');
}

function parseFailed({ message, source, positions }: GraphQLError): GraphQLError {
  const extensions = { code: 'GRAPHQL_PARSE_FAILED', http: { status: 400, spec: true } };
  return new GraphQLError(message, { source: source ?? null, positions: positions ?? null, extensions });
}
