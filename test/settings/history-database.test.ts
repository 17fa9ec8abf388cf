import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readHistoryDatabase } from '../../src/settings/history-database.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { redactorOf } from '../../src/settings/secrets.ts';
import type { Config } from '../../src/settings/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'pdex-history-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('where the history is stored', () => {
  test.each<readonly [string, unknown]>([
    ['', undefined],
    ['off', 'off'],
    ['memory', { kind: 'memory' }],
    [join(folder, 'new.sqlite'), { kind: 'sqlite', path: join(folder, 'new.sqlite') }],
    ['./no', { kind: 'sqlite', path: join(process.cwd(), 'no') }],
    ['history.sqlite', { kind: 'sqlite', path: join(process.cwd(), 'history.sqlite') }],
    ['postgres://me:key@host/pdex\n', { kind: 'postgresql', url: 'postgres://me:key@host/pdex' }],
    ['postgres://me:key@host/pdex', { kind: 'postgresql', url: 'postgres://me:key@host/pdex' }],
    [':memory:', { kind: 'memory' }],
    [`file://${folder}/a%20b.sqlite`, { kind: 'sqlite', path: join(folder, 'a b.sqlite') }],
    [`file://localhost${folder}/new.sqlite`, { kind: 'sqlite', path: join(folder, 'new.sqlite') }],
    [`FILE:${folder}/new.sqlite`, { kind: 'sqlite', path: join(folder, 'new.sqlite') }],
    ['~/new.sqlite', { kind: 'sqlite', path: join(homedir(), 'new.sqlite') }],
    ...[
      ...['postgres:///pdex?host=/var/run/postgresql', 'postgres://%2Fvar%2Frun%2Fpostgresql:5433/pdex'],
      ...['postgres://host/pdex?sslmode=disable', 'postgres://host/pdex?sslmode=require&application_name=me'],
      ...[
        'postgres://host/pdex?sslmode=verify-full',
        `postgres://host/pdex?sslmode=verify-ca&sslrootcert=${import.meta.filename}`,
      ],
    ].map((text) => [text, { kind: 'postgresql', url: new URL(text).href }] as const),
    // libpq takes the host from the parameter.
    ['postgres://me:key@/pdex?host=/tmp', { kind: 'postgresql', url: 'postgres://me:key@localhost/pdex?host=/tmp' }],
    ['postgresql://host', { kind: 'postgresql', url: 'postgresql://host' }],
  ])('%j', (text, database) => {
    expect(readHistoryDatabase(text)).toEqual(database);
  });

  test.each<readonly [string, string]>([
    ['mysql://host/pdex', 'expected the path of a file, a postgres:// URL, memory or off'],
    ...['OFF', 'Off', 'none', 'False', 'no', 'Memory', '"off"', "'a.sqlite'", ' off', 'memory ', ' '].map(
      (text) =>
        [
          text,
          'expected the path of a file, a postgres:// URL, memory or off (in lower case), without quotes and spaces around it',
        ] as const,
    ),
    [join(folder, 'missing', 'history.sqlite'), `the folder ${join(folder, 'missing')} does not exist`],
    [folder, `the path ${folder} is not a file`],
    ['~/missing/history.sqlite', `the folder ${join(homedir(), 'missing')} does not exist`],
    ...[
      'file:new.sqlite',
      'file::memory:',
      'file://host/new.sqlite',
      `file://${folder}/new.sqlite?mode=ro`,
      'file://',
    ].map((text) => [text, 'expected file:/// before an absolute path without parameters, or the path alone'] as const),
    ...['postgres:///pdex', 'postgres://me@/pdex'].map(
      (text) =>
        [
          text,
          'expected a host, or the folder of a Unix socket: postgres:///database?host=/var/run/postgresql',
        ] as const,
    ),
    ...['allow', 'prefer', 'no-verify', 'REQUIRE', ''].map(
      (mode) =>
        [
          `postgres://host/?sslmode=${mode}`,
          'sslmode: expected one of disable, require, verify-ca, verify-full',
        ] as const,
    ),
    ['postgres://a,b/pdex', 'expected one host'],
    ['postgres://host/?dbname=pdex', 'expected the database as the path, in place of the parameter dbname'],
    ['postgres://host/?sslrootcert=system', 'expected no sslrootcert: without it, public certificates are trusted'],
    [
      'postgres://host/?sslmode=verify-ca',
      'sslmode=verify-ca: expected the path of a certificate in sslrootcert, or verify-full',
    ],
    ...['sslkey', 'sslcert', 'sslrootcert'].map(
      (name) => [`postgres://host/?${name}=/missing/file`, `the file of ${name} cannot be read`] as const,
    ),
    ['postgres:/me:swordfish@host/pdex', 'expected the path of a file, a postgres:// URL, memory or off'],
    ['me:swordfish@host/pdex', 'the folder does not exist'],
    [fileWith('notes.txt', 'No database, but something that somebody needs.'), 'is not a history of the gateway'],
    [
      fileWith('other.sqlite', `SQLite format 3\0${' '.repeat(52)}NOTE and the rest`),
      'is not a history of the gateway',
    ],
    [fileWith('short', 'SQLite'), 'is not a history of the gateway'],
  ])('is refused: %j', (text, problem) => {
    expect(() => readHistoryDatabase(text)).toThrow(problem);
    expect(() => readConfig([`--history-database=${text}`], {})).toThrow(problem);
  });

  test('can be an empty file, or one of the gateway', () => {
    for (const text of ['', `SQLite format 3\0${' '.repeat(52)}PDEX and the rest`]) {
      const path = fileWith('any.sqlite', text);
      expect(readHistoryDatabase(path)).toEqual({ kind: 'sqlite', path });
    }
  });

  test('no message has the password of a database, and names of users and databases stay readable', () => {
    const text = 'postgres://pdex:swordfish@host/pdex';
    const redact = redactorOf(readConfig([], { HISTORY_DATABASE: text }) as Config);
    expect(redact(`pdex-gateway cannot connect to host as pdex with swordfish (${text})`)).not.toContain('swordfish');
    expect(redact('pdex-gateway uses the database pdex')).toBe('pdex-gateway uses the database pdex');
    const socket = 'postgres://pdex@host/pdex?host=/tmp/socket&sslmode=require&password=swordfish';
    expect(redactorOf(readConfig([], { HISTORY_DATABASE: socket }) as Config)('/tmp/socket require swordfish')).toBe(
      '/tmp/socket require [redacted]',
    );
    try {
      readConfig([], { HISTORY_DATABASE: 'postgress://me:swordfish@host/pdex' });
    } catch (error) {
      expect((error as Error).message).not.toContain('swordfish');
    }
  });
});
