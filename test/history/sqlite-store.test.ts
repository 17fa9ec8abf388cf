import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { INTERVAL_MS } from '../../src/domain/candle.ts';
import { createSqliteStore } from '../../src/history/sqlite-store.ts';
import type { FinalBlock, HistoryStore } from '../../src/history/store.ts';
import type { TradedBlock } from '../../src/history/trade-store.ts';
import { blockOf, START, storedOf, V3_POOL_IDS } from './chains.ts';
import { endlessBlock, FIRST_HEIGHT } from './endless-chain.ts';

const TEMPORARY = { name: 'HistoryDatabaseError', isPermanent: false };
const PERMANENT = { name: 'HistoryDatabaseError', isPermanent: true };

function inFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, name);
}

function createStore(path: string): HistoryStore {
  const store = createSqliteStore(path, { rawDays: 7 });
  onTestFinished(() => store.close());
  return store;
}

const blocks = (count: number, from = FIRST_HEIGHT) =>
  Array.from({ length: count }, (_, index) => endlessBlock(from + index));

test.each<[string, (path: string) => void]>([
  ['a text', (path) => writeFileSync(path, 'not a database, but longer than the header of one '.repeat(10))],
  ['a short text', (path) => writeFileSync(path, 'x')],
  ['a database of another program', (path) => new DatabaseSync(path).exec('CREATE TABLE heights (height)')],
])('%s is refused, and stays as it is', async (_, write) => {
  const path = inFolder('history.sqlite');
  write(path);
  const before = readFileSync(path);
  const store = createStore(path);
  await expect(store.useChain('test')).rejects.toMatchObject(PERMANENT);
  await expect(store.record(blocks(1))).rejects.toMatchObject(PERMANENT);
  expect(readFileSync(path)).toEqual(before);
  expect([`${path}-wal`, `${path}-shm`, `${path}-journal`].filter(existsSync)).toEqual([]);
});

test('a damaged database is refused when the damage is found', async () => {
  const path = inFolder('history.sqlite');
  const store = createStore(path);
  await store.useChain('test');
  await store.record(blocks(100));
  await store.close();
  const whole = readFileSync(path);
  writeFileSync(path, Buffer.concat([whole.subarray(0, 4096), Buffer.alloc(whole.length - 4096, 0x55)]));

  await expect(createStore(path).useChain('test')).rejects.toMatchObject(PERMANENT);
  truncateSync(path, 4096);
  await expect(createStore(path).useChain('test')).rejects.toMatchObject(PERMANENT);
});

test('a database of another chain is refused and closed', async () => {
  const path = inFolder('history.sqlite');
  const store = createStore(path);
  await store.useChain('test');
  await store.close();
  await expect(createStore(path).useChain('other')).rejects.toMatchObject(PERMANENT);
  expect(existsSync(`${path}-wal`)).toBe(false);
});

test('while another process writes, a write fails after a moment, reads go on, and later writes succeed', async () => {
  const path = inFolder('history.sqlite');
  const store = createStore(path);
  await store.useChain('test');
  await store.record(blocks(3));

  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  // It waits a second for the other process.
  const before = performance.now();
  await expect(store.record(blocks(5))).rejects.toMatchObject(TEMPORARY);
  expect(performance.now() - before).toBeGreaterThan(500);
  expect((await store.coverage(0))?.heights).toBe(3);
  other.exec('COMMIT');
  await store.record(blocks(5));
  expect((await store.coverage(0))?.heights).toBe(5);
});

test('a write does not wait for another process that reads, such as a backup', async () => {
  const path = inFolder('history.sqlite');
  const store = createStore(path);
  await store.useChain('test');
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  other.exec('BEGIN; SELECT * FROM heights');
  expect(await store.record(blocks(1))).toEqual([]);
});

test('a folder that is missing is used when it appears', async () => {
  const path = inFolder('missing/history.sqlite');
  const store = createStore(path);
  await expect(store.useChain('test')).rejects.toMatchObject(TEMPORARY);
  await expect(store.coverage(0)).rejects.toMatchObject(TEMPORARY);
  mkdirSync(join(path, '..'));
  await store.useChain('test');
  await store.record(blocks(1));
  expect((await store.coverage(0))?.heights).toBe(1);
});

test('a file that vanished is created again, and one that was replaced is opened', async () => {
  const path = inFolder('history.sqlite');
  const store = createStore(path);
  await store.useChain('test');
  await store.record(blocks(3));
  for (const suffix of ['', '-wal', '-shm'])
    if (existsSync(path + suffix)) renameSync(path + suffix, `${path}.old${suffix}`);
  await store.record(blocks(2, FIRST_HEIGHT + 10));
  expect((await store.coverage(0))?.heights).toBe(2);

  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  for (const suffix of ['', '-wal', '-shm'])
    if (existsSync(`${path}.old${suffix}`)) renameSync(`${path}.old${suffix}`, path + suffix);
  expect((await store.coverage(0))?.heights).toBe(3);
  expect(await store.stateAt(FIRST_HEIGHT + 9)).toEqual(storedOf(endlessBlock(FIRST_HEIGHT + 2).exchange));
});

