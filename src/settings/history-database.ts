import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { canBeHistory } from '../history/sqlite-file.ts';
import type { HistoryDatabase } from '../history/store.ts';

/** The file of the history if `HISTORY_DATABASE` is not set, in the working directory. */
export const DEFAULT_HISTORY_FILE = 'pdex-history.sqlite';

/** The step between missing heights that are read from a real node if `HISTORY_BACKFILL_STEP` is not set. */
export const DEFAULT_BACKFILL_STEP = 12;

/**
 * Reads where the history is stored; `undefined` if the text is empty. A file must be in a folder that exists, and be a
 * history if it exists.
 *
 * @throws Error that says what was expected, without any text that could be a secret
 */
export function readHistoryDatabase(text: string): HistoryDatabase | 'off' | undefined {
  if (text === '') return undefined;
  if (text === 'off') return text;
  if (text === 'memory') return { kind: 'memory' };
  if (/^([a-z][\w+.-]*:\/\/|postgres(ql)?:)/i.test(text)) return { kind: 'postgresql', url: readPostgresUrl(text) };
  const path = resolve(text);
  requireDatabaseFile(path);
  return { kind: 'sqlite', path };
}

/** Where the history of a node is stored if the setting is not set. */
export function defaultHistoryDatabase(isSandbox: boolean): HistoryDatabase {
  return isSandbox ? { kind: 'memory' } : { kind: 'sqlite', path: resolve(DEFAULT_HISTORY_FILE) };
}

function readPostgresUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:\/\//i.test(text))
    throw new Error('expected the path of a file, a postgres:// URL, memory or off');
  return url;
}

/**
 * Checks what can be known of a database file before it is opened.
 *
 * @throws Error if its folder does not exist or cannot be written, or if the file is not a history
 */
export function requireDatabaseFile(path: string): void {
  const folder = dirname(path);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`${named('the folder', folder)} does not exist`);
  const file = statSync(path, { throwIfNoEntry: false });
  // SQLite creates further files beside the database.
  requireWritable(folder, `${named('the folder', folder)} cannot be written`);
  if (file === undefined) return;
  if (!file.isFile()) throw new Error(`${named('the path', path)} is not a file`);
  requireWritable(path, `${named('the file', path)} cannot be written`);
  if (!canBeHistory(path)) throw new Error(`${named('the file', path)} is not a history of the gateway`);
}

/** Names a file or folder with its path, unless the path looks like a mistyped URL, which could contain a password. */
function named(what: string, path: string): string {
  return /[@:]/.test(path) ? what : `${what} ${path}`;
}

function requireWritable(path: string, problem: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw new Error(problem, { cause: error });
  }
}
