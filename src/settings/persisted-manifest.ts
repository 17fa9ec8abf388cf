import type { PersistedManifest } from '../server/operations/persisted-documents.ts';
import { parseJson, readTextFile } from './json-file.ts';

const APOLLO = 'apollo-persisted-query-manifest';

/** The id, the text and the place of an entry, as they are in the file. */
type Entry = readonly [id: unknown, text: unknown, place: string];

/**
 * Reads a manifest of persisted documents, in the format of Relay, `{ "<id>": "<text>" }`, or of Apollo, which has a member
 * `format`. If a manifest of Relay has an id twice, the last text counts, as everywhere in JSON.
 *
 * @throws Error that lists all problems of the file, with their places
 */
export function readPersistedManifest(path: string): PersistedManifest {
  const texts = new Map<string, string>();
  const problems: string[] = [];
  for (const [id, text, place] of entriesOf(parseJson(readTextFile(path)))) {
    if (typeof id !== 'string' || id === '') problems.push(`expected a non-empty string as id of ${place}`);
    else if (typeof text !== 'string') problems.push(`expected a string as text of ${place}`);
    else if ((texts.get(id) ?? text) !== text)
      problems.push(`the id ${JSON.stringify(id)} has a second text at ${place}`);
    else texts.set(id, text);
  }
  if (problems.length > 0) throw new Error(problems.join('; '));
  return { path, texts };
}

function entriesOf(manifest: unknown): readonly Entry[] {
  if (typeof manifest !== 'object' || manifest === null || Array.isArray(manifest)) throw unknownFormat();
  const { format, version, operations } = manifest as Readonly<Record<string, unknown>>;
  if (format === undefined && !Array.isArray(operations))
    return Object.entries(manifest).map(([id, text]) => [id, text, JSON.stringify(id)]);
  if (format !== APOLLO || version !== 1 || !Array.isArray(operations)) throw unknownFormat();
  return operations.map((operation, index) => [operation?.id, operation?.body, `$.operations[${index}]`]);
}

function unknownFormat(): Error {
  return new Error(
    `expected {"<id>": "<text>"}, as Relay writes it, or {"format": "${APOLLO}", "version": 1, "operations": […]}`,
  );
}
