import { chownSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, vi } from 'vitest';
import { createPostgresStore } from '../../src/history/postgres-store.ts';
import type { HistoryStore } from '../../src/history/store.ts';
import { listen } from '../../src/sandbox/http/listen.ts';
import { hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { usePostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { POOL_IDS, START, storedOf, V3_POOL_IDS } from './chains.ts';
import { endlessBlock, FIRST_HEIGHT } from './endless-chain.ts';
import { tradeOf } from './trades-model.ts';

const TEMPORARY = { name: 'HistoryDatabaseError', isPermanent: false };
const PERMANENT = { name: 'HistoryDatabaseError', isPermanent: true };

const { test, server, query } = usePostgres();

async function createStore(url: URL | string = server().url, readTimeoutMs?: number): Promise<HistoryStore> {
  // The server ends the process of a connection a moment after it was closed.
  await expect.poll(connectionsOfStores).toEqual([]);
  await query('DROP SCHEMA IF EXISTS pdex_history CASCADE');
  const store = createPostgresStore(String(url), { rawDays: 7, readTimeoutMs });
  onTestFinished(() => store.close());
  return store;
}

/** The processes of the server that serve stores. */
async function connectionsOfStores(): Promise<readonly unknown[]> {
  const rows = await query("SELECT pid FROM pg_stat_activity WHERE application_name = 'pdex-gateway'");
  return rows.map((row) => (row as { readonly pid: number }).pid);
}

const blocks = (count: number, from = FIRST_HEIGHT) =>
  Array.from({ length: count }, (_, index) => endlessBlock(from + index));

test('a server that stops in the middle of a transaction loses nothing that was recorded', async () => {
  const store = await createStore();
  await store.useChain('test');
  const recording = store.record(blocks(2_000));
  recording.catch(() => undefined);
  await expect.poll(async () => (await store.coverage(0))?.heights ?? 0).toBeGreaterThan(3);
  await server().kill();
  await expect(recording).rejects.toMatchObject(TEMPORARY);
  await expect(store.coverage(0)).rejects.toMatchObject(TEMPORARY);

  await server().restart();
  const { heights = 0 } = (await store.coverage(0)) ?? {};
  await store.record(blocks(heights + 5));
  expect(await store.coverage(1)).toMatchObject({ heights: heights + 5, gaps: [] });
  for (const { exchange } of blocks(heights + 5))
    expect(await store.stateAt(exchange.beaconHeight)).toEqual(storedOf(exchange));
});

/** The folder of the server's Unix socket. */
async function socketFolder(): Promise<string> {
  const [row] = await query('SHOW unix_socket_directories');
  return (row as { unix_socket_directories: string }).unix_socket_directories;
}

// libpq ignores `sslmode` on a Unix socket: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-SSLMODE
test('a server is reached over its Unix socket', async () => {
  const folder = await socketFolder();
  const { port } = server().url;
  for (const url of [
    `postgres://gateway@localhost/postgres?host=${folder}&port=${port}&sslmode=require`,
    `postgres://gateway@${encodeURIComponent(folder)}:${port}/postgres`,
  ]) {
    const store = await createStore(url);
    await store.useChain('test');
    const over = "SELECT client_addr FROM pg_stat_activity WHERE application_name = 'pdex-gateway'";
    expect(await query(over)).toEqual([{ client_addr: null }]);
    await store.close();
  }
});

// https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-SSLMODE-STATEMENTS
test('`sslmode` means what it means to libpq, and nothing is written to stderr', async ({ skip }) => {
  if (!hasOpenssl) skip('OpenSSL is not installed');
  const warnings: unknown[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.message);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));

  const { certFile, cert, key } = makeCertificate('IP:127.0.0.1');
  const otherFile = makeCertificate('IP:127.0.0.1').certFile;
  const folder = await socketFolder();
  const { uid, gid } = statSync(folder);
  for (const [name, text] of [
    ['cert', cert],
    ['key', key],
  ] as const) {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    chownSync(path, uid, gid);
    await query(`ALTER SYSTEM SET ssl_${name}_file = '${path}'`);
  }
  const outcome = async (parameters: string) => {
    const store = await createStore(`${server().url}?${parameters}`);
    try {
      await store.useChain('test');
      const query =
        "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'pdex-gateway'";
      return (await queryRows(query)).every(({ ssl }) => ssl === true) ? 'TLS' : 'no TLS';
    } catch (error) {
      return (error as Error).message;
    } finally {
      await store.close();
    }
  };
  const queryRows = async (text: string) => (await query(text)) as readonly { ssl: boolean }[];
  expect(await outcome('sslmode=require')).toMatch(/does not support SSL/);

  await query('ALTER SYSTEM SET ssl = on');
  await query('SELECT pg_reload_conf()');
  await expect.poll(() => outcome('sslmode=require')).toBe('TLS');
  expect(await outcome('sslmode=disable')).toBe('no TLS');
  expect(await outcome('sslmode=verify-full')).toMatch(/self-signed certificate/);
  expect(await outcome(`sslmode=verify-full&sslrootcert=${certFile}`)).toBe('TLS');
  expect(await outcome(`sslmode=verify-ca&sslrootcert=${certFile}`)).toBe('TLS');
  // With a certificate, `require` is `verify-ca`.
  expect(await outcome(`sslmode=require&sslrootcert=${certFile}`)).toBe('TLS');
  expect(await outcome(`sslmode=require&sslrootcert=${otherFile}`)).toMatch(/self-signed certificate/);
  expect(warnings).toEqual([]);
});

