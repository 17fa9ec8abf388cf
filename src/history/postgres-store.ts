import pg from 'pg';
import { type Database, type Row, type Sql, toCreate, toUpsert, type Value } from './database.ts';
import { createDatabaseStore } from './database-store.ts';
import { prepareDatabase, type Schema, type StoreOptions } from './migrations.ts';
import { HistoryDatabaseError, type HistoryStore, POSTGRES_CONNECTIONS, permanentError } from './store.ts';
import type { HistoryStoreOptions } from './store-client.ts';

/** The schema of all tables. */
const SCHEMA_NAME = 'pdex_history';

/** The key of the lock under which one gateway of a database writes at a time: "PDEX" in ASCII. */
const LOCK = 0x50444558;

const CONNECT_TIMEOUT_MS = 3_000;
/** How long a write waits for another gateway. */
const LOCK_TIMEOUT_MS = 3_000;
/** How long a statement may take in the server by default, and until its result has arrived. */
const STATEMENT_TIMEOUT_MS = 30_000;
const QUERY_TIMEOUT_MS = 35_000;
/** How long a transaction waits for its next statement. A gateway that vanishes would otherwise keep the lock for hours. */
const IDLE_TIMEOUT_MS = 10_000;

// Settings last as long as a transaction: a pooler in front of the server may use another connection for the next one.
const settings = (timeoutMs = STATEMENT_TIMEOUT_MS) => `
  SET LOCAL search_path TO ${SCHEMA_NAME};
  SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS};
  SET LOCAL statement_timeout = ${timeoutMs};
  SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}`;
const BEGIN_WRITE = `BEGIN ISOLATION LEVEL READ COMMITTED; ${settings()}; SELECT pg_advisory_xact_lock(${LOCK})`;

type PostgresOptions = StoreOptions & Pick<HistoryStoreOptions, 'readTimeoutMs'>;

/** Creates a store in a database of PostgreSQL. Its tables are in a schema of their own, which is created if it is missing. */
export function createPostgresStore(url: string, options: PostgresOptions): HistoryStore {
  const { rawDays, readTimeoutMs, migrations } = options;
  const open = (chainName: string) =>
    prepareDatabase(createPostgresDatabase(url, readTimeoutMs), SCHEMA, { migrations, chainName });
  return createDatabaseStore(open, rawDays);
}

const SCHEMA: Schema = {
  async exists(sql) {
    const query = 'SELECT table_name FROM information_schema.tables WHERE table_schema = $1';
    const tables = (await sql.all(query, SCHEMA_NAME)).map((row) => row['table_name']);
    if (tables.length === 0 || tables.includes('facts')) return tables.length > 0;
    throw permanentError(`The schema ${SCHEMA_NAME} has tables, and they are not a history of the gateway.`);
  },
  async create(sql) {
    // Without the right to create schemas, somebody else has created it.
    const schemas = await sql.all('SELECT nspname FROM pg_namespace WHERE nspname = $1', SCHEMA_NAME);
    if (schemas.length === 0) await sql.run(`CREATE SCHEMA ${SCHEMA_NAME}`);
  },
};

/** The types of PostgreSQL for whole numbers: `int8` and `numeric`. All columns with numbers have one of them. */
const WHOLE_NUMBERS = new Set([20, 1700]);

function createPostgresDatabase(url: string, readTimeoutMs: number | undefined): Database {
  const beginRead = (timeoutMs?: number) => `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${settings(timeoutMs)}`;
  const pool = new pg.Pool({
    connectionString: toDriverUrl(url),
    max: POSTGRES_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'pdex-gateway',
    types: {
      getTypeParser: (oid: number) => (text: string) => (WHOLE_NUMBERS.has(oid) ? BigInt(text) : text),
    },
  });
  let isBroken = false;
  // A connection that nobody uses has failed. The next call opens the database again.
  const onError = () => {
    isBroken = true;
  };
  pool.on('error', onError);
  // One that is in use fails its query, too.
  pool.on('connect', (connection) => connection.on('error', onError));

  async function transact<T>(begin: string, work: (sql: Sql) => Promise<T>): Promise<T> {
    const connection = await pool.connect().catch((error) => {
      throw toDatabaseError(error);
    });
    try {
      await connection.query(begin);
      const result = await work(createSql(connection));
      await connection.query('COMMIT');
      connection.release();
      return result;
    } catch (error) {
      isBroken ||= mustReopen(error);
      // The connection is closed. The server then rolls its transaction back.
      connection.release(true);
      throw toDatabaseError(error);
    }
  }

  return {
    read: (work, isForClients) => transact(beginRead(isForClients ? readTimeoutMs : undefined), work),
    write: (work) => transact(BEGIN_WRITE, work),
    isLost: () => isBroken,
    close: () => pool.end(),
  };
}

