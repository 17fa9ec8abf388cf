import { hash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { ValidDocument } from '../../graphql/execution/planner.ts';
import { type Entry, type PersistedQuery, persistedQueryIn, type SentOperation } from '../requests/parameters.ts';
import { errorOf, refusal, requestError } from '../requests/refusal.ts';
import { MAX_STORED_CHARACTERS } from './document-bounds.ts';
import { createDocuments, type DocumentsOptions } from './documents.ts';
import { labelOf, type OperationLabel } from './log-details.ts';

/** A document of the manifest, ready to be executed. */
export type PersistedDocument = {
  readonly id: string;
  readonly text: string;
  readonly valid: ValidDocument;
  readonly errors?: never;
};

/** The persisted documents by their ids, and by `sha256:` with the hash of their text. They are never evicted. */
export type PersistedDocuments = ReadonlyMap<string, PersistedDocument>;

/** A manifest of persisted documents, which tools of clients write. */
export type PersistedManifest = {
  readonly path: string;
  /** The texts by their ids. */
  readonly texts: ReadonlyMap<string, string>;
};

/** The part of a request that can name a document. */
type PersistedParams = Pick<SentOperation, 'query' | 'documentId' | 'extensions'>;

/**
 * Finds the documents of requests: persisted documents by their ids, and Apollo's automatic persisted queries by the hash of
 * their text, which clients register. An empty `query` counts as none, because a message of a websocket must have one.
 */
export type PersistedQueries = ReturnType<typeof createPersistedQueries>;

type ResolvedDocument = { readonly text: string; readonly document?: PersistedDocument };

type PersistedQueriesOptions = {
  readonly documents: PersistedDocuments;
  /** Whether only persisted documents are allowed. */
  readonly isOnly: boolean;
};

/** Maximum length of all stored texts: some thousands of queries, far more than a frontend has. */
const MAX_TOTAL_CHARACTERS = 4_000_000;

/** Creates the persisted queries. No text is stored yet: a client sends the text of a query when its hash is unknown. */
export function createPersistedQueries({ documents, isOnly }: PersistedQueriesOptions) {
  const texts = new LRUCache<string, string>({
    maxSize: MAX_TOTAL_CHARACTERS,
    maxEntrySize: MAX_STORED_CHARACTERS,
    sizeCalculation: (text, id) => text.length + id.length,
  });

  function documentOf(id: string, query: string | undefined, mismatch: string): ResolvedDocument | undefined {
    const document = documents.get(id);
    if (document !== undefined && query !== undefined && query !== document.text) throw requestError(400, mismatch);
    return document && { text: document.text, document };
  }

  function byId(id: unknown, query: string | undefined): ResolvedDocument {
    if (typeof id !== 'string') throw requestError(400, 'documentId must be a string.');
    const known = documentOf(id, query, OTHER_DOCUMENT);
    if (known === undefined) throw notInList();
    return known;
  }

  function byHash({ version, sha256Hash: id }: PersistedQuery, query: string | undefined): ResolvedDocument {
    if (version !== 1 || typeof id !== 'string') throw requestError(400, UNKNOWN_VERSION);
    const known = documentOf(id, query, OTHER_TEXT);
    if (known !== undefined) return known;
    if (isOnly) throw query === undefined ? notInList() : persistedOnly();
    const text = query ?? texts.get(id);
    if (text === undefined) throw notFound();
    if (query !== undefined && hash('sha256', query) !== id) throw requestError(400, OTHER_TEXT);
    return { text };
  }

  return {
    /** Identifies the operation of a request in the access log. */
    labelOf(sent: Entry | undefined): OperationLabel {
      if (sent === undefined || sent instanceof GraphQLError) return {};
      const { query, documentId, extensions } = sent;
      const id = query ? undefined : (documentId ?? persistedQueryIn(extensions)?.sha256Hash);
      return labelOf(typeof id === 'string' ? { ...sent, query: documents.get(id)?.text ?? texts.get(id) } : sent);
    },
    /**
     * The text of the query of a request, or the stored one with its hash, with the persisted document that the request names.
     *
     * @throws GraphQLError if the id or the hash is unknown, does not match the text, or is malformed, or if only persisted
     *   documents are allowed and the request names none
     */
    resolve({ query, documentId, extensions }: PersistedParams): ResolvedDocument {
      const text = query || undefined;
      if (documentId != null) return byId(documentId, text);
      const named = persistedQueryIn(extensions);
      if (named !== undefined) return byHash(named, text);
      if (isOnly) throw persistedOnly();
      return { text: text ?? '' };
    },
    /**
     * Stores a text that `resolve` has returned, if the request has its hash. It is called when the client has paid for the text and
     * the text is valid: otherwise a client could replace all stored texts with nonsense.
     */
    store({ extensions }: Pick<PersistedParams, 'extensions'>, text: string): void {
      const id = persistedQueryIn(extensions)?.sha256Hash;
      if (typeof id === 'string') texts.set(id, text);
    },
  };
}

const UNKNOWN_VERSION = 'A persisted query must have version 1 and a string sha256Hash.';
const OTHER_TEXT = 'provided sha does not match query';
const OTHER_DOCUMENT = 'The query differs from the persisted document with this documentId. Send only one of the two.';

/** The message and the status of Apollo Server. A cache could store a 404 as a page that does not exist. */
function notFound(): GraphQLError {
  return errorOf('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound', { status: 200 });
}

/** The code of Apollo Router and Yoga. Unlike {@link notFound}, no client sends the text of the query after it. */
function notInList(): GraphQLError {
  return refusal('PERSISTED_QUERY_NOT_IN_LIST', 'The gateway has no persisted document with this id.');
}

function persistedOnly(): GraphQLError {
  const message = 'The gateway executes only persisted documents. Send the id of one as documentId.';
  return refusal('PERSISTED_QUERY_ONLY', message);
}

/**
 * Parses and validates all documents of a manifest.
 *
 * @returns the documents, or the first error of each document that cannot be executed
 */
export function preparePersistedDocuments(
  { path, texts }: PersistedManifest,
  options: Pick<DocumentsOptions, 'schema' | 'limits'>,
): { readonly documents: PersistedDocuments; readonly problems: readonly string[] } {
  const reader = createDocuments(options);
  const documents = new Map<string, PersistedDocument>();
  const problems: string[] = [];
  for (const [id, text] of texts) {
    const { valid, errors } = reader.prepare(text);
    if (valid === undefined) problems.push(`${path}: document ${JSON.stringify(id)}: ${describe(errors[0])}`);
    else documents.set(id, { id, text, valid });
  }
  // The ids of the draft of GraphQL over HTTP, which name a document of any manifest.
  for (const document of [...documents.values()]) {
    const byHash = `sha256:${hash('sha256', document.text, 'hex')}`;
    if (!documents.has(byHash)) documents.set(byHash, document);
  }
  return { documents, problems };
}

function describe(error: GraphQLError | undefined): string {
  const { message = 'it is invalid', locations } = error ?? {};
  const [place] = locations ?? [];
  return place === undefined ? message : `${message} (line ${place.line}, column ${place.column} of its text)`;
}