test('tables that were dropped are created again', async () => {
  const store = await createStore();
  await store.useChain('test');
  await store.record(blocks(3));
  await query('DROP SCHEMA pdex_history CASCADE');
  await expect(store.coverage(0)).rejects.toMatchObject(TEMPORARY);
  await store.record(blocks(2));
  expect((await store.coverage(0))?.heights).toBe(2);
});

test('while another gateway holds the lock, a write fails after a while, and reads go on', async () => {
  const store = await createStore();
  await store.useChain('test');
  await store.record(blocks(3));
  const other = new pg.Client(server().url.href);
  await other.connect();
  await other.query(`BEGIN; SELECT pg_advisory_xact_lock(${0x50444558})`);
  const recording = store.record(blocks(5));
  recording.catch(() => undefined);
  expect((await store.coverage(0))?.heights).toBe(3);
  const reading = await connectionsOfStores();
  await expect(recording).rejects.toThrow('lock timeout');
  // No other connection is closed because of it.
  expect((await store.coverage(0))?.heights).toBe(3);
  expect((await connectionsOfStores()).filter((pid) => reading.includes(pid))).not.toEqual([]);
  await other.end();
  await store.record(blocks(5));
  expect((await store.coverage(0))?.heights).toBe(5);
});

test('a gateway that vanishes in the middle of a write keeps the lock for ten seconds at most', async () => {
  const store = await createStore();
  await store.useChain('test');
  await store.record(blocks(3));

  // The network is cut once the other gateway has requested the lock: nothing that it sends later arrives.
  const url = new URL(server().url);
  let cut: 'no' | 'at the lock' | 'yes' = 'no';
  const proxy = createServer((client) => {
    const upstream = connect(Number(server().url.port), url.hostname);
    client.on('data', (bytes) => {
      if (cut === 'yes') return;
      upstream.write(bytes);
      if (cut === 'at the lock' && bytes.includes('pg_advisory_xact_lock')) cut = 'yes';
    });
    client.on('close', () => upstream.destroy());
    upstream.pipe(client);
  });
  url.port = String(await listen(proxy, { host: '127.0.0.1', port: 0 }));
  const other = createPostgresStore(url.href, { rawDays: 7 });
  onTestFinished(async () => {
    await other.close();
    proxy.close();
  });
  await other.useChain('test');
  cut = 'at the lock';
  const recording = other.record(blocks(5));
  recording.catch(() => undefined);
  const locked = "SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted";
  await expect.poll(() => query(`${locked} AND state = 'idle in transaction'`)).toHaveLength(1);
  await expect.poll(() => store.record(blocks(5)).catch(() => 'locked'), { timeout: 20_000 }).toEqual([]);
  await expect(recording).rejects.toMatchObject(TEMPORARY);
  cut = 'no';
  expect(await other.record(blocks(7))).toEqual([]);
  expect(await store.coverage(1)).toMatchObject({ heights: 7, gaps: [] });

  // A read that the server never receives.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  cut = 'yes';
  const reading = expect(other.coverage(0)).rejects.toMatchObject(TEMPORARY);
  await until(() => vi.getTimerCount() > 0);
  await vi.advanceTimersByTimeAsync(35_000);
  await reading;
});

test('each read of clients ends when its time is over, and its connection is free for others', async () => {
  const store = await createStore(server().url, 200);
  await store.useChain('test');
  await store.record(blocks(3));
  const other = new pg.Client(server().url.href);
  await other.connect();
  await other.query('BEGIN; LOCK TABLE pdex_history.pools, pdex_history.traded_blocks');
  const height = FIRST_HEIGHT + 1;
  const [ofStates, ofTrades] = [{ poolIds: POOL_IDS }, { poolIds: V3_POOL_IDS, upTo: height, memoryFrom: 1 }];
  // More than there are connections.
  for (const read of [
    () => store.stateAt(height),
    () => store.candles({ ...ofStates, interval: 'ONE_DAY', upTo: height, last: 1 }),
    () => store.windows({ ...ofStates, fromHeight: height, toHeight: height }),
    () => store.reservesAt({ ...ofStates, heights: [height] }),
    () => store.trades({ ...ofTrades, last: 1 }),
    () => store.trade({ beaconHeight: height, transactionId: '', step: 0 }),
    () => store.volumes({ ...ofTrades, after: 0 }),
    () => store.tradedIntervals({ ...ofTrades, interval: 'ONE_DAY', from: 0 }),
  ])
    await expect(read()).rejects.toThrow('statement timeout');
  expect((await store.coverage(0))?.heights).toBe(3);
  await other.end();
  expect((await store.stateAt(height))?.beaconHeight).toBe(height);
});

