import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { createPostgresStore } from '../../src/history/postgres-store.ts';
import type { HistoryStore } from '../../src/history/store.ts';
import { usePostgres } from '../support/postgres.ts';
import { endlessBlock, FIRST_HEIGHT } from './endless-chain.ts';

const TEMPORARY = { name: 'HistoryDatabaseError', isPermanent: false };
const PERMANENT = { name: 'HistoryDatabaseError', isPermanent: true };

const { test, server, query } = usePostgres();

async function createStore(): Promise<HistoryStore> {
  await query('DROP SCHEMA IF EXISTS pdex_history CASCADE');
  const store = createPostgresStore(server().url.href, { rawDays: 7 });
  onTestFinished(() => store.close());
  return store;
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
  for (const { exchange } of blocks(heights + 5)) expect(await store.stateAt(exchange.beaconHeight)).toEqual(exchange);
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
  expect((await store.coverage(0))?.heights).toBe(3);
  await expect(recording).rejects.toMatchObject(TEMPORARY);
  await other.end();
  await store.record(blocks(5));
  expect((await store.coverage(0))?.heights).toBe(5);
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