/** The URL with which the driver reads `sslmode` as libpq does. libpq has no TLS on a Unix socket. */
function toDriverUrl(text: string): string {
  const url = new URL(text);
  const { searchParams: params } = url;
  if (/^(\/|%2f)/i.test(params.get('host') ?? url.hostname))
    for (const name of [...params.keys()]) if (name.startsWith('ssl')) params.delete(name);
  params.set('uselibpqcompat', 'true');
  return url.href;
}

function createSql(connection: pg.PoolClient): Sql {
  const query = async (text: string, values: readonly unknown[]) =>
    (await connection.query<Record<string, bigint | string | null>>(text, [...values])).rows;

  return {
    all: (text, ...values) => query(text, values.map(toText)),
    async each(text, lists) {
      const results: Row[][] = lists.map(() => []);
      if (lists.length === 0) return results;
      // A join with the lists, row by row. The rows of each list arrive in the order of the query.
      const joined = `SELECT p.list_number, q.* FROM ${unnest(lists)} WITH ORDINALITY AS ${listColumns(lists, 'list_number')} CROSS JOIN LATERAL (${withColumns(text)}) q`;
      for (const row of await query(joined, toColumns(lists))) results[Number(row['list_number']) - 1]?.push(row);
      return results;
    },
    create: async (table) => void (await query(toCreate(table, TYPES), [])),
    run: async (text, ...values) => void (await query(text, values.map(toText))),
    async runEach(text, lists) {
      if (lists.length === 0) return;
      const using = `USING ${unnest(lists)} AS ${listColumns(lists)} WHERE`;
      await query(withColumns(text).replace('WHERE', using), toColumns(lists));
    },
    async put(table, rows) {
      if (rows.length === 0) return;
      const columns = Object.values(table.columns).map((type, index) => `$${index + 1}::${TYPES[type]}[]`);
      await query(toUpsert(table, `SELECT * FROM unnest(${columns.join(', ')})`), toColumns(rows));
    },
  };
}

function toText(value: Value): string | null {
  return value === null ? null : String(value);
}

/** The values of each column, for `unnest`. */
function toColumns(rows: readonly (readonly Value[])[]): readonly (readonly (string | null)[])[] {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => toText(row[column] ?? null)));
}

type Lists = readonly (readonly (number | string)[])[];

/** A table of lists of values. */
function unnest([list = []]: Lists): string {
  const typeOf = (value: number | string) => (typeof value === 'string' ? TYPES.text : TYPES.integer);
  return `unnest(${list.map((value, index) => `$${index + 1}::${typeOf(value)}[]`).join(', ')})`;
}

function listColumns([list = []]: Lists, ...others: readonly string[]): string {
  return `p(${[...list.map((_, index) => `v${index + 1}`), ...others].join(', ')})`;
}

/** The statement with the columns of the lists in place of its parameters. */
function withColumns(text: string): string {
  return text.replace(/\$(\d+)/g, 'p.v$1');
}

const TYPES = { integer: 'bigint', amount: 'numeric', text: 'text' };

/**
 * The classes of errors after which the database is opened again: the connection failed, the database or its tables are no longer
 * there, or the server stops or only reads (25006). After others, such as a lock timeout, only the transaction has failed.
 */
const LOST = /^(08|25006|3D|3F|42|57P)/;

/** Whether the connections are of no use after this error. One without a code of PostgreSQL is an error of the connection. */
function mustReopen(error: unknown): boolean {
  if (error instanceof HistoryDatabaseError) return false;
  return !(error instanceof pg.DatabaseError) || LOST.test(error.code ?? '');
}

function toDatabaseError(error: unknown): HistoryDatabaseError {
  if (error instanceof HistoryDatabaseError) return error;
  const { message, code } = error as Error & { readonly code?: string };
  return new HistoryDatabaseError(`The history database failed: ${message || code}`, { cause: error });
}
