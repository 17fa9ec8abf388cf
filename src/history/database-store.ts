import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { PoolDirectory } from '../domain/exchange.ts';
import type { Database, ReadSql } from './database.ts';
import { deleteFrom } from './deleting.ts';
import { createPoolMemory, type PoolMemory } from './pool-states.ts';
import { prune } from './pruning.ts';
import { heightAtOrAbove, readBlockAt, readBlocks, readCoverage, readReservesAt, readStateAt } from './reading.ts';
import { readCandles } from './reading-candles.ts';
import { readWindows } from './reading-windows.ts';
import { HistoryDatabaseError, type HistoryStore } from './store.ts';
import { recordHeight } from './writing.ts';

type Opened = { readonly database: Database; readonly memory: PoolMemory };

/**
 * Creates a store in a database, which is opened when it is first needed, and again when its connection was lost.
 *
 * @param open opens the database for a chain; throws HistoryDatabaseError
 * @param rawDays for how many days the changes of each height are kept
 */
export function createDatabaseStore(open: (chainName: string) => Promise<Database>, rawDays: number): HistoryStore {
  let current: Opened | undefined;
  /** Set while the database is being opened: all calls wait for this promise. */
  let opening: Promise<Opened> | undefined;
  let directory: PoolDirectory | undefined;
  let chain: string | undefined;
  let isClosed = false;

  async function opened(): Promise<Opened> {
    if (isClosed) throw new HistoryDatabaseError('The history is closed.');
    if (chain === undefined) throw new HistoryDatabaseError('The chain is not known yet.');
    if (current !== undefined && !current.database.isLost()) return current;
    opening ??= reopen(chain).finally(() => {
      opening = undefined;
    });
    return opening;
  }

  async function reopen(chainName: string): Promise<Opened> {
    await closeCurrent();
    current = { database: await open(chainName), memory: createPoolMemory() };
    return current;
  }

  async function closeCurrent(): Promise<void> {
    const closing = current;
    current = undefined;
    await closing?.database.close();
  }

  async function read<T>(work: (sql: ReadSql, memory: PoolMemory) => Promise<T>): Promise<T> {
    const { database, memory } = await opened();
    return database.read((sql) => work(sql, memory));
  }

  return {
    async useChain(chainName) {
      if (chain !== undefined && chain !== chainName)
        throw new HistoryDatabaseError(`The history belongs to the chain ${chain}, not to ${chainName}.`, {
          isPermanent: true,
        });
      chain = chainName;
      await opened();
    },
    async record(blocks) {
      const leftOut: BeaconHeight[] = [];
      for (const block of blocks) {
        const { database, memory } = await opened();
        try {
          const fits = await database.write((sql) => recordHeight(sql, memory, block));
          if (!fits) leftOut.push(block.exchange.beaconHeight);
        } catch (error) {
          memory.clear();
          throw error;
        }
      }
      return leftOut;
    },
    coverage: (gaps) => read((sql) => readCoverage(sql, gaps)),
    blockAt: (time, version) => read((sql) => readBlockAt(sql, time, version)),
    firstBlock: (version) => read((sql) => heightAtOrAbove(sql, 0, version)),
    recentBlocks: (query) => read((sql) => readBlocks(sql, query)),
    stateAt: (height) =>
      read(async (sql, memory) => {
        const state = await readStateAt(sql, memory, height, directory);
        directory = state?.directory;
        return state;
      }),
    candles: (query) => read((sql, memory) => readCandles(sql, memory, query)),
    windows: (query) => read((sql, memory) => readWindows(sql, memory, query)),
    reservesAt: (query) => read((sql, memory) => readReservesAt(sql, memory, query)),
    async deleteFrom(block) {
      const { database, memory } = await opened();
      // Blocks of the chain can have the height and the time of a deleted one.
      return database.write((sql) => deleteFrom(sql, block)).finally(memory.clear);
    },
    async prune(now) {
      const { database } = await opened();
      await prune(database, rawDays, now);
    },
    async close() {
      isClosed = true;
      await opening?.catch(() => undefined);
      await closeCurrent();
    },
  };
}
