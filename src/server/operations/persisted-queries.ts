import { createHash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { ErrorCode } from '../../errors.ts';
import { badRequest } from './refusal.ts';

/** What of a request names a query that was sent before. */
export type PersistedParams = {
  readonly query?: string | null | undefined;
  readonly extensions?: unknown;
};

/**
 * Queries that clients name by their hash, after Apollo's "automatic persisted queries": so that a long query fits into a
 * URL, which caches know.
 */
export type PersistedQueries = {
  /** The same without a check: `undefined` where the text is not known. */
  find(params: PersistedParams): string | undefined;
  /**
   * The text of the query that a request asks for: its own, which is kept where it is sent with its hash, or the one that
   * its hash names; `undefined` where it has neither.
   *
   * @throws GraphQLError for a hash that names nothing, is of another text, or of another version of the protocol
   */
  resolve(params: PersistedParams): string | undefined;
};

/** How long a text may be to be kept: honest documents are far shorter. */
const MAX_CHARACTERS = 20_000;

/** How many characters are kept in all: some thousands of queries, far more than any frontend has. */
const MAX_CHARACTERS_IN_ALL = 4_000_000;

/** Makes the store, which is empty: clients send a query once more where its hash is not known. */
export function createPersistedQueries(): PersistedQueries {
  const texts = new LRUCache<string, string>({
    maxSize: MAX_CHARACTERS_IN_ALL,
    maxEntrySize: MAX_CHARACTERS,
    sizeCalculation: (text, hash) => text.length + hash.length,
  });

  return {
    find({ query, extensions }) {
      const hash = namedIn(extensions)?.sha256Hash;
      return query ?? (typeof hash === 'string' ? texts.get(hash) : undefined);
    },
    resolve({ query, extensions }) {
      const named = namedIn(extensions);
      if (named === undefined) return query ?? undefined;

      const { version, sha256Hash: hash } = named;
      if (version !== 1 || typeof hash !== 'string') throw badRequest(400, UNKNOWN_VERSION);
      if (query == null) {
        const known = texts.get(hash);
        if (known === undefined) throw notFound();
        return known;
      }
      if (createHash('sha256').update(query).digest('hex') !== hash) throw badRequest(400, OTHER_TEXT);
      texts.set(hash, query);
      return query;
    },
  };
}

const UNKNOWN_VERSION = 'A persisted query must have version 1 and a string sha256Hash.';
const OTHER_TEXT = 'provided sha does not match query';

/** As Apollo Server says it, with its status: a cache in between could take a 404 for what is not there at all. */
function notFound(): GraphQLError {
  const code: ErrorCode = 'PERSISTED_QUERY_NOT_FOUND';
  return new GraphQLError('PersistedQueryNotFound', { extensions: { code, http: { status: 200 } } });
}

function namedIn(extensions: unknown): { readonly version?: unknown; readonly sha256Hash?: unknown } | undefined {
  const isGiven = typeof extensions === 'object' && extensions !== null && 'persistedQuery' in extensions;
  const named = isGiven ? extensions.persistedQuery : undefined;
  return typeof named === 'object' && named !== null ? named : undefined;
}
