import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/settings/kinds.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import type { Config } from '../../src/settings/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'pdex-manifest-'));
const path = join(folder, 'manifest.json');
afterAll(() => rmSync(folder, { recursive: true }));

/** The documents of a manifest with that text, or what the gateway prints. */
function read(text: string | Buffer): unknown {
  writeFileSync(path, text);
  try {
    const { persistedDocuments } = readConfig(['--persisted-documents', path], {}) as Config;
    return Object.fromEntries(persistedDocuments?.texts ?? []);
  } catch (error) {
    return (error as ConfigError).problems;
  }
}

const apollo = (operations: unknown, members: object = {}) =>
  JSON.stringify({ format: 'apollo-persisted-query-manifest', version: 1, operations, ...members });
const operation = (id: unknown, body: unknown) => ({ id, name: 'A', type: 'query', body });

describe('a manifest', () => {
  test('in UTF-16 is refused, with the reason', () => {
    for (const text of ['\ufeff{}', '{}']) {
      const littleEndian = Buffer.from(text, 'utf16le');
      for (const bytes of [littleEndian, Buffer.from(littleEndian).swap16()]) {
        expect(read(bytes)).toEqual([
          `--persisted-documents is ${JSON.stringify(path)}: the file is in UTF-16, expected UTF-8`,
        ]);
      }
    }
  });

  test.each([
    ['of Relay', '{"a": "{ a }", "b": "{ b }"}', { a: '{ a }', b: '{ b }' }],
    ['of Relay with escapes', '{\n  "\\u0061": "{ a(b: \\"{[,:\\") }"}', { a: '{ a(b: "{[,:") }' }],
    ['of Apollo', apollo([operation('a', '{ a }'), operation('b', '{ b }')]), { a: '{ a }', b: '{ b }' }],
    ['without documents', '{}', {}],
    ['of Apollo without documents', apollo([]), {}],
    ['with a byte order mark', '\ufeff{"a": "{ a }"}', { a: '{ a }' }],
    ['of Relay that has an id twice', '{"a": "{ a }", "a": "{ b }"}', { a: '{ b }' }],
    ['of Apollo that has a document twice', apollo([operation('a', '{ a }'), operation('a', '{ a }')]), { a: '{ a }' }],
  ])('%s is recognised by its content', (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  const FORMATS =
    'expected {"<id>": "<text>"}, as Relay writes it, or {"format": "apollo-persisted-query-manifest", "version": 1, "operations": […]}';

  test.each([
    [
      'is not JSON',
      '{\n "a": "{ a }",\n}',
      'the file is not JSON: Expected double-quoted property name in JSON at position 17 (line 3 column 1)',
    ],
    ['ends early', '{\n"a":\n', 'the file is not JSON: Unexpected end of JSON input'],
    ['is an array', '[]', FORMATS],
    ['is null', 'null', FORMATS],
    ['has another format', apollo([], { format: 'other' }), FORMATS],
    ['has another version', apollo([], { version: 2 }), FORMATS],
    ['has no operations', apollo(undefined), FORMATS],
    ['has an empty id', '{\n"": "{ a }"}', 'expected a non-empty string as id of ""'],
    ['has a text that is not a string', '{\n\n"a": {"b": "{ a }"}}', 'expected a string as text of "a"'],
    [
      'has an id of Apollo that is not a string',
      apollo([operation(1, '{ a }')]),
      'expected a non-empty string as id of $.operations[0]',
    ],
    [
      'has an empty id of Apollo',
      apollo([operation('', '{ a }')]),
      'expected a non-empty string as id of $.operations[0]',
    ],
    ['has null as an operation', apollo([null]), 'expected a non-empty string as id of $.operations[0]'],
    ['has two problems', '{"a": 1, "b": 2}', 'expected a string as text of "a"'],
    ['has no text', apollo([{ id: 'a' }]), 'expected a string as text of $.operations[0]'],
    [
      'has two texts for one id of Apollo',
      apollo([operation('a', '{ a }'), operation('a', '{ b }')]),
      'the id "a" has a second text at $.operations[1]',
    ],
  ])('that %s is refused with its place', (_, text, problem) => {
    const found = read(text);
    expect(found).toEqual([`--persisted-documents is ${JSON.stringify(path)}: ${problem}`]);
  });

  test('that cannot be read is refused', () => {
    const args = ['--persisted-documents', join(folder, 'missing.json')];
    expect(() => readConfig(args, {})).toThrow(
      /missing\.json": ENOENT: no such file or directory, open '.*missing\.json'$/,
    );
  });
});

test('PERSISTED_ONLY without a manifest is refused', () => {
  expect(() => readConfig([], { PERSISTED_ONLY: 'true' })).toThrow(
    new ConfigError(['PERSISTED_ONLY is true, but PERSISTED_DOCUMENTS is not set: no operation could be executed']),
  );
  // A manifest that cannot be read is one problem.
  const wrong = { PERSISTED_ONLY: 'true', PERSISTED_DOCUMENTS: folder };
  expect(() => readConfig([], wrong)).toThrow(/^PERSISTED_DOCUMENTS is "[^\n]*$/);
});

test('PERSISTED_ONLY is read from its flag, from a switch without a value, or from its variable', () => {
  writeFileSync(path, '{}');
  const documents = ['--persisted-documents', path];
  for (const [args, env] of [
    [[...documents, '--persisted-only', 'true'], {}],
    [[...documents, '--persisted-only'], {}],
    [documents, { PERSISTED_ONLY: 'true' }],
    [[...documents, '--persisted-only'], { PERSISTED_ONLY: 'nonsense' }],
  ] as const)
    expect((readConfig(args, env) as Config).persistedOnly).toBe(true);
});
