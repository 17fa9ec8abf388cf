import { readFileSync } from 'node:fs';
import type { PersistedManifest } from '../server/operations/persisted-documents.ts';

const APOLLO = 'apollo-persisted-query-manifest';

/** An entry of a manifest. */
type Entry = {
  readonly id: unknown;
  readonly text: unknown;
  /** Where a part of it is, in words. */
  readonly placeOf: (part: 'id' | 'body') => string;
};

/**
 * Reads a manifest of persisted documents, in the format of Relay, `{ "<id>": "<text>" }`, or of Apollo, which has a member
 * `format`.
 *
 * @throws Error that lists all problems of the file, with their places
 */
export function readPersistedManifest(path: string): PersistedManifest {
  const json = readText(path);
  const texts = new Map<string, string>();
  const problems: string[] = [];
  for (const { id, text, placeOf } of entriesOf(parse(json), json)) {
    if (typeof id !== 'string' || id === '') problems.push(`expected a non-empty string as id ${placeOf('id')}`);
    else if (typeof text !== 'string') problems.push(`expected a string as text ${placeOf('body')}`);
    else if (texts.has(id) && texts.get(id) !== text)
      problems.push(`the id ${JSON.stringify(id)} has two texts, the second one ${placeOf('body')}`);
    else texts.set(id, text);
  }
  if (problems.length > 0) throw new Error(problems.join('; '));
  return { path, texts };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error('the file cannot be read', { cause: error });
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    const [, line] = /\(line (\d+) column \d+\)/.exec((error as Error).message) ?? [];
    throw new Error(`the file is not JSON${line === undefined ? '' : `, see line ${line}`}`, { cause: error });
  }
}

function entriesOf(manifest: unknown, json: string): readonly Entry[] {
  if (typeof manifest !== 'object' || manifest === null || Array.isArray(manifest)) throw unknownFormat();
  const { format, version, operations } = manifest as Readonly<Record<string, unknown>>;
  if (format === undefined && !Array.isArray(operations)) return membersOf(json);
  if (format !== APOLLO || version !== 1 || !Array.isArray(operations)) throw unknownFormat();
  return operations.map((operation: unknown, index) => {
    const { id, body } = (operation ?? {}) as Readonly<Record<string, unknown>>;
    return { id, text: body, placeOf: (part) => `at $.operations[${index}].${part}` };
  });
}

function unknownFormat(): Error {
  return new Error(
    `expected {"<id>": "<text>"}, as Relay writes it, or {"format": "${APOLLO}", "version": 1, "operations": […]}`,
  );
}

/** A string, a character of the structure, or another value, in valid JSON. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g;

/**
 * The members of an object in valid JSON, with their lines. `JSON.parse` would drop all but the last of several members with
 * the same name.
 */
function membersOf(json: string): readonly Entry[] {
  const entries: Entry[] = [];
  let depth = 0;
  let key: string | undefined;
  for (const { 0: token, index } of json.matchAll(TOKEN)) {
    if (depth === 1 && key === undefined && token.startsWith('"')) {
      key = token;
    } else if (depth === 1 && key !== undefined && token !== ':') {
      const text: unknown = token.startsWith('"') ? JSON.parse(token) : undefined;
      entries.push({ id: JSON.parse(key), text, placeOf: () => `in line ${lineAt(json, index)}` });
      key = undefined;
    }
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
  }
  return entries;
}

function lineAt(json: string, index: number): number {
  return json.slice(0, index).split('\n').length;
}
