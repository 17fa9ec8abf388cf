import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DocumentNode, GraphQLError, type GraphQLSchema, Kind } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import { MAX_ERRORS, withoutStacks } from '../../errors.ts';
import { parseDocument, unlinkTokens } from '../../graphql/document-source.ts';
import { placeError } from '../../graphql/errors.ts';
import { createValidDocument, findExcessOf, type ValidDocument } from '../../graphql/execution/planner.ts';
import type { Limits } from '../../graphql/limits.ts';
import type { TakeTurn } from '../../turns/turns.ts';
import { refusal } from '../requests/refusal.ts';
import {
  findExcess,
  findExcessInText,
  MAX_STORED_CHARACTERS,
  MAX_TOKENS_AT_ONCE,
  tooDeep,
  tooMany,
} from './document-bounds.ts';
import { createValidation } from './validation.ts';

/** A valid document, or the errors of one that is not executed. */
export type ReadDocument =
  | { readonly valid: ValidDocument; readonly errors?: never }
  | { readonly errors: readonly GraphQLError[]; readonly valid?: never };

/** Parses and validates documents, with a cache of valid ones. */
export type Documents = ReturnType<typeof createDocuments>;

/** What reading documents needs. */
export type DocumentsOptions = {
  readonly schema: GraphQLSchema;
  readonly limits: Pick<Limits, 'maxTokens' | 'maxComplexity' | 'maxDepth' | 'maxNesting' | 'maxSiblings'>;
  readonly takeTurn?: TakeTurn;
  /** Called for each document that is refused. */
  readonly onRefused?: () => void;
};

/** Maximum length of all cached documents. A parsed document takes about 60 bytes for each character. */
const MAX_TOTAL_CHARACTERS = 500_000;

/** Creates the reader of documents, with an empty cache. */
export function createDocuments({ schema, limits, takeTurn = () => nextTurn(), onRefused }: DocumentsOptions) {
  const cache = new LRUCache<string, ReadDocument>({
    maxSize: MAX_TOTAL_CHARACTERS,
    maxEntrySize: MAX_STORED_CHARACTERS,
    sizeCalculation: (_read, text) => text.length + 1,
  });
  const validation = createValidation(schema);

  function parse(text: string): DocumentNode | GraphQLError {
    const excess = findExcessInText(text);
    if (excess !== undefined) return excess;
    try {
      const document = withoutStacks(() => parseDocument(text, { maxTokens: limits.maxTokens }));
      return findExcess(document, limits) ?? document;
    } catch (error) {
      if (error instanceof RangeError) return tooDeep();
      if (!(error instanceof GraphQLError)) throw error;
      return isTooLong(error) ? tooMany('tokens', limits.maxTokens) : toRefusal('GRAPHQL_PARSE_FAILED', error);
    }
  }

  function finish(text: string, document: DocumentNode, found: readonly GraphQLError[]): ReadDocument {
    if (found.length === 0) {
      unlinkTokens(document);
      const read = { valid: createValidDocument(document) };
      cache.set(text, read);
      return read;
    }
    const errors = found.slice(0, MAX_ERRORS + 1).map((error) => toRefusal('GRAPHQL_VALIDATION_FAILED', error));
    onRefused?.();
    return { errors };
  }

  function readNew(text: string, client: string | undefined): MaybePromise<ReadDocument> {
    const document = parse(text);
    if (document instanceof GraphQLError) {
      onRefused?.();
      return { errors: [document] };
    }
    if ((document.tokenCount ?? 0) > MAX_TOKENS_AT_ONCE) return validateInSteps(text, document, client);
    return finish(text, document, validation.validate(document));
  }

  async function validateInSteps(
    text: string,
    document: DocumentNode,
    client: string | undefined,
  ): Promise<ReadDocument> {
    const errors: GraphQLError[] = [];
    for (const validate of validation.steps) {
      await takeTurn(client);
      errors.push(...validate(document));
      // The document is refused because validating it takes long. The other steps would take longer.
      if (errors.some(({ extensions }) => extensions['code'] === 'QUERY_TOO_COMPLEX')) break;
    }
    await takeTurn(client);
    return finish(text, document, errors);
  }

  /** Reads a persisted document at once, and compares its operations with the limits. */
  function prepare(text: string): ReadDocument {
    const document = parse(text);
    if (document instanceof GraphQLError) return { errors: [document] };
    const read = finish(text, document, validation.validate(document));
    const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
    const excess = read.valid && operations.flatMap((each) => findExcessOf(document, each, { schema, limits }) ?? []);
    return excess?.length ? { errors: excess.map(({ code, message }) => refusal(code, message)) } : read;
  }

  return {
    prepare,
    /** Reads a document of a client: at once if it is cached or short, in several turns of the event loop if it is long. */
    read(text: string, client?: string): MaybePromise<ReadDocument> {
      const cached = cache.get(text);
      if (cached !== undefined) return cached;
      return text.length > MAX_STORED_CHARACTERS
        ? takeTurn(client).then(() => readNew(text, client))
        : readNew(text, client);
    },
  };
}

function isTooLong({ message }: GraphQLError): boolean {
  return message.startsWith('Syntax Error: Document contains more than');
}

/** An error of graphql-js as the error of a document that is not executed, with a code if it has none. */
function toRefusal(code: string, error: GraphQLError): GraphQLError {
  return placeError(error.message, error, { code, http: { status: 400, spec: true }, ...error.extensions });
}
