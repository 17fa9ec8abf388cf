import { hash } from 'node:crypto';
import type { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import { type PersistedQuery, persistedQueryIn } from '../requests/parameters.ts';
import { badRequest, errorOf, refusal } from '../requests/refusal.ts';
import { MAX_STORED_CHARACTERS } from './document-bounds.ts';
import { labelOf, type OperationLabel } from './log-details.ts';
import type { PersistedDocument, PersistedDocuments } from './persisted-documents.ts';

/** The part of a request that can name a document, unchecked. */
type PersistedParams = {
  readonly query?: string | null | undefined;
  readonly documentId?: unknown;
  readonly extensions?: unknown;
};

/**
 * Finds the documents of requests: persisted documents by their ids, and Apollo's automatic persisted queries by the hash of
 * their text, which clients register. An empty `query` counts as none, because a message of a websocket must have one.
 */
export type PersistedQueries = {
  /** Identifies the operation of a request in the access log. */
  labelOf(params: Parameters<typeof labelOf>[0] & Pick<PersistedParams, 'documentId' | 'extensions'>): OperationLabel;
  /**
   * The persisted document that a request names, or the text of its query: its own, or the stored one with its hash.
   *
   * @throws GraphQLError if the id or the hash is unknown, does not match the text, or is malformed, or if only persisted
   *   documents are allowed and the request names none
   */
  resolve(params: PersistedParams): PersistedDocument | string;
  /**
   * Stores a text that `resolve` has returned, if the request has its hash. It is called when the client has paid for the text and
   * the text is valid: otherwise a client could replace all stored texts with nonsense.
   */
  store(params: PersistedParams, text: string): void;
};

type PersistedQueriesOptions = {
  readonly documents: PersistedDocuments;
  /** Whether only persisted documents are allowed. */
  readonly isOnly: boolean;
};

/** Maximum length of all stored texts: some thousands of queries, far more than a frontend has. */
const MAX_TOTAL_CHARACTERS = 4_000_000;

/** Creates the persisted queries. No text is stored yet: a client sends the text of a query when its hash is unknown. */
export function createPersistedQueries({ documents, isOnly }: PersistedQueriesOptions): PersistedQueries {
  const texts = new LRUCache<string, string>({
    maxSize: MAX_TOTAL_CHARACTERS,
    maxEntrySize: MAX_STORED_CHARACTERS,
    sizeCalculation: (text, id) => text.length + id.length,
  });

  /** The document with the `documentId` of a request, which may contain its text too. */
  function byId(id: unknown, query: string | undefined): PersistedDocument {
    if (typeof id !== 'string') throw badRequest(400, 'documentId must be a string.');
    const document = documents.get(id);
    if (document === undefined) throw notInList();
    if (query !== undefined && query !== document.text) throw badRequest(400, OTHER_DOCUMENT);
    return document;
  }

  /** The document or the text with the hash of a request, which may contain its text too. */
  function byHash({ version, sha256Hash: id }: PersistedQuery, query: string | undefined): PersistedDocument | string {
    if (version !== 1 || typeof id !== 'string') throw badRequest(400, UNKNOWN_VERSION);
    const document = documents.get(id);
    if (document !== undefined) {
      if (query !== undefined && query !== document.text) throw badRequest(400, OTHER_TEXT);
      return document;
    }
    if (isOnly) throw query === undefined ? notInList() : persistedOnly();
    if (query === undefined) {
      const known = texts.get(id);
      if (known === undefined) throw notFound();
      return known;
    }
    if (hash('sha256', query) !== id) throw badRequest(400, OTHER_TEXT);
    return query;
  }

  return {
    labelOf(params) {
      const { query, documentId, extensions } = params;
      const id = query ? undefined : (documentId ?? persistedQueryIn(extensions)?.sha256Hash);
      if (typeof id !== 'string') return labelOf(params);
      return labelOf({ ...params, query: documents.get(id)?.text ?? texts.get(id) });
    },
    resolve({ query, documentId, extensions }) {
      const text = query || undefined;
      if (documentId != null) return byId(documentId, text);
      const named = persistedQueryIn(extensions);
      if (named !== undefined) return byHash(named, text);
      if (isOnly) throw persistedOnly();
      return text ?? '';
    },
    store({ documentId, extensions }, text) {
      const id = documentId == null ? persistedQueryIn(extensions)?.sha256Hash : undefined;
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

/** The code of Apollo Router and Yoga. Unlike {@link notFound}, no client answers it with the text of the query. */
function notInList(): GraphQLError {
  return refusal('PERSISTED_QUERY_NOT_IN_LIST', 'The gateway has no persisted document with this id.');
}

function persistedOnly(): GraphQLError {
  const message = 'The gateway executes only persisted documents. Send the id of one as documentId.';
  return refusal('PERSISTED_QUERY_ONLY', message);
}
