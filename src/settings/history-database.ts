import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canBeHistory } from '../history/sqlite-file.ts';
import type { HistoryDatabase } from '../history/store.ts';

/** The file of the history if `HISTORY_DATABASE` is not set, in the working directory. */
export const DEFAULT_HISTORY_FILE = 'pdex-history.sqlite';

/** The step between missing heights that are read if `HISTORY_BACKFILL_STEP` is not set. */
export const DEFAULT_BACKFILL_STEP = 12;

/** How far back missing heights are read if `HISTORY_BACKFILL_HOURS` is not set. */
export const DEFAULT_BACKFILL_HOURS = { node: 24, sandbox: 168 };

const EXPECTED = 'expected the path of a file, a postgres:// URL, memory or off';

/** What can be no path by mistake: another spelling or meaning of `off` and `memory`, and a text in quotes or spaces. */
const NO_PATH = /^(off|memory|none|false|no)$|^[\s"']|[\s"']$/i;

/**
 * Reads where the history is stored; `undefined` if the text is empty. A file must be in a folder that exists, and be a
 * history if it exists.
 *
 * @throws Error that says what was expected, without any text that could be a secret
 */
export function readHistoryDatabase(text: string): HistoryDatabase | 'off' | undefined {
  if (text === '') return undefined;
  if (text === 'off') return text;
  if (text === 'memory' || text === ':memory:') return { kind: 'memory' };
  if (/^(?!file:)([a-z][\w+.-]*:\/\/|postgres(ql)?:)/i.test(text))
    return { kind: 'postgresql', url: readPostgresUrl(text) };
  if (NO_PATH.test(text)) throw new Error(`${EXPECTED} (in lower case), without quotes and spaces around it`);
  const path = readPath(text);
  requireDatabaseFile(path);
  return { kind: 'sqlite', path };
}

/** Reads the path of a file. In a file `.env`, no shell expands `~`. */
function readPath(text: string): string {
  if (text.startsWith('~/')) return join(homedir(), text.slice(2));
  if (!/^file:/i.test(text)) return resolve(text);
  if (!/^file:(\/\/(localhost)?)?\/[^/?#][^?#]*$/i.test(text))
    throw new Error('expected file:/// before an absolute path without parameters, or the path alone');
  return fileURLToPath(text);
}

/** The modes of libpq that do not depend on what the server offers. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];

/** Reads a URL of PostgreSQL, with the parameters of libpq. What the driver understands differently is refused. */
function readPostgresUrl(text: string): string {
  const parsed = URL.parse(text);
  // libpq accepts a user without a host, and takes the host from the parameters.
  const url = parsed ?? URL.parse(text.replace('@/', '@localhost/'));
  if (url === null || !/^postgres(ql)?:\/\//i.test(text)) throw new Error(EXPECTED);
  const { searchParams: params } = url;
  const host = params.get('host') ?? parsed?.hostname ?? '';
  const mode = params.get('sslmode') ?? 'disable';
  const rootCert = params.get('sslrootcert');
  if (host === '')
    throw new Error('expected a host, or the folder of a Unix socket: postgres:///database?host=/var/run/postgresql');
  if (host.includes(',')) throw new Error('expected one host');
  if (params.has('dbname')) throw new Error('expected the database as the path, in place of the parameter dbname');
  if (!SSL_MODES.includes(mode)) throw new Error(`sslmode: expected one of ${SSL_MODES.join(', ')}`);
  if (rootCert === 'system') throw new Error('expected no sslrootcert: without it, public certificates are trusted');
  if (mode === 'verify-ca' && rootCert === null)
    throw new Error('sslmode=verify-ca: expected the path of a certificate in sslrootcert, or verify-full');
  for (const name of ['sslrootcert', 'sslcert', 'sslkey'] as const) {
    const path = params.get(name);
    if (path !== null) requireAccess(path, constants.R_OK, `the file of ${name} cannot be read`);
  }
  return url.href;
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
  requireAccess(folder, WRITABLE, `${named('the folder', folder)} cannot be written`);
  if (file === undefined) return;
  if (!file.isFile()) throw new Error(`${named('the path', path)} is not a file`);
  requireAccess(path, WRITABLE, `${named('the file', path)} cannot be written`);
  if (!canBeHistory(path)) throw new Error(`${named('the file', path)} is not a history of the gateway`);
}

/** Names a file or folder with its path, unless the path looks like a mistyped URL, which could contain a password. */
function named(what: string, path: string): string {
  return /[@:]/.test(path) ? what : `${what} ${path}`;
}

const WRITABLE = constants.R_OK | constants.W_OK;

function requireAccess(path: string, mode: number, problem: string): void {
  try {
    accessSync(path, mode);
  } catch (error) {
    throw new Error(problem, { cause: error });
  }
}
