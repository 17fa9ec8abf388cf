import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Database, type ReadSql, type Row, type Sql, toCreate, toUpsert, type Value } from './database.ts';
import { createDatabaseStore } from './database-store.ts';
import { type DatabaseOptions, prepareDatabase, type Schema, type StoreOptions } from './migrations.ts';
import { APPLICATION_ID, canBeHistory } from './sqlite-file.ts';
import { HistoryDatabaseError, type HistoryStore, permanentError } from './store.ts';

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
    throw permanentError(`The file ${path} is not a history of the gateway.`);
  const db = orFail(() => new DatabaseSync(path ?? ':memory:', { timeout: BUSY_TIMEOUT_MS }));
  const database = await prepareDatabase(createSqliteDatabase(db, path), SCHEMA, options);
  try {
    // After the tables were created: until then, the file stays as it is if it is refused.
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -${CACHE_KIB}`);
    return database;
  } catch (error) {
    db.close();
    throw toDatabaseError(error);
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

  const isReplaced = () => path !== undefined && orFail(() => inodeOf(path)) !== inode;

  function transact<T>(begin: string, work: (sql: Sql) => Promise<T>): Promise<T> {
    const transaction = last.then(async () => {
      try {
        db.exec(begin);
        const result = await work(sql);
        db.exec('COMMIT');
        return result;
      } catch (error) {
        // A database in memory would be lost if it were opened again.
        isBroken ||= path !== undefined && mustReopen(error);
        if (db.isTransaction) db.exec('ROLLBACK');
        throw toDatabaseError(error);
      }
    });
    // Between two transactions, the thread receives messages.
    last = transaction.catch(() => undefined).then(() => nextTurn());
    return transaction;
  }

  return {
    read: (work) => transact('BEGIN', work),
    write: (work) => transact('BEGIN IMMEDIATE', work),
    isLost: () => isBroken || isReplaced(),
    async close() {
      await last;
      if (!db.isOpen) return;
      try {
        // SQLite leaves the changes beside a file that was replaced: they would be written into the new one.
        if (isReplaced()) db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } catch (error) {
        throw toDatabaseError(error);
      } finally {
        db.close();
      }
    },
  };
}

function createSql(db: DatabaseSync): Sql {
  const statements = new Map<string, StatementSync>();
  const prepare = (text: string) => {
    const known = statements.get(text);
    if (known !== undefined) return known;
    // Parameters that begin with `$` would have to be bound by their names.
    const statement = db.prepare(text.replaceAll('$', '?'));
    statement.setReadBigInts(true);
    statements.set(text, statement);
    return statement;
  };
  const all = (statement: StatementSync, values: readonly Value[]) =>
    statement.all(...values.map(toParameter)) as unknown as readonly Row[];
  const runEach = (text: string, lists: readonly (readonly Value[])[]) => {
    const statement = prepare(text);
    for (const values of lists) statement.run(...values.map(toParameter));
  };

  const reads: ReadSql = {
    all: async (query, ...values) => all(prepare(query), values),
    async each(query, lists) {
      const statement = prepare(query);
      return lists.map((values) => all(statement, values));
    },
  };
  return {
    ...reads,
    create: async (table) => db.exec(`${toCreate(table, TYPES)} STRICT, WITHOUT ROWID`),
    run: async (text, ...values) => runEach(text, [values]),
    runEach: async (text, lists) => runEach(text, lists),
    async put(table, rows) {
      const values = Object.keys(table.columns).map((_, index) => `$${index + 1}`);
      runEach(toUpsert(table, `VALUES (${values.join(', ')})`), rows);
    },
  };
}

const MAX_INT64 = 2n ** 63n - 1n;

/** Amounts that SQLite's integers cannot hold become text. */
function toParameter(value: Value): Value {
  return typeof value === 'bigint' && value > MAX_INT64 ? String(value) : value;
}

const TYPES = { integer: 'INTEGER', amount: 'ANY', text: 'TEXT' };

/** The primary result codes of problems that only the operator can resolve: SQLITE_CORRUPT and SQLITE_NOTADB. */
const PERMANENT = new Set([11, 26]);

/** The primary result codes of a database that another process uses: SQLITE_BUSY and SQLITE_LOCKED. */
const IN_USE = new Set([5, 6]);

/** Whether a connection is of no use after this error. */
function mustReopen(error: unknown): boolean {
  return !(error instanceof HistoryDatabaseError) && !IN_USE.has(codeOf(error));
}

function codeOf(error: unknown): number {
  return ((error as { readonly errcode?: number }).errcode ?? 0) & 0xff;
}

function toDatabaseError(error: unknown): HistoryDatabaseError {
  if (error instanceof HistoryDatabaseError) return error;
  const { message } = error as Error;
  const isPermanent = PERMANENT.has(codeOf(error));
  return new HistoryDatabaseError(`The history database failed: ${message}`, { cause: error, isPermanent });
}

/** Calls SQLite or the file system outside of a transaction. @throws HistoryDatabaseError in place of their errors */
function orFail<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw toDatabaseError(error);
  }
}
