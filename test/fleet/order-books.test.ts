import { beforeEach, describe, expect, test } from 'vitest';
import type { RawOrderBook } from '../../src/domain/order-book.ts';
import { createOrderBookReads } from '../../src/fleet/reads.ts';
import { listOf, type Redis } from '../../src/fleet/redis.ts';
import { encodeValue } from '../../src/fleet/values.ts';
import { hasRedis } from '../support/redis.ts';
import { connectPatiently, hasKey, keptOutcomes, readUntil, startRedisForTests } from './connected.ts';

const TTL_MS = 60_000;

const BOOK: RawOrderBook = {
  tickerId: 'a-b',
  message: 'a "message" {}',
  timestamp: 1_767_225_600_123,
  bids: [
    { price: 1.5, quantity: 3 },
    { price: 1e-9, quantity: 0.1 + 0.2, priceText: '0.0000000010', quantityText: '0.30000000000000004' },
  ],
  asks: [{ price: 1.6, quantity: 2, quantityText: '2.000' }],
  entriesDropped: 2,
};

/** One replica with a clock of its own. */
function replicaOf(redis: Redis, clock: number, ttlMs = TTL_MS) {
  const watcher = keptOutcomes();
  const readOnce = createOrderBookReads({ redis, ttlMs, maxWaitMs: 5_000, now: () => clock, watcher });
  return {
    ...watcher,
    isStored: (tickerId: string) => hasKey(redis, valueKey(tickerId)),
    read: (tickerId: string, read: () => Promise<RawOrderBook | undefined>) =>
      readOnce(tickerId, async () => ({ value: await read(), observedAt: clock })),
  };
}

const valueKey = (tickerId: string) => `test:order_book:{${tickerId}}`;

const never = () => Promise.reject(new Error('the book was read again'));

describe.skipIf(!hasRedis)('order books of a fleet', () => {
  const server = startRedisForTests();
  beforeEach(() => server.flush());

  test('are read once, whole, and are as old everywhere as they are, whatever the clocks say', async () => {
    const hour = 3_600_000;
    const one = replicaOf(await connectPatiently(server), 5 * hour);
    const other = replicaOf(await connectPatiently(server), 2 * hour);
    const begunAt = performance.now();
    expect(await one.read('a-b', async () => BOOK)).toEqual({ value: BOOK, observedAt: 5 * hour });
    await readUntil(
      () => one.isStored('a-b'),
      () => one.read('a-b', async () => BOOK),
    );
    // Redis counts it as stored for two seconds.
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { value, observedAt } = await other.read('a-b', never);
    const ageMs = 2 * hour - observedAt;
    expect(value).toEqual(BOOK);
    expect(ageMs).toBeGreaterThanOrEqual(20);
    expect(ageMs).toBeLessThan(performance.now() - begunAt + 2_000);
  });

  test('that do not exist are read once', async () => {
    const one = replicaOf(await connectPatiently(server), 0);
    const other = replicaOf(await connectPatiently(server), 0);
    await readUntil(
      () => one.isStored('x'),
      async () => expect((await one.read('x', async () => undefined)).value).toBeUndefined(),
    );
    expect((await other.read('x', never)).value).toBeUndefined();
    expect(other.outcomes).toEqual(['hit']);
  });

  test('are read again when they are too old', async () => {
    const one = replicaOf(await connectPatiently(server), 0, 1_000);
    const outcome = async () => {
      await one.read('a-b', async () => BOOK);
      return one.outcomes.at(-1);
    };
    await expect.poll(outcome).toBe('hit');
    await expect.poll(outcome).toBe('read');
  });

  test('are not stored if their replica was paused and has lost the lock', async () => {
    const one = replicaOf(await connectPatiently(server), 0);
    await one.read('a-b', async () => {
      server.cli('del', `${valueKey('a-b')}:lock`);
      return BOOK;
    });
    await readUntil(
      () => one.isStored('c-d'),
      () => one.read('c-d', async () => BOOK),
    );
    expect(await one.isStored('a-b')).toBe(false);
  });

  test.each(['}', '{', '{a}', 'ü', '\ud800', ' ', '*', 'x'.repeat(200)])('of the ticker %j', async (tickerId) => {
    const redis = await connectPatiently(server);
    const one = replicaOf(redis, 0);
    const other = replicaOf(await connectPatiently(server), 0);
    const keys = async () => listOf(await redis.command('', 'KEYS', 'test:order_book:*')).map(String);
    await readUntil(
      async () => (await keys()).some((key) => !key.endsWith(':lock')),
      () => one.read(tickerId, async () => BOOK),
    );
    expect((await other.read(tickerId, never)).value).toEqual(BOOK);
  });

  test.each<[string, Buffer]>([
    ['damaged', Buffer.from('damaged')],
    ['empty', Buffer.alloc(0)],
    ['of another ticker', encodeValue({ id: 'c-d', observedAt: Date.now(), packed: { book: BOOK } })],
    ['no values of a book', encodeValue(1)],
  ])('are ignored if they are %s', async (_name, bytes) => {
    const one = replicaOf(await connectPatiently(server), 0);
    const redis = await connectPatiently(server);
    await redis.command('', 'SET', valueKey('a-b'), bytes);
    expect((await one.read('a-b', async () => BOOK)).value).toEqual(BOOK);
    expect(one.damages).toEqual(['order_book']);
    expect(one.outcomes).toEqual(['read']);
  });

  test.each([-10_000, 2 * TTL_MS])('are ignored if Redis has a clock that is off by %i ms', async (offMs) => {
    const one = replicaOf(await connectPatiently(server), 0);
    const redis = await connectPatiently(server);
    const observedAt = Number(server.cli('time').split('\n')[0]) * 1_000 - offMs;
    const packed = { book: undefined };
    await redis.command('', 'SET', valueKey('a-b'), encodeValue({ id: 'a-b', observedAt, packed }));
    expect((await one.read('a-b', async () => BOOK)).value).toEqual(BOOK);
    expect(one.damages).toEqual(['order_book']);
  });
});
