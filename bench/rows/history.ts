import { median } from '../figures.ts';
import type { FilledHistory } from '../history-store.ts';
import type { LoopDelay } from '../process-control.ts';
import { type BenchProcess, startProcess } from '../processes.ts';
import { createResult, type OpenResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import { createTemporaryFolder } from '../temporary-folders.ts';

const STORE = 'SQLite';

/** Candles that one read returns. */
const CANDLES = 300;
const MAX_READ_MS = 5;
const MAX_BLOCKED_MS = 5;

/** Trades of one block. */
const TRADES = 500;

/** One in ten pools changes at a height that is recorded. */
const CHANGING = 0.1;

/** The store of the history, through the thread in which it works. */
export const history: Row = { name: 'history', comparesCheckouts: false, run };

async function run({ quick, log }: RowContext): Promise<readonly Result[]> {
  const days = quick ? [20] : [90];
  const pools = quick ? [100] : [10_000];
  const rounds = quick ? 3 : 10;
  const read = createResult({
    title: `Candles of one pool, ${CANDLES} of an hour`,
    about:
      'A history in which each of 1,000 pools changes once an hour, and a read of another pool each time: from the call to the candles in the thread of the gateway. The first read opens the database.',
    unit: 'ms',
    better: 'less',
    sizeUnit: 'days',
    sizes: days,
    samplesPerStart: rounds,
    goals: [{ target: STORE, bound: 'at most', value: MAX_READ_MS }],
  });
  const head = { unit: 'ms', better: 'less', sizeUnit: 'pools', sizes: pools } as const;
  const about = `Heights at which one in ten pools changed are recorded, one after another.`;
  const blocked = createResult({
    ...head,
    title: 'Recording a height: the event loop is blocked',
    about: `${about} The longest delay of the event loop, sampled each millisecond.`,
    samplesPerStart: rounds,
    goals: [{ target: STORE, bound: 'at most', value: MAX_BLOCKED_MS }],
  });
  const recorded = createResult({
    ...head,
    title: 'Recording a height: until it is in the database',
    about,
    samplesPerStart: rounds,
    goals: [],
  });
  const traded = createResult({
    title: 'Recording the trades of a block: the event loop is blocked',
    about: 'Blocks are recorded, one after another. The longest delay of the event loop, sampled each millisecond.',
    ...{ unit: 'ms', better: 'less', sizeUnit: 'trades', sizes: [TRADES] },
    samplesPerStart: rounds,
    goals: [{ target: STORE, bound: 'at most', value: MAX_BLOCKED_MS }],
  });
  for (const size of days) {
    await readCandles(read, { pools: quick ? 100 : 1_000, days: size }, rounds);
    log(`${read.title}, ${size} days: done`);
  }
  for (const size of pools) {
    await recordHeights(blocked, recorded, size, rounds);
    log(`${recorded.title}, ${size} pools: done`);
  }
  await recordTrades(traded, rounds);
  log(`${traded.title}: done`);
  return [read, blocked, recorded, traded];
}

function startStore(): Promise<BenchProcess> {
  return startProcess({ role: 'server', file: 'history-store.ts', args: [createTemporaryFolder()] });
}

async function readCandles(result: OpenResult, filled: FilledHistory, rounds: number): Promise<void> {
  await using server = await startStore();
  const changes = await server.call<number>('fill', filled);
  result.note(`${filled.days} days: ${changes.toLocaleString('en-US')} recorded changes.`);
  // The first round warms up.
  for (let round = -1; round < rounds; round++) {
    const times = await server.call<readonly number[]>('read candles', { last: CANDLES, reads: 50 });
    if (round >= 0) result.add(STORE, filled.days, median(times));
  }
}

async function recordHeights(blocked: OpenResult, recorded: OpenResult, pools: number, rounds: number): Promise<void> {
  await using server = await startStore();
  await server.call('create', { pools });
  for (let round = -3; round < rounds; round++) {
    await server.call('measure loop delay');
    const ms = await server.call<number>('record', { changes: pools * CHANGING });
    const { maxMs } = await server.call<LoopDelay>('loop delay');
    if (round < 0) continue;
    blocked.add(STORE, pools, maxMs);
    recorded.add(STORE, pools, ms);
  }
}

async function recordTrades(result: OpenResult, rounds: number): Promise<void> {
  await using server = await startStore();
  await server.call('create', { pools: 1 });
  for (let round = -3; round < rounds; round++) {
    await server.call('measure loop delay');
    await server.call('record trades', { trades: TRADES });
    const { maxMs } = await server.call<LoopDelay>('loop delay');
    if (round >= 0) result.add(STORE, TRADES, maxMs);
  }
}
