import type { PersistedManifest } from '../server/operations/persisted-documents.ts';
import { parseJson, readTextFile } from './json-file.ts';

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
  const json = readTextFile(path);
  const texts = new Map<string, string>();
  const problems: string[] = [];
  for (const { id, text, placeOf } of entriesOf(parseJson(json), json)) {
    if (typeof id !== 'string' || id === '') problems.push(`expected a non-empty string as id ${placeOf('id')}`);
    else if (typeof text !== 'string') problems.push(`expected a string as text ${placeOf('body')}`);
    else if (texts.has(id) && texts.get(id) !== text)
      problems.push(`the id ${JSON.stringify(id)} has two texts, the second one ${placeOf('body')}`);
    else texts.set(id, text);
  }
  if (problems.length > 0) throw new Error(problems.join('; '));
  return { path, texts };
}

function entriesOf(manifest: unknown, json: string): readonly Entry[] {
  if (typeof manifest !== 'object' || manifest === null || Array.isArray(manifest)) throw unknownFormat();
  const { format, version, operations } = manifest as Readonly<Record<string, unknown>>;
  if (format === undefined && !Array.isArray(operations)) return membersOf(json);
  if (format !== APOLLO || version !== 1 || !Array.isArray(operations)) throw unknownFormat();
  const begins = [...valuesOf(json)].filter(({ depth, name }) => depth === 2 && name === 'operations');
  const lineOf = (index: number) => lineAt(json, begins[index]?.offset ?? 0);
  return operations.map((operation: unknown, index) => {
    const { id, body } = (operation ?? {}) as Readonly<Record<string, unknown>>;
    return { id, text: body, placeOf: (part) => `in line ${lineOf(index)}, at $.operations[${index}].${part}` };
  });
}

function unknownFormat(): Error {
  return new Error(
    `expected {"<id>": "<text>"}, as Relay writes it, or {"format": "${APOLLO}", "version": 1, "operations": […]}`,
  );
}

/** A string, a character of the structure, or another value, in valid JSON. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g;

function membersOf(json: string): readonly Entry[] {
  const members = [...valuesOf(json)].filter(({ depth }) => depth === 1);
  return members.map(({ name, token, offset }) => ({
    id: name,
    text: token.startsWith('"') ? JSON.parse(token) : undefined,
    placeOf: () => `in line ${lineAt(json, offset)}`,
  }));
}

/** A value in a member of the object that a text of JSON is. */
type Value = { readonly depth: number; readonly name: string; readonly token: string; readonly offset: number };

/** The members at depth 1, and what is in them. `JSON.parse` would drop all but the last of several with the same name. */
function* valuesOf(json: string): Generator<Value> {
  let depth = 0;
  let name: string | undefined;
  for (const { 0: token, index: offset } of json.matchAll(TOKEN)) {
    if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1 && token === ',') name = undefined;
    else if (depth === 1 && name === undefined) name = JSON.parse(token);
    else if (name !== undefined && !',:'.includes(token)) yield { depth, name, token, offset };
    if (token === '{' || token === '[') depth += 1;
  }
}

function lineAt(json: string, index: number): number {
  return json.slice(0, index).split('\n').length;
}
