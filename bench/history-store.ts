import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type ExchangeState, toPoolDirectory } from '../src/domain/exchange.ts';
import type { HistoryStore } from '../src/history/store.ts';
import { createHistoryStore } from '../src/history/store-client.ts';
import { handleCall, reportReady } from './process-control.ts';

type PoolTrade = Parameters<HistoryStore['recordTrades']>[0][number]['trades'][number];

// A process with a store of the history, as the gateway has it: with the database in a thread. Its argument is the database's folder.

/** A history that is filled before it is read. */
export type FilledHistory = {
  readonly pools: number;
  /** Each pool changes once in each hour. */
  readonly days: number;
};

/** Blocks of 40 seconds. */
const BLOCKS_PER_HOUR = 90;
const BLOCK_MS = 40_000;
const HOUR_MS = 3_600_000;
/** When the history begins: at the start of an hour. */
const START = Date.UTC(2026, 0, 1);
/** Enough for every reserve, at each change of a history. */
const RESERVE = 10n ** 15n;

let store: HistoryStore | undefined;
let state: ExchangeState | undefined;
/** The height whose trades were recorded last. */
let tradedHeight = 1_000;
let trades: readonly PoolTrade[] | undefined;

async function open(pools: number): Promise<{ readonly path: string; readonly exchange: ExchangeState }> {
  await store?.close();
  const path = join(process.argv[2] ?? '', 'history.sqlite');
  store = createHistoryStore({ database: { kind: 'sqlite', path }, rawDays: 365 });
  await store.useChain('bench');
  const tokenId = (number: number) => number.toString(16).padStart(64, '0');
  const directory = toPoolDirectory(
    Array.from({ length: pools }, (_, pool) => `${tokenId(pool)}-${tokenId(pool + pools)}`),
  );
  const reserves = new BigUint64Array(pools * 2).fill(RESERVE);
  const exchange = { beaconHeight: 1, time: START, directory, reserves };
  await store.record([{ hash: undefined, time: START, version: 'V1', exchange }]);
  return { path, exchange };
}

/**
 * Fills a history. The rows are those that recording would write, but all at once: to record two million changes one after
 * another takes minutes. Only the candles of hours are written.
 */
handleCall('fill', async ({ pools, days }: FilledHistory) => {
  const { path, exchange } = await open(pools);
  state = exchange;
  await store?.close();
  const db = new DatabaseSync(path);
  const hours = days * 24;
  db.exec(
    'PRAGMA synchronous = OFF; BEGIN; DELETE FROM heights; DELETE FROM ranges; DELETE FROM intervals; DELETE FROM candles',
  );
  db.exec(
    `CREATE TEMP TABLE counted AS WITH RECURSIVE counting (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counting WHERE n < ${hours * BLOCKS_PER_HOUR}) SELECT n FROM counting`,
  );
  db.exec(
    `INSERT INTO heights (height, hash, time) SELECT n + 1, NULL, ${START} + n * ${BLOCK_MS} FROM counted WHERE n < ${hours * BLOCKS_PER_HOUR}`,
  );
  db.exec(`INSERT INTO ranges VALUES (1, ${hours * BLOCKS_PER_HOUR})`);
  db.exec(
    `INSERT INTO intervals SELECT 60, (${START} + n * ${HOUR_MS}) / 1000, n * ${BLOCKS_PER_HOUR} + 1, (n + 1) * ${BLOCKS_PER_HOUR}, ${BLOCKS_PER_HOUR} FROM counted WHERE n < ${hours}`,
  );
  // After hour n, a pool has n + 1 more of token 1 and as much less of token 2. It changes at its own height of each hour.
  const height = `n * ${BLOCKS_PER_HOUR} + 2 + pool % ${BLOCKS_PER_HOUR - 1}`;
  const each = `FROM pools CROSS JOIN counted WHERE n < ${hours} ORDER BY pool, n`;
  db.exec(`INSERT INTO changes SELECT pool, ${height}, ${RESERVE} + n + 1, ${RESERVE} - n - 1 ${each}`);
  db.exec(
    `INSERT INTO candles SELECT 60, pool, (${START} + n * ${HOUR_MS}) / 1000, NULL, ${RESERVE} + n, ${RESERVE} - n, ${height}, NULL, NULL, NULL, NULL, NULL, ${RESERVE} + n + 1, ${RESERVE} - n - 1, 1, 1 ${each}`,
  );
  db.exec('COMMIT');
  const [{ changes } = { changes: 0 }] = db.prepare('SELECT COUNT(*) AS changes FROM changes').all() as {
    changes: number;
  }[];
  db.close();
  store = createHistoryStore({ database: { kind: 'sqlite', path }, rawDays: 365 });
  await store.useChain('bench');
  return changes;
});

/** Reads candles of one pool after another. Returns how long each read took, in milliseconds. */
handleCall('read candles', async ({ last, reads }: { readonly last: number; readonly reads: number }) => {
  const { ids = [] } = state?.directory ?? {};
  const times: number[] = [];
  for (let read = 0; read < reads; read++) {
    const id = ids[(read * 7_919) % ids.length] ?? '';
    const startedAt = performance.now();
    const result = await store?.candles({ poolIds: [id], interval: 'ONE_HOUR', upTo: Number.MAX_SAFE_INTEGER, last });
    times.push(performance.now() - startedAt);
    const candles = result?.value.get(id) ?? [];
    if (candles.length !== last || candles.some(({ traded1 }) => traded1 !== 1n)) throw new Error('wrong candles');
  }
  return times;
});

handleCall('create', async ({ pools }: { readonly pools: number }) => {
  state = (await open(pools)).exchange;
});

/** Records a height at which some pools changed. Returns how long that took, in milliseconds. */
handleCall('record', async ({ changes }: { readonly changes: number }) => {
  if (state === undefined) throw new Error('nothing was created');
  const reserves = state.reserves.slice();
  for (let change = 0; change < changes; change++) {
    const place = 2 * ((change * 7 + state.beaconHeight) % state.directory.ids.length);
    reserves[place] = (reserves[place] ?? 0n) + 1n;
    reserves[place + 1] = (reserves[place + 1] ?? 0n) - 1n;
  }
  const time = START + state.beaconHeight * BLOCK_MS;
  state = { ...state, beaconHeight: state.beaconHeight + 1, time, reserves };
  const startedAt = performance.now();
  await store?.record([{ hash: undefined, time, version: 'V1', exchange: state }]);
  return performance.now() - startedAt;
});

/** Records a block with that many trades, in 300 pools. They are created with the first block. */
handleCall('record trades', async ({ trades: count }: { readonly trades: number }) => {
  const hash = (number: number) => number.toString(16).padStart(64, '0');
  tradedHeight += 1;
  trades ??= Array.from({ length: count }, (_, n) => ({
    poolId: `${hash(1)}-${hash(2)}-${hash(n % 300)}`,
    transactionId: hash(n),
    ...({ step: 0, steps: 1, sells: 1, sellAmount: RESERVE + BigInt(n), buyAmount: RESERVE } as const),
    ...{ sellAmountToOrders: 5n, buyAmountFromOrders: 3n },
  }));
  const block = { beaconHeight: tradedHeight, hash: undefined, time: START + tradedHeight * BLOCK_MS };
  await store?.recordTrades([{ ...block, trades, isComplete: true }]);
});

reportReady();
