import { readFileSync } from 'node:fs';
import { readTokens, type Token } from '../domain/token.ts';
import type { PersistedManifest } from '../server/operations/persisted-queries.ts';

/** Removes a byte order mark. */
const UTF_8 = new TextDecoder();

/** Reads a file of settings, or one that a setting names. @throws Error of the system, or if the file is in UTF-16 */
export function readTextFile(path: string): string {
  const bytes = readFileSync(path);
  // UTF-16 begins with a byte order mark, or its first ASCII character has a zero byte.
  if (/^(\xff\xfe|\xfe\xff|.?\0)/s.test(bytes.toString('latin1', 0, 2)))
    throw new Error('the file is in UTF-16, expected UTF-8');
  return UTF_8.decode(bytes);
}

function readJsonFile(path: string): unknown {
  const text = readTextFile(path);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`the file is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads a tokens file. @throws Error with its first problem */
export function readTokensFile(path: string): readonly Token[] {
  return readTokens(readJsonFile(path));
}

const APOLLO = 'apollo-persisted-query-manifest';

const MANIFEST_FORMAT = `expected {"<id>": "<text>"}, as Relay writes it, or {"format": "${APOLLO}", "version": 1, "operations": […]}`;

/** The id, the text and the place of an entry, as they are in the file. */
type Entry = readonly [id: unknown, text: unknown, place: string];

/**
 * Reads a manifest of persisted documents, in the format of Relay, `{ "<id>": "<text>" }`, or of Apollo, which has a member
 * `format`. If a manifest of Relay has an id twice, the last text counts, as everywhere in JSON.
 *
 * @throws Error with the first problem of the file and its place
 */
export function readPersistedManifest(path: string): PersistedManifest {
  const texts = new Map<string, string>();
  for (const [id, text, place] of entriesOf(readJsonFile(path))) {
    if (typeof id !== 'string' || id === '') throw new Error(`expected a non-empty string as id of ${place}`);
    if (typeof text !== 'string') throw new Error(`expected a string as text of ${place}`);
    if ((texts.get(id) ?? text) !== text) throw new Error(`the id ${JSON.stringify(id)} has a second text at ${place}`);
    texts.set(id, text);
  }
  return { path, texts };
}

function entriesOf(manifest: unknown): readonly Entry[] {
  if (typeof manifest !== 'object' || manifest === null || Array.isArray(manifest)) throw new Error(MANIFEST_FORMAT);
  const { format, version, operations } = manifest as Readonly<Record<string, unknown>>;
  if (format === undefined && !Array.isArray(operations))
    return Object.entries(manifest).map(([id, text]) => [id, text, JSON.stringify(id)]);
  if (format !== APOLLO || version !== 1 || !Array.isArray(operations)) throw new Error(MANIFEST_FORMAT);
  return operations.map((operation, index) => [operation?.id, operation?.body, `$.operations[${index}]`]);
}
