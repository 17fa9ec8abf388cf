import { afterAll, beforeAll, expect, test } from 'vitest';
import { createContext } from '../../src/graphql/context.ts';
import { ladderOf } from '../../src/loaders/depth.ts';
import { startGateway } from '../support/gateway.ts';
import { repeat } from '../support/operations.ts';

// A field that computes much is cheap, because its object is small. These are many such fields of one object.

const ALIASES = 100;
const HUNDRED_PERCENTS = Array.from({ length: 100 }, (_, n) => 0.5 + n / 10);

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  const config = { headPollMs: 60_000, marketPollMs: 60_000 };
  gateway = await startGateway({ config, sandbox: { exchange: 'v3', history: 20 } });
  await gateway.untilReady();
});
afterAll(() => gateway.close());

/** Counts how often something is read while an operation is executed: in all, and at most in one turn of the event loop. */
async function countReads(objects: readonly object[], name: string, query: string) {
  const reads = { total: 0, inOneTurn: 0 };
  let before = 0;
  let isOver = false;
  (function nextTurn() {
    before = reads.total;
    if (!isOver) setImmediate(nextTurn);
  })();
  const values = objects.map((each) => Reflect.get(each, name));
  for (const [index, each] of objects.entries()) {
    const get = () => {
      reads.total += 1;
      reads.inOneTurn = Math.max(reads.inOneTurn, reads.total - before);
      return values[index];
    };
    Object.defineProperty(each, name, { get, configurable: true, enumerable: true });
  }
  const { data, errors } = await gateway.ask(query);
  for (const [index, each] of objects.entries())
    Object.defineProperty(each, name, { value: values[index], configurable: true, enumerable: true, writable: true });
  isOver = true;
  expect(errors).toBeUndefined();
  expect(data).toBeTruthy();
  return reads;
}

const lengthOf = (list: readonly unknown[] | undefined) => list?.length ?? 0;

/** The pool with the most orders, and these. */
async function findPool() {
  const { exchange } = await gateway.app.service.sources.head.get();
  const all = exchange.v3?.orders ?? [];
  const orders = all.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0] ?? [];
  expect(orders.length).toBeGreaterThan(5);
  return { poolId: exchange.directory.ids[all.indexOf(orders)] ?? '', orders };
}

/** The order book with the most entries, and these. The gateway has read it, and does not read it again. */
async function findBook() {
  const { data } = await gateway.ask('{ pairs { tickerId poolId } }');
  const books = data.pairs.map(async ({ tickerId, poolId }: { tickerId: string; poolId: string }) => {
    const snapshot = await gateway.app.service.sources.orderBooks.read(tickerId, { client: 'test' });
    return { tickerId, poolId, entries: [...(snapshot?.book.bids ?? []), ...(snapshot?.book.asks ?? [])] };
  });
  const [longest] = (await Promise.all(books)).toSorted((a, b) => b.entries.length - a.entries.length);
  expect(longest.entries.length).toBeGreaterThan(5);
  return longest;
}

test.each(['book(depth: 9999) { bestBid }', 'book(depth: 4) { bestBid }', 'depth(percents: 20) { percent }'])(
  'the orders of a pool are read no more often for many aliases of %s than for two',
  async (field) => {
    const { poolId, orders } = await findPool();
    const readsOf = (aliases: number) =>
      countReads(orders, 'rate1', `{ pool(poolId: "${poolId}") { ${repeat(aliases, (n) => `a${n}: ${field}`)} } }`);
    const { total } = await readsOf(2);
    expect(total).toBeGreaterThan(0);
    expect((await readsOf(ALIASES)).total).toBe(total);
  },
);

/** Does something ten times at once. @returns the number of turns of the event loop in which that ended */
async function countTurns(work: () => unknown): Promise<number> {
  let turn = 0;
  let isOver = false;
  (function nextTurn() {
    turn += 1;
    if (!isOver) setImmediate(nextTurn);
  })();
  const turns = await Promise.all(Array.from({ length: 10 }, async () => [await work(), turn]));
  isOver = true;
  expect(turns).not.toContainEqual([undefined, expect.any(Number)]);
  return new Set(turns.map(([, ended]) => ended)).size;
}

test('after a hundred percentages, each field with more of them is computed in a turn of its own', async () => {
  const { loaders } = createContext(gateway.app.service);
  const { poolId } = await findPool();
  const pool = await loaders.exchange.find(({ directory }) => directory.ids.indexOf(poolId));
  if (pool === undefined) throw new Error('the exchange has the pool');
  expect(await countTurns(() => loaders.poolOrders.depths(pool, HUNDRED_PERCENTS))).toBe(10);
});

test('ladders are computed one in each turn of the event loop', async () => {
  const { loaders } = createContext(gateway.app.service);
  const { poolId } = await findPool();
  const pair = await loaders.market.pairs.byPoolId(poolId);
  if (pair === undefined) throw new Error('the pool has a pair');
  expect(await countTurns(() => ladderOf(pair, { levels: 200 }, loaders))).toBe(10);
});

test.each([
  ['of a pair', (poolId: string, _tickerId: string, fields: string) => `{ pair(poolId: "${poolId}") { ${fields} } }`],
  [
    'of a ticker id',
    (_poolId: string, tickerId: string, fields: string) =>
      `{ ${fields.replaceAll('orderBook(', `orderBook(tickerId: "${tickerId}", `)} }`,
  ],
])('the grouped order books %s are computed one in each turn of the event loop', async (_name, write) => {
  const { tickerId, poolId, entries } = await findBook();
  const readsOf = (aliases: number) => {
    const fields = repeat(aliases, (n) => `a${n}: orderBook(depth: 0, groupBy: "0.0${1_000 + n}") { id }`);
    return countReads(entries, 'priceText', write(poolId, tickerId, fields));
  };
  const one = await readsOf(1);
  const many = await readsOf(ALIASES);
  expect(one.total).toBeGreaterThanOrEqual(entries.length);
  expect(many.total).toBeGreaterThan(one.total * (ALIASES / 2));
  expect(many.inOneTurn).toBeLessThan(one.total * 2);
});
