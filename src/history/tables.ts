import type { ExchangeVersion } from '../domain/pool-pair.ts';
import type { ColumnType, Table } from './database.ts';

/** Both versions of the exchange. */
export const VERSIONS: readonly ExchangeVersion[] = ['V1', 'V3'];

/** The number of a version in HEIGHTS. */
export function toVersionNumber(version: ExchangeVersion): number {
  return version === 'V1' ? 1 : 3;
}

/** The version of the pool with that id; see `poolPairId`. */
export function versionOfPool(id = ''): ExchangeVersion {
  return id.indexOf('-') === id.lastIndexOf('-') ? 'V1' : 'V3';
}

/** The condition that a row of POOLS is of a version, as in {@link versionOfPool}. */
export function isPoolOf(version: ExchangeVersion): string {
  return `id ${version === 'V1' ? 'NOT LIKE' : 'LIKE'} '%-%-%'`;
}

/** Columns of one type. */
function columns(type: ColumnType, ...names: readonly string[]): Table['columns'] {
  return Object.fromEntries(names.map((name) => [name, type]));
}

/** The version of the tables, the chain, before which time states and trades are deleted, and for which exchanges POOLS has origins. */
export const FACTS: Table = { name: 'facts', columns: columns('text', 'name', 'value'), keyLength: 1 };

/**
 * The recorded heights whose states can be read. `time` is in milliseconds, and `version` is that of the exchange: 1 or 3.
 *
 * When heights are deleted, the newest deleted one of each version stays, as the state from which the changes of the next one
 * count.
 */
export const HEIGHTS: Table = {
  name: 'heights',
  columns: { height: 'integer', hash: 'text', time: 'integer', version: 'integer' },
  keyLength: 1,
};

/** The same heights as ranges without a gap, of both versions together. `prune` makes them begin at the newest height that it deletes. */
export const RANGES: Table = { name: 'ranges', columns: columns('integer', 'first', 'last'), keyLength: 1 };

/**
 * The pools, numbered in the order in which they were recorded. `base` is the state after the lowest row of HEIGHTS of its
 * version, null if the pool did not exist yet. These are the columns that recording writes.
 */
export const POOL_BASES: Table = {
  name: 'pools',
  columns: { pool: 'integer', id: 'text', base1: 'amount', base2: 'amount' },
  keyLength: 1,
};

/** The same with the states after the lowest height of the version that was ever recorded, once that is deleted. */
export const POOLS: Table = { ...POOL_BASES, columns: { ...POOL_BASES.columns, origin1: 'amount', origin2: 'amount' } };

/** The reserves of a pool after each height that changed them, above the lowest row of HEIGHTS of its version. */
export const CHANGES: Table = {
  name: 'changes',
  columns: { pool: 'integer', height: 'integer', reserve1: 'amount', reserve2: 'amount' },
  keyLength: 2,
};

/**
 * The candles of pools that changed in an interval. Without a row, the pool stayed as it was before. `appeared` is the height
 * at which the pool appeared, if that was in the interval. A null height of `high` or `low` means the state of `open`; null
 * reserves mean those of `close`.
 */
export const CANDLES: Table = {
  name: 'candles',
  columns: {
    ...columns('integer', 'minutes', 'pool', 'opened', 'appeared'),
    ...columns('amount', 'open1', 'open2'),
    ...columns('integer', 'high'),
    ...columns('amount', 'high1', 'high2'),
    ...columns('integer', 'low'),
    ...columns('amount', 'low1', 'low2', 'close1', 'close2', 'traded1', 'traded2'),
  },
  keyLength: 3,
};

/** What pools traded in the intervals of TRADED_INTERVALS. Without a row, a pool traded nothing. */
export const TRADED_CANDLES: Table = {
  name: 'traded_candles',
  columns: {
    ...columns('integer', 'minutes', 'pool', 'opened'),
    ...columns('amount', 'traded1', 'traded2'),
    ...columns('integer', 'trades'),
  },
  keyLength: 3,
};

/** A table of intervals. */
export type IntervalTable = Table & {
  /** The table of the blocks that it counts, with a condition: a query continues with AND. */
  readonly blocksWhere: string;
  /** The table of their candles. */
  readonly candles: Table;
  /** The version of the pools that have these candles. */
  readonly version: ExchangeVersion;
};

/** The intervals in which a height of V1 was recorded. `minutes` is their length, `opened` a Unix timestamp in seconds. */
const INTERVALS: IntervalTable = {
  name: 'intervals',
  columns: columns('integer', 'minutes', 'opened', 'first_height', 'last_height', 'heights'),
  keyLength: 2,
  blocksWhere: 'heights WHERE version = 1',
  candles: CANDLES,
  version: 'V1',
};

/** The same of V3. */
const V3_INTERVALS: IntervalTable = {
  ...INTERVALS,
  name: 'v3_intervals',
  blocksWhere: 'heights WHERE version = 3',
  version: 'V3',
};

/** The intervals in which a height of a version was recorded. */
export function intervalsOf(version: ExchangeVersion): IntervalTable {
  return version === 'V1' ? INTERVALS : V3_INTERVALS;
}

/** As INTERVALS, of the blocks in TRADED_BLOCKS that are complete. */
export const TRADED_INTERVALS: IntervalTable = {
  ...V3_INTERVALS,
  name: 'traded_intervals',
  blocksWhere: 'traded_blocks WHERE complete = 1',
  candles: TRADED_CANDLES,
};

/** All tables of intervals. */
export const INTERVAL_TABLES: readonly IntervalTable[] = [INTERVALS, V3_INTERVALS, TRADED_INTERVALS];

/** The final blocks whose trades were read. `complete` is 0 for one of which a trade could not be decoded: it has none in TRADES. */
export const TRADED_BLOCKS: Table = {
  name: 'traded_blocks',
  columns: columns('integer', 'height', 'time', 'complete'),
  keyLength: 1,
};

/** The trades of blocks. `place` counts those of a block from 0. The amounts are those of `PoolTrade`. */
export const TRADES: Table = {
  name: 'trades',
  columns: {
    ...columns('integer', 'height', 'place', 'pool'),
    ...columns('text', 'tx'),
    ...columns('integer', 'step', 'steps', 'sells'),
    ...columns('amount', 'sold', 'bought', 'to_orders', 'from_orders'),
  },
  keyLength: 2,
};
