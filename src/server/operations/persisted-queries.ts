import { createHash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { ErrorCode } from '../../errors.ts';
import { badRequest } from './refusal.ts';

/** The part of a request that can name a persisted query. */
type PersistedParams = {
  readonly query?: string | null | undefined;
  readonly extensions?: unknown;
};

/**
 * Apollo's automatic persisted queries: clients send the hash of a query instead of its text, so that a long query fits into a
 * URL, which HTTP caches use as key.
 */
export type PersistedQueries = {
  /** The text of the query of a request, without checks; `undefined` if it is not stored. */
  find(params: PersistedParams): string | undefined;
  /**
   * The text of the query of a request: its own, which is stored if it has a hash, or the stored one with its hash;
   * `undefined` if it has neither.
   *
   * @throws GraphQLError if the hash is unknown, does not match the text, or is of another version of the protocol
   */
  resolve(params: PersistedParams): string | undefined;
};

/** Maximum length of a stored text. Usual documents are far shorter. */
const MAX_CHARACTERS = 20_000;

/** Maximum length of all stored texts: some thousands of queries, far more than a frontend has. */
const MAX_TOTAL_CHARACTERS = 4_000_000;

/** Creates an empty store. A client sends the text of a query when its hash is unknown. */
export function createPersistedQueries(): PersistedQueries {
  const texts = new LRUCache<string, string>({
    maxSize: MAX_TOTAL_CHARACTERS,
    maxEntrySize: MAX_CHARACTERS,
    sizeCalculation: (text, hash) => text.length + hash.length,
  });

  return {
    find({ query, extensions }) {
      const hash = persistedQueryIn(extensions)?.sha256Hash;
      return query ?? (typeof hash === 'string' ? texts.get(hash) : undefined);
    },
    resolve({ query, extensions }) {
      const named = persistedQueryIn(extensions);
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

/** The message and the status of Apollo Server. A cache could store a 404 as a page that does not exist. */
function notFound(): GraphQLError {
  const code: ErrorCode = 'PERSISTED_QUERY_NOT_FOUND';
  return new GraphQLError('PersistedQueryNotFound', { extensions: { code, http: { status: 200 } } });
}

function persistedQueryIn(
  extensions: unknown,
): { readonly version?: unknown; readonly sha256Hash?: unknown } | undefined {
  const hasOne = typeof extensions === 'object' && extensions !== null && 'persistedQuery' in extensions;
  const named = hasOne ? extensions.persistedQuery : undefined;
  return typeof named === 'object' && named !== null ? named : undefined;
}
