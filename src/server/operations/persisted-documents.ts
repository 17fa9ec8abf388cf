import { hash } from 'node:crypto';
import type { GraphQLError } from 'graphql';
import type { ValidDocument } from '../../graphql/execution/planner.ts';
import { createDocuments, type DocumentsOptions } from './documents.ts';

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
