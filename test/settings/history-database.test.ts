import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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
  test.each([
    ['', undefined],
    ['off', 'off'],
    ['memory', { kind: 'memory' }],
    [join(folder, 'new.sqlite'), { kind: 'sqlite', path: join(folder, 'new.sqlite') }],
    ['history.sqlite', { kind: 'sqlite', path: join(process.cwd(), 'history.sqlite') }],
    ['postgres://me:key@host/pdex', { kind: 'postgresql', url: new URL('postgres://me:key@host/pdex') }],
    ['postgresql://host', { kind: 'postgresql', url: new URL('postgresql://host') }],
  ])('%j', (text, database) => {
    expect(readHistoryDatabase(text)).toEqual(database);
  });

  test.each([
    ['mysql://host/pdex', 'expected the path of a file, a postgres:// URL, memory or off'],
    [join(folder, 'missing', 'history.sqlite'), `the folder ${join(folder, 'missing')} does not exist`],
    [folder, `the path ${folder} is not a file`],
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
    try {
      readConfig([], { HISTORY_DATABASE: 'postgress://me:swordfish@host/pdex' });
    } catch (error) {
      expect((error as Error).message).not.toContain('swordfish');
    }
  });
});