test('a copy that replaces only the file is opened as it is', async () => {
  const [path, copied] = [inFolder('history.sqlite'), inFolder('copy.sqlite')];
  const store = createStore(path);
  await store.useChain('test');
  await store.record(blocks(3));
  for (const closes of [false, true]) {
    const copying = new DatabaseSync(path);
    copying.exec(`VACUUM INTO '${copied}'`);
    copying.close();
    await store.record(blocks(100, FIRST_HEIGHT + 10));
    renameSync(copied, path);
    if (closes) await store.close();
    const reader = closes ? createStore(path) : store;
    await reader.useChain('test');
    expect((await reader.coverage(0))?.heights).toBe(3);
    const check = new DatabaseSync(path);
    expect(check.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    check.close();
  }
});

test('short candles of more than a thousand intervals are deleted in several steps', async () => {
  const store = createStore(inFolder('history.sqlite'));
  await store.useChain('test');
  const minute = (n: number) => START + n * INTERVAL_MS.ONE_MINUTE;
  const changing = (n: number) => new Map<number, [bigint, bigint]>([[0, [5n, BigInt(n + 1)]]]);
  await store.record(Array.from({ length: 1_100 }, (_, n) => blockOf(1_000 + n, minute(n), changing(n), 'V3')));
  const query = { poolIds: V3_POOL_IDS, interval: 'ONE_MINUTE', upTo: 10_000, last: 10_000 } as const;
  const candles = async () => (await store.candles(query)).value.get(V3_POOL_IDS[0] ?? '')?.length;
  expect(await candles()).toBe(1_100);
  await store.prune(START + 200 * INTERVAL_MS.ONE_DAY);
  expect(await candles()).toBeUndefined();
});

/** Mounts a small disk for a test. @returns whether this process may */
function mountDisk(folder: string): boolean {
  mkdirSync(folder);
  if (!isDone('mount', '-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder)) return false;
  onTestFinished(() => void isDone('umount', '-l', folder));
  return true;
}

function isDone(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

test('on a full disk writes fail, reads go on, and nothing is lost once there is room', async ({ skip }) => {
  const path = inFolder('disk/history.sqlite');
  const disk = join(path, '..');
  if (!mountDisk(disk)) skip('only root can mount a disk');
  const store = createStore(path);
  await store.useChain('test');
  await store.record(blocks(20));
  const ballast = join(disk, 'ballast');
  expect(() => writeFileSync(ballast, Buffer.alloc(4e6))).toThrow('ENOSPC');

  await expect(store.record(blocks(500, FIRST_HEIGHT + 20))).rejects.toMatchObject(TEMPORARY);
  const { heights = 0 } = (await store.coverage(0)) ?? {};
  expect(heights).toBeGreaterThanOrEqual(20);
  rmSync(ballast);
  await store.record(blocks(heights + 10));
  expect(await store.coverage(1)).toMatchObject({ heights: heights + 10, gaps: [] });
  for (const { exchange } of blocks(heights + 10))
    expect(await store.stateAt(exchange.beaconHeight)).toEqual(storedOf(exchange));
});

test('on a disk that cannot be written calls fail, and succeed once it can be', async ({ skip }) => {
  const path = inFolder('disk/history.sqlite');
  const disk = join(path, '..');
  if (!mountDisk(disk)) skip('only root can mount a disk');
  const first = createStore(path);
  await first.useChain('test');
  await first.record(blocks(3));
  await first.close();

  expect(isDone('mount', '-o', 'remount,ro', disk)).toBe(true);
  const store = createStore(path);
  await expect(store.useChain('test')).rejects.toMatchObject(TEMPORARY);
  await expect(store.coverage(0)).rejects.toMatchObject(TEMPORARY);
  expect(isDone('mount', '-o', 'remount,rw', disk)).toBe(true);
  await store.record(blocks(5));
  expect((await store.coverage(0))?.heights).toBe(5);
});

// The loop that deletes is the same for PostgreSQL, in which it takes seconds to record so many heights.
test('more old heights and trades than one transaction deletes are all deleted', async () => {
  const store = createSqliteStore(undefined, { rawDays: 1 });
  onTestFinished(() => store.close());
  await store.useChain('test');
  const versions = ['V1', 'V3'] as const;
  const old = Array.from({ length: 110 }, (_, n) => blockOf(10 + n, START + n, new Map(), versions[n % 2]));
  const now = START + 10 * INTERVAL_MS.ONE_DAY;
  await store.record([...old, blockOf(200, now, new Map(), 'V3')]);
  const tradedOf = ({ hash, time, exchange: { beaconHeight } }: FinalBlock): TradedBlock => ({
    ...{ beaconHeight, hash, time, trades: [], isComplete: true },
  });
  await store.recordTrades(old.map(tradedOf));
  expect([(await store.coverage(1))?.heights, (await store.tradeCoverage())?.blocks]).toEqual([111, 110]);
  await store.prune(now);
  // The highest of them stays, because the changes of the next height count from it.
  expect([(await store.coverage(1))?.heights, await store.tradeCoverage()]).toEqual([2, undefined]);
});

test('a write that fails loses nothing of a database in memory', async () => {
  const store = createSqliteStore(undefined, { rawDays: 7 });
  onTestFinished(() => store.close());
  await store.useChain('test');
  await store.record(blocks(3));
  // The column holds whole numbers only.
  const broken = blocks(1, FIRST_HEIGHT + 3).map((block) => ({ ...block, time: block.time + 0.5 }));
  await expect(store.record(broken)).rejects.toMatchObject(TEMPORARY);
  expect((await store.coverage(0))?.heights).toBe(3);
});

test('calls in one turn of the event loop open the database once', async () => {
  const store = createSqliteStore(undefined, { rawDays: 7 });
  onTestFinished(() => store.close());
  // Of a database in memory, another one would be empty.
  const [, , before] = await Promise.all([store.useChain('test'), store.record(blocks(3)), store.coverage(0)]);
  expect(before?.heights ?? 0).toBeLessThanOrEqual(3);
  expect((await store.coverage(0))?.heights).toBe(3);
});
