import type { Database, ReadSql, Sql } from './database.ts';
import { DELETED_BEFORE, originFact, readFact } from './reading.ts';
import { permanentError } from './store.ts';
import {
  CANDLES,
  CHANGES,
  FACTS,
  HEIGHTS,
  intervalsOf,
  POOLS,
  RANGES,
  TRADED_BLOCKS,
  TRADED_CANDLES,
  TRADED_INTERVALS,
  TRADES,
} from './tables.ts';

/** One step of the version of a database. */
export type Migration = (sql: Sql) => Promise<void>;

/**
 * The steps to the newest version. The first one creates the tables. A released step never changes. A column that gets another
 * meaning gets another name, because older gateways may still be reading.
 */
export const MIGRATIONS: readonly Migration[] = [
  async (sql) => {
    await sql.create({ ...HEIGHTS, columns: { height: 'integer', hash: 'text', time: 'integer' } });
    for (const table of [FACTS, RANGES, POOLS, CHANGES, intervalsOf('V1'), CANDLES]) await sql.create(table);
    await sql.run('CREATE INDEX heights_by_time ON heights (time, height)');
    await sql.run('CREATE UNIQUE INDEX pools_by_id ON pools (id)');
  },
  // Heights of V3. Those that are recorded are of V1.
  async (sql) => {
    await sql.run('ALTER TABLE heights ADD COLUMN version INTEGER NOT NULL DEFAULT 1');
    await sql.run('CREATE INDEX heights_by_version ON heights (version, height)');
    await sql.create(intervalsOf('V3'));
    if ((await readFact(sql, DELETED_BEFORE)) !== undefined) await sql.put(FACTS, [[originFact('V1'), 'true']]);
  },
  // Trades. None are recorded yet.
  async (sql) => {
    for (const table of [TRADED_BLOCKS, TRADES, TRADED_INTERVALS, TRADED_CANDLES]) await sql.create(table);
    await sql.run('CREATE INDEX traded_blocks_by_time ON traded_blocks (time, height)');
    await sql.run('CREATE INDEX trades_by_pool ON trades (pool, height, place)');
  },
];

/** How the tables of a kind of database are found and created. */
export type Schema = {
  /** Whether there are tables of a history. @throws HistoryDatabaseError that is permanent if there are only others */
  exists(sql: ReadSql): Promise<boolean>;
  /** Makes an empty database ready for tables. */
  create(sql: Sql): Promise<void>;
};

/**
 * Creates the tables, or brings those of an older version of the gateway up to date, and notes for which chain they are. If
 * there is nothing to do, it only reads.
 *
 * @returns the database, whose transactions write nothing after a newer gateway has upgraded it
 * @throws HistoryDatabaseError that is permanent if the database is of another chain or of a newer version. After any error, the
 *   database is closed
 */
export async function prepareDatabase(database: Database, schema: Schema, options: DatabaseOptions): Promise<Database> {
  const { chainName, migrations = MIGRATIONS } = options;
  const readVersion = async (sql: ReadSql) =>
    (await schema.exists(sql)) ? requireVersion(sql, chainName, migrations.length) : undefined;
  const prepared: Database = {
    ...database,
    write: (work) => database.write((sql) => requireVersion(sql, chainName, migrations.length).then(() => work(sql))),
  };
  try {
    if ((await database.read(readVersion)) === migrations.length) return prepared;
    await database.write(async (sql) => {
      // Another process may have done it since.
      const version = await readVersion(sql);
      if (version === undefined) await schema.create(sql);
      for (const migrate of migrations.slice(version)) await migrate(sql);
      await sql.put(FACTS, [
        ['version', String(migrations.length)],
        ['chain', chainName],
      ]);
    });
    return prepared;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The version of a database, if it can be used. @throws HistoryDatabaseError that is permanent if not */
async function requireVersion(sql: ReadSql, chainName: string, newest: number): Promise<number> {
  const facts = new Map<string, string>();
  for (const { name, value } of await sql.all('SELECT name, value FROM facts')) facts.set(String(name), String(value));

  const version = Number(facts.get('version'));
  if (version > newest) {
    throw permanentError(
      `The history database has version ${version}, and this gateway knows versions up to ${newest}. Start a newer gateway, or choose another database.`,
    );
  }
  const chain = facts.get('chain');
  if (chain === chainName) return version;
  throw permanentError(`The history database belongs to the chain ${chain}, but the node belongs to ${chainName}.`);
}

/** What a database is opened with. */
export type DatabaseOptions = {
  /** The chain whose history it has. */
  readonly chainName: string;
  /** The versions that it can have; {@link MIGRATIONS} by default. */
  readonly migrations?: readonly Migration[] | undefined;
};

/** What a store is created with. */
export type StoreOptions = Pick<DatabaseOptions, 'migrations'> & {
  /** For how many days the changes of each height are kept. */
  readonly rawDays: number;
};
