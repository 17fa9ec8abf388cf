/**
 * A database with the tables of `tables.ts`. The statements are the same for SQLite and PostgreSQL, with parameters `$1`,
 * `$2` and so on. Every parameter is a whole number, an amount or a text. The methods throw HistoryDatabaseError.
 */
export type Database = {
  /** Reads in one transaction, which sees one state of the database. @param isForClients whether it ends when clients no longer wait */
  read<T>(work: (sql: ReadSql) => Promise<T>, isForClients?: boolean): Promise<T>;
  /** Writes in one transaction, after those of all other processes. It is rolled back if `work` throws. */
  write<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Whether it has to be opened again: its connection failed, or its file is another one. */
  isLost(): boolean;
  /** Waits for the transactions in progress, and closes the connections. */
  close(): Promise<void>;
};

/** Reads inside a transaction. @throws the error of the driver */
export type ReadSql = {
  /** The rows of a query. */
  all(query: string, ...values: readonly Value[]): Promise<readonly Row[]>;
  /** The rows of a query for each list of values, which are whole numbers or texts. */
  each(query: string, lists: readonly (readonly (number | string)[])[]): Promise<readonly (readonly Row[])[]>;
};

/** Reads and writes inside a transaction. @throws the error of the driver */
export type Sql = ReadSql & {
  create(table: Table): Promise<void>;
  run(statement: string, ...values: readonly Value[]): Promise<void>;
  /** Executes a statement for each list of values, which are whole numbers. */
  runEach(statement: string, lists: readonly (readonly number[])[]): Promise<void>;
  /** Inserts rows, or replaces those with the same key. The values are in the order of the columns. */
  put(table: Table, rows: readonly (readonly Value[])[]): Promise<void>;
};

/** A value of a column. */
export type Value = number | bigint | string | null;

/** A row of a result: whole numbers as `bigint`; amounts as `bigint` or as decimal text. */
export type Row = Readonly<Record<string, bigint | string | null>>;

/** A table: its columns with their types, the key first. */
export type Table = {
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** Number of columns of the key. */
  readonly keyLength: number;
};

/** `amount` is a whole number of any size. */
export type ColumnType = 'integer' | 'amount' | 'text';

/** The statement that creates a table. @param types the names of the types in the kind of database */
export function toCreate({ name, columns, keyLength }: Table, types: Readonly<Record<ColumnType, string>>): string {
  const all = Object.entries(columns).map(([column, type]) => `${column} ${types[type]}`);
  const key = Object.keys(columns).slice(0, keyLength);
  return `CREATE TABLE ${name} (${all.join(', ')}, PRIMARY KEY (${key.join(', ')}))`;
}

/** The statement that inserts rows, or replaces those with the same key. @param rows `VALUES` or `SELECT`, in the order of the columns */
export function toUpsert({ name, columns, keyLength }: Table, rows: string): string {
  const all = Object.keys(columns);
  const set = all.slice(keyLength).map((column) => `${column} = excluded.${column}`);
  const key = all.slice(0, keyLength);
  return `INSERT INTO ${name} (${all.join(', ')}) ${rows} ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${set.join(', ')}`;
}

/** The value of a column of whole numbers. */
export function numberOf(row: Row | undefined, column: string): number {
  return Number(row?.[column]);
}

/** The value of a column of amounts; `undefined` for none. */
export function amountOf(row: Row | undefined, column: string): bigint | undefined {
  const value = row?.[column] ?? undefined;
  return typeof value === 'string' ? BigInt(value) : value;
}
