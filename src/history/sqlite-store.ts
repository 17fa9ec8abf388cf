import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { type Database, type ReadSql, type Row, type Sql, toCreate, toUpsert, type Value } from './database.ts';
import { createDatabaseStore } from './database-store.ts';
import { type DatabaseOptions, prepareDatabase, type Schema, type StoreOptions } from './migrations.ts';
import { APPLICATION_ID, canBeHistory } from './sqlite-file.ts';
import { HistoryDatabaseError, type HistoryStore } from './store.ts';

/** How long a statement waits for another process, in milliseconds. */
const BUSY_TIMEOUT_MS = 1_000;

/** Maximum memory for pages of the database, in KiB. */
const CACHE_KIB = 16_384;

/**
 * Creates a store in an SQLite database. The file is created if it does not exist.
 *
 * @param path the path of the file; `undefined` for a database in memory
 */
export function createSqliteStore(path: string | undefined, { rawDays, ...options }: StoreOptions): HistoryStore {
  return createDatabaseStore((chainName) => openSqlite(path, { ...options, chainName }), rawDays);
}

/** Opens a database. A file that is not a history of the gateway is refused, and stays as it is. */
async function openSqlite(path: string | undefined, options: DatabaseOptions): Promise<Database> {
  if (path !== undefined && !orFail(() => canBeHistory(path)))
    throw new HistoryDatabaseError(`The file ${path} is not a history of the gateway.`, { isPermanent: true });
  const db = orFail(() => new DatabaseSync(path ?? ':memory:', { timeout: BUSY_TIMEOUT_MS }));
  try {
    const database = await prepareDatabase(createSqliteDatabase(db, path), SCHEMA, options);
    // After the tables were created: until then, the file stays as it is if it is refused.
    orFail(() => db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -${CACHE_KIB}`));
    return database;
  } catch (error) {
    db.close();
    throw error;
  }
}

const SCHEMA: Schema = {
  exists: async (sql) => (await sql.all('SELECT name FROM sqlite_schema LIMIT 1')).length > 0,
  create: (sql) => sql.run(`PRAGMA application_id = ${APPLICATION_ID}`),
};

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** Creates the database of a connection, which does one transaction after the other. */
function createSqliteDatabase(db: DatabaseSync, path: string | undefined): Database {
  const sql = createSql(db);
  const inode = path === undefined ? undefined : inodeOf(path);
  let isBroken = false;
  let last: Promise<unknown> = Promise.resolve();

  function transact<T>(begin: string, work: (sql: Sql) => Promise<T>): Promise<T> {
    const transaction = last.then(async () => {
      try {
        orFail(() => db.exec(begin));
        const result = await work(sql);
        orFail(() => db.exec('COMMIT'));
        return result;
      } catch (error) {
        // A database in memory would be lost if it were opened again.
        isBroken ||= path !== undefined && mustReopen(error);
        if (db.isTransaction) db.exec('ROLLBACK');
        throw error;
      }
    });
    // Between two transactions, the thread receives messages.
    last = transaction.catch(() => undefined).then(() => setImmediate());
    return transaction;
  }

  return {
    read: (work) => transact('BEGIN', work),
    write: (work) => transact('BEGIN IMMEDIATE', work),
    isLost: () => isBroken || (path !== undefined && orFail(() => inodeOf(path)) !== inode),
    async close() {
      await last;
      if (db.isOpen) db.close();
    },
  };
}

/** A prepared statement, with the place in the list of values of each of its parameters. */
type Prepared = { readonly statement: StatementSync; readonly places: readonly number[] };

function createSql(db: DatabaseSync): Sql {
  const statements = new Map<string, Prepared>();
  const prepare = (text: string) => {
    const known = statements.get(text);
    if (known !== undefined) return known;
    // SQLite finds parameters by their place faster than by their name.
    const places = [...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number) - 1);
    const statement = db.prepare(text.replace(/\$\d+/g, '?'));
    statement.setReadBigInts(true);
    const prepared = { statement, places };
    statements.set(text, prepared);
    return prepared;
  };
  const all = ({ statement, places }: Prepared, values: readonly Value[]) =>
    statement.all(...toParameters(places, values)) as unknown as readonly Row[];
  const run = ({ statement, places }: Prepared, values: readonly Value[]) =>
    void statement.run(...toParameters(places, values));
  const runEach = (text: string, lists: readonly (readonly Value[])[]) => {
    const prepared = prepare(text);
    for (const values of lists) run(prepared, values);
  };

  const reads: ReadSql = {
    all: async (query, ...values) => orFail(() => all(prepare(query), values)),
    each: async (query, lists) =>
      orFail(() => {
        const prepared = prepare(query);
        return lists.map((values) => all(prepared, values));
      }),
  };
  return {
    ...reads,
    create: async (table) => orFail(() => db.exec(`${toCreate(table, TYPES)} STRICT, WITHOUT ROWID`)),
    run: async (text, ...values) => orFail(() => run(prepare(text), values)),
    runEach: async (text, lists) => orFail(() => runEach(text, lists)),
    async put(table, rows) {
      const values = Object.keys(table.columns).map((_, index) => `$${index + 1}`);
      orFail(() => runEach(toUpsert(table, `VALUES (${values.join(', ')})`), rows));
    },
  };
}

const MAX_INT64 = 2n ** 63n - 1n;

/** The value of each parameter. Amounts that SQLite's integers cannot hold become text. */
function toParameters(places: readonly number[], values: readonly Value[]): readonly Value[] {
  return places.map((place) => {
    const value = values[place] ?? null;
    return typeof value === 'bigint' && value > MAX_INT64 ? String(value) : value;
  });
}

const TYPES = { integer: 'INTEGER', amount: 'ANY', text: 'TEXT' };

/** The primary result codes that only the operator can change: SQLITE_CORRUPT and SQLITE_NOTADB. */
const PERMANENT = new Set([11, 26]);

/** The primary result codes of a database that another process uses: SQLITE_BUSY and SQLITE_LOCKED. */
const IN_USE = new Set([5, 6]);

/** Whether a connection is of no use after this error. */
function mustReopen(error: unknown): boolean {
  const cause = error instanceof HistoryDatabaseError ? (error.cause as { readonly errcode?: number } | undefined) : {};
  return cause !== undefined && !IN_USE.has((cause.errcode ?? 0) & 0xff);
}

/** Calls SQLite or the file system. @throws HistoryDatabaseError in place of their errors */
function orFail<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof HistoryDatabaseError) throw error;
    const { errcode = 0, message } = error as Error & { readonly errcode?: number };
    const isPermanent = PERMANENT.has(errcode & 0xff);
    throw new HistoryDatabaseError(`The history database failed: ${message}`, { cause: error, isPermanent });
  }
}