test('a read sees nothing of a block that is recorded meanwhile', async () => {
  const store = await createStore();
  await store.useChain('test');
  const [id = ''] = V3_POOL_IDS;
  await store.recordTrades([{ beaconHeight: 10, hash: 'a', time: START, trades: [tradeOf(0, 1)], isComplete: true }]);
  const other = new pg.Client(server().url.href);
  await other.connect();
  const columns = 'place, pool, tx, step, steps, sells, sold, bought, to_orders, from_orders';
  await other.query(`
    BEGIN; SET LOCAL search_path TO pdex_history; LOCK TABLE pools;
    INSERT INTO traded_blocks (height, time, complete) SELECT 11, time, complete FROM traded_blocks;
    INSERT INTO trades (height, ${columns}) SELECT 11, ${columns} FROM trades`);
  // It reads the recorded blocks, waits for the pools, and reads the trades.
  const wanted = { poolIds: [id], upTo: 11, memoryFrom: 10, last: 9 };
  const reading = store.trades(wanted);
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'pdex-gateway' AND wait_event_type = 'Lock'";
  await expect.poll(() => query(waiting)).toHaveLength(1);
  await other.query('COMMIT');
  await other.end();
  const heightsOf = ({ recorded, value }: Awaited<typeof reading>) => [
    [...recorded],
    value.get(id)?.map(({ beaconHeight }) => beaconHeight),
  ];
  expect(heightsOf(await reading)).toEqual([[10], [10]]);
  expect(heightsOf(await store.trades(wanted))).toEqual([
    [10, 11],
    [11, 10],
  ]);
});

test('a read of the recorder may take longer than one of clients', async () => {
  const store = await createStore(server().url, 200);
  await store.useChain('test');
  const other = new pg.Client(server().url.href);
  await other.connect();
  await other.query('BEGIN; LOCK TABLE pdex_history.traded_blocks IN ACCESS EXCLUSIVE MODE');
  const ofRecorder = store.tradeCoverage();
  ofRecorder.catch(() => undefined);
  const waiting =
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'pdex-gateway' AND wait_event_type = 'Lock'";
  await expect.poll(() => query(waiting)).toHaveLength(1);
  // It begins later, so the time of the other one would be over before it.
  await expect(store.trades({ poolIds: [], upTo: 10, memoryFrom: 1, last: 1 })).rejects.toThrow('statement timeout');
  await other.end();
  expect(await ofRecorder).toBeUndefined();
});

test('a user who may not create a schema uses an empty one that was created for it', async () => {
  const url = new URL(server().url);
  url.username = 'limited';
  const store = await createStore(url);
  await query('CREATE ROLE limited LOGIN');
  await expect(store.useChain('test')).rejects.toThrow('permission denied for database');
  await query('CREATE SCHEMA pdex_history AUTHORIZATION limited');
  await store.useChain('test');
  expect(await store.record(blocks(1))).toEqual([]);
});

test('after a server that could only be read, as before a failover, a write finds another connection', async () => {
  const store = await createStore();
  await store.useChain('test');
  await query('CREATE ROLE replica LOGIN SUPERUSER');
  await query('ALTER ROLE replica SET default_transaction_read_only = on');
  const url = new URL(server().url);
  url.username = 'replica';
  const other = createPostgresStore(url.href, { rawDays: 7 });
  onTestFinished(() => other.close());
  await other.useChain('test');
  // On two connections.
  await Promise.all([other.coverage(0), other.coverage(0)]);
  await query('ALTER ROLE replica RESET default_transaction_read_only');
  await expect(other.record(blocks(1))).rejects.toThrow('read-only transaction');
  expect(await other.record(blocks(1))).toEqual([]);
});

test('a schema with other tables is refused, and stays as it is', async () => {
  const store = await createStore();
  await query('CREATE SCHEMA pdex_history; CREATE TABLE pdex_history.orders (id int)');
  await expect(store.useChain('test')).rejects.toMatchObject(PERMANENT);
  const tables = await query("SELECT table_name FROM information_schema.tables WHERE table_schema = 'pdex_history'");
  expect(tables).toEqual([{ table_name: 'orders' }]);
});

test('the password is not in the error', async () => {
  const url = new URL(server().url);
  url.password = 'very-secret';
  url.pathname = '/nothing';
  const store = createPostgresStore(url.href, { rawDays: 7 });
  onTestFinished(() => store.close());
  const error: Error = await store.useChain('test').then(
    () => new Error('it was opened'),
    (reason) => reason,
  );
  expect(error).toMatchObject(TEMPORARY);
  expect(error.message).toContain('"nothing" does not exist');
  expect(error.message).not.toContain('very-secret');
});
