import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { Database, ReadSql, Sql } from './database.ts';
import { deleteFrom, prune } from './deleting.ts';
import {
  heightAtOrAbove,
  readBlocks,
  readBlocksAt,
  readCoverage,
  readDeletedBefore,
  readReservesAt,
  readStateAt,
} from './reading.ts';
import { readCandles } from './reading-candles.ts';
import {
  readMissingTrades,
  readTrade,
  readTradeCoverage,
  readTradedIntervals,
  readTrades,
  readVolumes,
} from './reading-trades.ts';
import { readWindows } from './reading-windows.ts';
import { HistoryDatabaseError, type HistoryStore, permanentError } from './store.ts';
import { recordHeight } from './writing.ts';
import { recordTrades } from './writing-trades.ts';

/**
 * Creates a store in a database, which is opened when it is first needed, and again when its connection was lost.
 *
 * @param open opens the database for a chain; throws HistoryDatabaseError
 * @param rawDays for how many days the changes of each height are kept
 */
export function createDatabaseStore(open: (chainName: string) => Promise<Database>, rawDays: number): HistoryStore {
  let current: Database | undefined;
  /** Set while the database is being opened: all calls wait for this promise. */
  let opening: Promise<Database> | undefined;
  let chain: string | undefined;
  let isClosed = false;

  async function opened(): Promise<Database> {
    if (isClosed) throw new HistoryDatabaseError('The history is closed.');
    if (chain === undefined) throw new HistoryDatabaseError('The chain is not known yet.');
    if (current !== undefined && !current.isLost()) return current;
    opening ??= reopen(chain).finally(() => {
      opening = undefined;
    });
    return opening;
  }

  async function reopen(chainName: string): Promise<Database> {
    await closeCurrent();
    current = await open(chainName);
    return current;
  }

  async function closeCurrent(): Promise<void> {
    const closing = current;
    current = undefined;
    await closing?.close();
  }

  async function read<T>(work: (sql: ReadSql) => Promise<T>): Promise<T> {
    return (await opened()).read(work);
  }

  /** A read that only clients make, and not the recorder or a backfill. */
  async function readForClients<T>(work: (sql: ReadSql) => Promise<T>): Promise<T> {
    return (await opened()).read(work, true);
  }

  async function write<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return (await opened()).write(work);
  }

  /** Writes each block in a transaction of its own. @returns the heights of those that do not fit */
  async function writeEach<B>(
    blocks: readonly B[],
    writeOne: (sql: Sql, block: B) => Promise<boolean>,
    heightOf: (block: B) => BeaconHeight,
  ): Promise<readonly BeaconHeight[]> {
    const leftOut: BeaconHeight[] = [];
    for (const block of blocks) if (!(await write((sql) => writeOne(sql, block)))) leftOut.push(heightOf(block));
    return leftOut;
  }

  return {
    async useChain(chainName) {
      if (chain !== undefined && chain !== chainName)
        throw permanentError(`The history belongs to the chain ${chain}, not to ${chainName}.`);
      chain = chainName;
      await opened();
    },
    record: (blocks) => writeEach(blocks, recordHeight, ({ exchange }) => exchange.beaconHeight),
    recordTrades: (blocks) => writeEach(blocks, recordTrades, ({ beaconHeight }) => beaconHeight),
    coverage: (gaps, step) => read((sql) => readCoverage(sql, gaps, step)),
    blocksAt: (times, version) => read((sql) => readBlocksAt(sql, times, version)),
    firstBlock: (version) => readForClients((sql) => heightAtOrAbove(sql, 0, version)),
    recentBlocks: (query) => read((sql) => readBlocks(sql, query)),
    stateAt: (height) => readForClients((sql) => readStateAt(sql, height)),
    candles: (query) => readForClients((sql) => readCandles(sql, query)),
    windows: (query) => readForClients((sql) => readWindows(sql, query)),
    reservesAt: (query) => readForClients((sql) => readReservesAt(sql, query)),
    missingTrades: (range, last) => read((sql) => readMissingTrades(sql, range, last)),
    tradeCoverage: () => read(readTradeCoverage),
    trades: (query) => readForClients((sql) => readTrades(sql, query)),
    trade: (name) => readForClients((sql) => readTrade(sql, name)),
    volumes: (query) => readForClients((sql) => readVolumes(sql, query)),
    tradedIntervals: (query) => readForClients((sql) => readTradedIntervals(sql, query)),
    deleteFrom: (block) => write((sql) => deleteFrom(sql, block)),
    deletedBefore: () => read(readDeletedBefore),
    async prune(now) {
      await prune(await opened(), rawDays, now);
    },
    async close() {
      isClosed = true;
      await opening?.catch(() => undefined);
      await closeCurrent();
    },
  };
}
