import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { HeightRange } from '../../src/domain/beacon-height.ts';
import { type CandleInterval, INTERVAL_MS } from '../../src/domain/candle.ts';
import { QUICK } from '../../src/history/backfill-loop.ts';
import { MIGRATIONS, type Migration, type StoreOptions } from '../../src/history/migrations.ts';
import { createPostgresStore } from '../../src/history/postgres-store.ts';
import { createSqliteStore } from '../../src/history/sqlite-store.ts';
import { createStateBackfill, heightsToRead } from '../../src/history/state-backfill.ts';
import type { FinalBlock, HistoryStore } from '../../src/history/store.ts';
import { createTradeBackfill, QUICK_BYTES } from '../../src/history/trade-backfill.ts';
import type { TradedBlock } from '../../src/history/trade-store.ts';
import { headOf } from '../live/chain/heads.ts';
import { sampleUnder } from '../support/doc-pages.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { anyChain, blockOf, POOL_IDS, START, storedOf, V3_POOL_IDS } from './chains.ts';
import { compare } from './compare.ts';
import { createModel } from './model.ts';
import { compareTrades, createTradesModel, tradeOf } from './trades-model.ts';
import { v3StateOf } from './v3-states.ts';

const DAY_MS = INTERVAL_MS.ONE_DAY;

const INTERVALS = Object.keys(INTERVAL_MS) as readonly CandleInterval[];

const folder = mkdtempSync(join(tmpdir(), 'pdex-history-'));
let server: PostgresServer | undefined;
beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
});
afterAll(async () => {
  await server?.close();
  rmSync(folder, { recursive: true });
});

/** Runs the first commands under a heading of docs/backup.md. @throws if one of them fails */
async function runCommands(heading: string): Promise<void> {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const env = { ...process.env, PATH, HISTORY_DATABASE: server?.url.href };
  await promisify(execFile)('bash', ['-ec', sampleUnder('docs/backup.md', heading, 'sh')], { cwd: folder, env });
}

type Kind = {
  readonly name: string;
  readonly isThere: boolean;
  readonly runs: number;
  /** Creates a store in the database of the tests. */
  create(options: StoreOptions): HistoryStore;
  /** Deletes everything in it. */
  empty(): Promise<void>;
};

const KINDS: readonly Kind[] = [
  {
    name: 'SQLite',
    isThere: true,
    runs: 30,
    create: (options) => createSqliteStore(join(folder, 'pdex-history.sqlite'), options),
    async empty() {
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
    },
  },
  {
    name: 'PostgreSQL',
    isThere: hasPostgres || process.env['CI'] !== undefined,
    runs: 6,
    create: (options) => createPostgresStore(server?.url.href ?? '', options),
    async empty() {
      const client = new pg.Client(server?.url.href);
      await client.connect();
      await client.query('DROP SCHEMA IF EXISTS pdex_history CASCADE');
      await client.end();
    },
  },
];

describe.each(KINDS)('$name', ({ name, isThere, runs, create, empty }) => {
  const testHere = test.extend('isHere', { auto: true }, ({ skip }) => {
    if (!isThere) skip(`${name} is not installed`);
  });

  /** Creates a store in an empty database. The test closes it. */
  async function createStore(options?: Partial<StoreOptions>): Promise<HistoryStore> {
    await empty();
    return reopen(options);
  }

  async function reopen(options?: Partial<StoreOptions>): Promise<HistoryStore> {
    const store = create({ rawDays: 7, ...options });
    onTestFinished(() => store.close());
    await store.useChain('test');
    return store;
  }

  testHere('any chain, recorded in any order, with gaps and retention', async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, async ({ order, prunedAfter, rawDays, height, other, from, to, last }) => {
        await empty();
        const store = create({ rawDays });
        await store.useChain('test');
        const model = createModel(rawDays);
        for (const [index, block] of order.entries()) {
          await store.record([block]);
          model.record(block);
          if (!prunedAfter.includes(index)) continue;
          const now = Math.max(...order.slice(0, index + 1).map(({ time }) => time));
          await store.prune(now);
          model.prune(now);
        }
        await compare(store, model, { height, other, from: from ?? undefined, to: to ?? undefined, last });
        await store.close();
      }),
      { examples: [[longExample(1)], [longExample(100)]], numRuns: 2 + runs * Number(process.env['MORE_RUNS'] ?? 1) },
    );
  });

  testHere('the trades of any blocks, recorded in any order, with gaps, retention and deleted branches', async () => {
    await fc.assert(
      fc.asyncProperty(anyTradesRun, async ({ chain, states, order, prunes, deletes, queries }) => {
        await empty();
        const store = create({ rawDays: 1 });
        await store.useChain('test');
        const model = createTradesModel();
        const compareAll = async () => {
          for (const query of queries) await compareTrades(store, model, query);
        };
        const recordAndCompare = async () => {
          expect(await store.recordTrades(order)).toEqual([]);
          await model.recordTrades(order);
          await compareAll();
        };
        await store.record(states);
        await recordAndCompare();
        if (prunes) {
          const now = Math.max(...chain.map(({ time }) => time));
          await store.prune(now);
          model.deleteBefore(now - (now % DAY_MS) - DAY_MS, now - (now % DAY_MS) - 90 * DAY_MS);
        }
        const recorded = await store.recentBlocks({ upTo: 1e6, last: 1e6 });
        const place = recorded.length - 1 - (deletes % recorded.length);
        const [shared, from] = [recorded[place - 1], recorded[place]];
        if (from && shared && from.time >= (await store.deletedBefore())) {
          expect(await store.deleteFrom(from)).toContain(from.beaconHeight);
          model.deleteAbove(shared.beaconHeight);
        } else if (from) {
          // The lowest heights are not deleted.
          await expect(store.deleteFrom(from)).rejects.toMatchObject({ isPermanent: true });
        }
        await compareAll();
        await recordAndCompare();
        await store.close();
      }),
      {
        examples: [[tradesExample(40, false)], [tradesExample(40 * 86_400, true)]],
        endOnFailure: true,
        numRuns: 2 + (runs / 3) * Number(process.env['MORE_RUNS'] ?? 1),
      },
    );
  });

  testHere('trades that are deleted are not recorded again, also if no state is as old', async () => {
    const store = await createStore();
    const now = START + 10 * DAY_MS;
    await store.record([blockOf(1000, now - DAY_MS, new Map(), 'V3')]);
    const block = { beaconHeight: 10, hash: undefined, time: START, trades: [tradeOf(0, 1)], isComplete: true };
    const upper = { ...block, beaconHeight: 12 };
    const query = { poolIds: V3_POOL_IDS, interval: 'ONE_DAY', from: 0, upTo: 1000, memoryFrom: 1001 } as const;
    await store.recordTrades([block, upper]);
    const recorded = await store.tradedIntervals(query);
    expect(recorded.value[0]?.traded.size).toBe(1);
    await store.prune(now);
    expect(await store.tradeCoverage()).toBeUndefined();
    expect(await store.recordTrades([block])).toEqual([]);
    expect(await store.tradeCoverage()).toBeUndefined();
    expect((await store.tradedIntervals(query)).value[0]?.traded).toEqual(recorded.value[0]?.traded);
    // The part of the day up to a height is not known any more.
    expect((await store.tradedIntervals({ ...query, upTo: 11 })).value).toEqual([]);
  });

  testHere(
    'the trades of a deleted branch are deleted also where it has no states, except in deleted days',
    async () => {
      const store = await createStore({ rawDays: 1 });
      const now = START + 10 * DAY_MS;
      const tradedAt = (beaconHeight: number, time: number) => ({
        ...{ beaconHeight, time, hash: undefined, trades: [tradeOf(0, beaconHeight)], isComplete: true },
      });
      const daily = { poolIds: V3_POOL_IDS, interval: 'ONE_DAY', from: 0, upTo: 20, memoryFrom: 0 } as const;
      const branch = blockOf(14, now + 14, new Map(), 'V3');
      await store.record([blockOf(9, START, new Map(), 'V3'), branch]);
      await store.recordTrades([
        tradedAt(10, START + 1),
        ...[11, 12, 13, 14].map((height) => tradedAt(height, now + height)),
      ]);
      await store.prune(now);
      await store.deleteFrom({ beaconHeight: 14, hash: branch.hash, time: branch.time });
      expect(await store.tradeCoverage()).toBeUndefined();
      expect((await store.tradedIntervals(daily)).value.map(({ lastHeight }) => lastHeight)).toEqual([10]);
      const blocks = [11, 12, 13, 14].map((height) => blockOf(height, now + height - 10, new Map(), 'V3'));
      expect(await store.record(blocks)).toEqual([]);
    },
  );

  testHere('a block at the start of the oldest stored day is stored, until it is deleted with a branch', async () => {
    const store = await createStore({ rawDays: 1 });
    const now = START + 10 * DAY_MS;
    const startOfDay = now - (now % DAY_MS) - DAY_MS;
    const times = [START, startOfDay, startOfDay + 1];
    const blocks = times.map((time, n) => blockOf(9 + n, time, new Map([[0, [5n, BigInt(n)]]]), 'V3'));
    const traded = blocks.map(({ hash, time, exchange: { beaconHeight } }) => ({
      ...{ beaconHeight, hash, time, trades: [tradeOf(0, beaconHeight)], isComplete: true },
    }));
    const recorded = async () => [(await store.coverage(1))?.heights, (await store.tradeCoverage())?.blocks];
    await store.record(blocks);
    await store.recordTrades(traded);
    await store.prune(now);
    // The newest of the deleted heights stays.
    expect(await recorded()).toEqual([3, 2]);
    const daily = { poolIds: V3_POOL_IDS, interval: 'ONE_DAY', upTo: 10, last: 1 } as const;
    expect((await store.candles(daily)).value.get(V3_POOL_IDS[0] ?? '')).toMatchObject([{ lastHeight: 10 }]);

    expect(await store.deleteFrom({ beaconHeight: 10, hash: 'hash-10', time: startOfDay })).toEqual([10, 11]);
    expect(await recorded()).toEqual([1, undefined]);
    await store.record(blocks);
    await store.recordTrades(traded);
    expect(await recorded()).toEqual([3, 2]);
  });

  testHere(
    'each backfill reads one block at most of those that are deleted, also after the retention is raised',
    async () => {
      const [tip, now] = [1_000, START + 10 * DAY_MS];
      const timeOf = (height: number) => now - (tip - height) * INTERVAL_MS.FOUR_HOURS;
      const stateOf = (height: number) => blockOf(height, timeOf(height), new Map(), 'V3');
      const tradedOf = (beaconHeight: number) => {
        const block = { beaconHeight, hash: `hash-${beaconHeight}`, time: timeOf(beaconHeight) };
        return { ...block, trades: [], isComplete: true, poolsWithLiquidityChanges: new Set<string>() };
      };
      const store = await createStore({ rawDays: 1 });
      const heights = Array.from({ length: 24 }, (_, n) => tip - 26 + n);
      await store.record(heights.map(stateOf));
      await store.recordTrades(heights.map(tradedOf));
      await store.prune(now);
      const [coverage, tradeCoverage] = [await store.coverage(0), await store.tradeCoverage()];
      const read: number[] = [];
      const options = {
        ...{ store, mustPause: () => false, mayRun: () => true, rate: { ...QUICK, atOnce: 1 } },
        ...{ maxAgeMs: 3 * DAY_MS, storedForMs: 3 * DAY_MS, step: 12, completeHeights: 0, bytes: QUICK_BYTES },
        recorder: {
          ...{ record: store.record, recordTrades: store.recordTrades },
          ...{ ready: async () => {}, waiting: () => new Set<number>(), headsInMemory: () => [] },
          recorded: { coverage: () => coverage, tradeCoverage: () => tradeCoverage, onRecorded() {} },
        },
        pastStates: {
          isComplete: () => true,
          async readInBackground(height: number) {
            read.push(height);
            return stateOf(height).exchange;
          },
        },
        trades: {
          of: () => Promise.reject(new Error('no head is in memory')),
          async readPast(height: number) {
            read.push(height);
            return { ...tradedOf(height), trades: tradedOf(height) };
          },
        },
      };
      const backfills = [createStateBackfill(options), createTradeBackfill(options)];
      for (const backfill of backfills) {
        onTestFinished(backfill.stop);
        backfill.wake({ ...headOf(tip), time: now, exchange: v3StateOf(tip, [], now) });
      }
      await expect
        .poll(() => backfills.map((backfill) => backfill.reads() > 0 && !backfill.isReading()))
        .toEqual([true, true]);
      expect(read).toHaveLength(2);
      expect(await store.deletedBefore()).toBeGreaterThan(Math.max(...read.map(timeOf)));
    },
  );

  testHere(
    'the trades of a block of another branch are left out, and those of a block that is recorded are skipped',
    async () => {
      const store = await createStore();
      await store.record([10, 12].map((height) => blockOf(height, START + height, new Map(), 'V3')));
      const block = (beaconHeight: number, time = START + beaconHeight, hash?: string) => ({
        ...{ beaconHeight, time, hash, isComplete: true },
        trades: [tradeOf(0, beaconHeight)],
      });
      expect(await store.recordTrades([block(10, START), block(12, START + 12, 'other')])).toEqual([10, 12]);
      expect(await store.recordTrades([block(11, START + 9), block(11, START + 13)])).toEqual([11, 11]);
      expect(await store.recordTrades([11, 10, 12, 13].map((height) => block(height)))).toEqual([]);
      expect(await store.recordTrades([block(13, START + 99), block(12, START + 12, 'hash-12')])).toEqual([]);
      expect(
        await store.recordTrades([block(14, START + 12), { ...block(14), isComplete: false, trades: [] }]),
      ).toEqual([14]);
      const query = { poolIds: V3_POOL_IDS, upTo: 20, memoryFrom: 11, last: 9 };
      const { recorded, value } = await store.trades(query);
      expect([...recorded]).toEqual([11, 12, 13]);
      expect(value.get(V3_POOL_IDS[0] ?? '')?.map(({ beaconHeight }) => beaconHeight)).toEqual([13, 12, 11, 10]);
      expect(await store.missingTrades({ from: 8, to: 16 }, 3)).toEqual([16, 15, 9]);
      expect(await store.missingTrades({ from: 8, to: 16 }, 9)).toEqual([16, 15, 9, 8]);
      await store.record([blockOf(9, START + 9, new Map(), 'V1')]);
      expect(await store.missingTrades({ from: 8, to: 16 }, 9)).toEqual([16, 15]);
      expect(await store.missingTrades({ from: 20, to: 21 }, 9)).toEqual([21, 20]);
    },
  );

  testHere('heights that were deleted from the top leave what was never recorded, and are recorded again', async () => {
    await fc.assert(
      fc.asyncProperty(anyBranch, async ({ order, branch, stays, prunes, height, other, last }) => {
        await empty();
        const store = create({ rawDays: 1 });
        await store.useChain('test');
        const model = createModel(1);
        await store.record(order);
        for (const block of order) model.record(block);
        const now = Math.max(...order.map(({ time }) => time));
        if (prunes) await store.prune(now);
        if (prunes) model.prune(now);
        await store.record(branch);

        const recorded = await store.recentBlocks({ upTo: 1e6, last: 1e6 });
        // Some heights of the chain stay, and none of the branch. Those that are only kept as states are not deleted.
        const lowest = recorded.findIndex(({ beaconHeight }) => beaconHeight === model.coverage(0)?.first.beaconHeight);
        const place = 1 + lowest + (stays % (recorded.length - branch.length - lowest));
        const from = recorded[place];
        const deleted = recorded.slice(place).map(({ beaconHeight }) => beaconHeight);
        if (from !== undefined) {
          expect(await store.deleteFrom(from)).toEqual(deleted);
          model.deleteFrom(from.beaconHeight);
        }
        const query = { height, other, from: undefined, to: undefined, last };
        await compare(store, model, query);
        await compare(store, model, { ...query, from: now });
        await store.record(order.toReversed());
        for (const block of order.toReversed()) model.record(block);
        await compare(store, model, query);
        await store.close();
      }),
      { numRuns: runs * Number(process.env['MORE_RUNS'] ?? 1) },
    );
  });

  testHere('only a block that is still recorded is deleted, and the lowest height stays', async () => {
    const store = await createStore();
    const blocks = [10, 11, 12].map((height) => blockOf(height, START + height, new Map([[0, [5n, BigInt(height)]]])));
    await store.record(blocks);
    const [first, second, third] = await store.recentBlocks({ upTo: 12, last: 3 });
    if (!first || !second || !third) throw new Error('nothing is recorded');
    expect(await store.deleteFrom({ ...third, hash: 'other' })).toEqual([]);
    expect(await store.deleteFrom({ ...third, time: START })).toEqual([]);
    await expect(store.deleteFrom(first)).rejects.toMatchObject({ name: 'HistoryDatabaseError', isPermanent: true });
    expect((await store.coverage(1))?.heights).toBe(3);
    expect(await store.deleteFrom(second)).toEqual([11, 12]);
    expect(await store.deleteFrom(second)).toEqual([]);
    expect(await store.coverage(1)).toEqual({ first, last: first, heights: 1, gaps: [] });
  });

  testHere('another gateway of the database shows nothing of the deleted heights', async () => {
    const [one, other] = [await createStore(), await reopen()];
    const [first, second] = [
      blockOf(10, START, new Map([[0, [5n, 10n]]])),
      blockOf(11, START, new Map([[0, [5n, 11n]]]), 'V3'),
    ];
    await one.record([first, second]);
    expect(await other.stateAt(11)).toEqual(storedOf(second.exchange));
    await one.deleteFrom({ beaconHeight: 11, hash: second.hash, time: second.time });
    expect((await other.stateAt(11))?.beaconHeight).toBe(10);
    const replaced = { ...blockOf(11, START + 7, new Map([[1, [9n, 9n]]]), 'V3'), hash: undefined };
    await one.record([replaced]);
    expect(await other.stateAt(11)).toEqual(storedOf(replaced.exchange));
  });

  testHere('a height that is recorded already is skipped; another block at it is left out', async () => {
    const store = await createStore();
    const reserves = new Map([[0, [5n, 7n]]] as const);
    const block = blockOf(10, START, reserves);
    await store.record([block, block, { ...block, hash: undefined }]);
    expect((await store.coverage(1))?.heights).toBe(1);
    expect(await store.record([{ ...block, hash: 'other' }])).toEqual([10]);
    expect(await store.record([{ ...block, time: START + 1 }])).toEqual([10]);
    expect((await store.coverage(1))?.last).toEqual({ beaconHeight: 10, hash: 'hash-10', time: START });

    await store.record([{ ...blockOf(11, START, reserves), hash: undefined }]);
    expect((await store.coverage(1))?.last).toEqual({ beaconHeight: 11, hash: undefined, time: START });
  });

  testHere('a block is left out if it is earlier than one below it, and the others are recorded', async () => {
    const store = await createStore();
    expect(await store.record([blockOf(10, START, new Map())])).toEqual([]);
    const blocks = [blockOf(11, START - 1, new Map()), blockOf(9, START + 1, new Map()), blockOf(12, START, new Map())];
    expect(await store.record(blocks)).toEqual([11, 9]);
    expect(await store.coverage(1)).toMatchObject({ heights: 2, gaps: [{ from: 11, to: 11 }] });
  });

  testHere('with a step, the gaps in which nothing is read with it are left out, and hide no others', async () => {
    const store = await createStore();
    const heights = [1, 2, 16, 20, 36, 48, 60, 71];
    await store.record(heights.map((height) => blockOf(height, START + height, new Map())));
    const gaps = heights
      .map((height, n) => ({ from: (heights[n - 1] ?? height) + 1, to: height - 1 }))
      .filter(({ from, to }) => from <= to)
      .reverse();
    expect((await store.coverage(9))?.gaps).toEqual(gaps);
    const isRead = (gap: HeightRange) => [...heightsToRead(gap, 12)].length > 0;
    expect(gaps.filter((gap) => !isRead(gap))).toEqual([49, 37].map((from) => ({ from, to: from + 10 })));
    for (const count of [2, 9])
      expect((await store.coverage(count, 12))?.gaps).toEqual(gaps.filter(isRead).slice(0, count));
  });

  testHere('a block is left out if its time contradicts the trades that are recorded beside it', async () => {
    const store = await createStore();
    const traded = { beaconHeight: 10, hash: undefined, time: START, trades: [], isComplete: true };
    expect(await store.recordTrades([traded])).toEqual([]);
    const blocks = [[9, 1] as const, [10, 1] as const, [11, -1] as const, [9, -1] as const, [10, 0] as const];
    const leftOut = await store.record(blocks.map(([height, ms]) => blockOf(height, START + ms, new Map(), 'V3')));
    expect(leftOut).toEqual([9, 10, 11]);
    expect(await store.coverage(1)).toMatchObject({ heights: 2, gaps: [] });
  });

  testHere('a pool that a state lacks keeps its reserves', async () => {
    const store = await createStore();
    const both = new Map([
      [0, [5n, 7n]],
      [1, [1n, 1n]],
    ] as const);
    await store.record([blockOf(10, START, both), blockOf(12, START, new Map([[1, [2n, 2n]]]))]);
    await store.record([
      blockOf(
        11,
        START,
        new Map([
          [0, [6n, 6n]],
          [2, [9n, 9n]],
        ]),
      ),
    ]);
    const found = await store.reservesAt({ poolIds: POOL_IDS, heights: [10, 11, 12] });
    const states = POOL_IDS.slice(0, 3).map((id) => found.get(id)?.map((state) => state?.reserve1));
    expect(states).toEqual([
      [5n, 6n, 5n],
      [1n, 1n, 2n],
      [undefined, 9n, 9n],
    ]);
  });

  testHere('sums of what was traded may be larger than any reserve', async () => {
    const store = await createStore();
    const max = 2n ** 64n - 1n;
    const swings = Array.from({ length: 5 }, (_, index) =>
      blockOf(10 + index, START, new Map([[0, index % 2 === 0 ? [max, 0n] : [0n, max]]] as const)),
    );
    await store.record(swings);
    const { value } = await store.windows({ poolIds: POOL_IDS, fromHeight: 10, toHeight: 14 });
    expect(value.get(POOL_IDS[0] ?? '')).toMatchObject({ traded1: 4n * max, traded2: 4n * max, isComplete: true });
  });

  testHere('a database of another chain is refused, and stays as it is', async () => {
    const store = await createStore();
    await store.record([blockOf(10, START, new Map([[0, [5n, 7n]]]))]);
    const other = create({ rawDays: 7 });
    onTestFinished(() => other.close());
    await expect(other.useChain('other')).rejects.toMatchObject({
      message: 'The history database belongs to the chain test, but the node belongs to other.',
      isPermanent: true,
    });
    await expect(other.coverage(1)).rejects.toMatchObject({ isPermanent: true });
    // The node of a gateway can change to another chain while it runs.
    await expect(store.useChain('other')).rejects.toMatchObject({ isPermanent: true });
    expect((await store.coverage(1))?.heights).toBe(1);
  });

  testHere('an older database is upgraded in one transaction, and a newer one is refused', async () => {
    const store = await createStore();
    const block = blockOf(10, START, new Map([[0, [5n, 7n]]]));
    await store.record([block]);
    await store.close();
    await expect(store.coverage(0)).rejects.toThrow('closed');

    const next: Migration = (sql) => sql.run('ALTER TABLE heights ADD COLUMN note text');
    const broken: Migration = async (sql) => {
      await sql.run('DROP TABLE heights');
      await sql.run('DROP TABLE nothing');
    };
    await expect(reopen({ migrations: [...MIGRATIONS, next, broken] })).rejects.toThrow('nothing');
    const upgraded = await reopen({ migrations: [...MIGRATIONS, next] });
    expect((await upgraded.stateAt(10))?.reserves).toEqual(block.exchange.reserves);
    await upgraded.close();
    await expect(reopen()).rejects.toMatchObject({
      isPermanent: true,
      message: expect.stringContaining('newer gateway'),
    });
  });

  testHere('a gateway changes nothing more in a database that a newer one has upgraded since', async () => {
    const store = await createStore();
    const blocks = [10, 11].map((height) => blockOf(height, START, new Map([[0, [5n, BigInt(height)]]])));
    await store.record(blocks.slice(0, 1));
    const next: Migration = (sql) => sql.run('ALTER TABLE heights ADD COLUMN note text');
    const newer = await reopen({ migrations: [...MIGRATIONS, next] });
    const refused = {
      isPermanent: true,
      message:
        'The history database has version 4, and this gateway knows versions up to 3. Start a newer gateway, or choose another database.',
    };
    await expect(store.record(blocks)).rejects.toMatchObject(refused);
    await expect(store.deleteFrom({ beaconHeight: 11, hash: 'hash-11', time: START })).rejects.toMatchObject(refused);
    await expect(store.prune(START)).rejects.toMatchObject(refused);
    expect((await newer.coverage(1))?.heights).toBe(1);
    expect(await newer.record(blocks)).toEqual([]);
    expect((await newer.coverage(1))?.heights).toBe(2);
  });

  testHere(
    'a backup that is made while a gateway records is restored with the commands of docs/backup.md',
    async () => {
      const store = await createStore();
      const block = (n: number) => blockOf(10 + n, START + n * 40_000, new Map([[0, [5n, BigInt(n)]]]));
      const chain = Array.from({ length: 20 }, (_, n) => block(n));
      await store.record(chain);
      let isBackedUp = false;
      const record = async () => {
        while (!isBackedUp && chain.length < 120) {
          chain.push(block(chain.length));
          await store.record(chain.slice(-1));
          await nextTurn();
        }
      };
      const recording = record();
      await runCommands(`Back up ${name}`);
      isBackedUp = true;
      await recording;
      await store.close();
      await runCommands(`Restore ${name}`);

      const restored = await reopen();
      const { heights = 0, last } = (await restored.coverage(1)) ?? {};
      expect(heights).toBeGreaterThanOrEqual(20);
      expect(last?.beaconHeight).toBe(9 + heights);
      for (const { exchange } of chain.slice(0, heights))
        expect(await restored.stateAt(exchange.beaconHeight)).toEqual(storedOf(exchange));
      expect(await restored.record(chain)).toEqual([]);
      expect(await restored.coverage(1)).toMatchObject({ heights: chain.length, gaps: [] });
    },
  );

  testHere('two gateways record the same heights in one database', async () => {
    const chain = Array.from({ length: 12 }, (_, index) =>
      blockOf(
        10 + index,
        START + index * 40_000,
        new Map(POOL_IDS.map((_, pool) => [pool, [BigInt(index + pool), 7n]])),
      ),
    );
    await empty();
    const [one, other] = await Promise.all([reopen(), reopen()]);
    await Promise.all([one.record(chain), other.record(chain.toReversed())]);
    for (const store of [one, other]) {
      expect(await store.coverage(1)).toMatchObject({ heights: 12, gaps: [] });
      for (const { exchange } of chain) expect(await store.stateAt(exchange.beaconHeight)).toEqual(storedOf(exchange));
    }
  });
});

/** The time of any block, or when its minute, hour or day began, perhaps a millisecond earlier or later. */
const anyTimeOf = (chain: readonly FinalBlock[]) =>
  fc
    .record({
      time: fc.constantFrom(...chain.map(({ time }) => time)),
      unit: fc.constantFrom(1, 1, 1, 60_000, INTERVAL_MS.ONE_HOUR, DAY_MS),
      ms: fc.constantFrom(0, 0, 1, -1),
    })
    .map(({ time, unit, ms }) => time - (time % unit) + ms);

/** Any chain, the order in which some of it is recorded, and a query. */
const anyRun = anyChain.chain((chain) => {
  const first = chain[0]?.exchange.beaconHeight ?? 0;
  const anyHeight = fc.integer({ min: first - 1, max: first + chain.length });
  const anyTime = fc.option(anyTimeOf(chain));
  return fc.record({
    order: fc.shuffledSubarray([...chain]),
    prunedAfter: fc.array(fc.nat(chain.length), { maxLength: 2 }),
    height: anyHeight,
    other: anyHeight,
    from: anyTime,
    to: anyTime,
    last: fc.integer({ min: 1, max: 50 }),
    rawDays: fc.constantFrom(1, 7, 100),
  });
});

/** More than 90 days, with a change in each of the first ones, of which some are deleted three times. */
function longExample(rawDays: 1 | 100) {
  const days = [0, 1 / 12, 3, 6, 96];
  const order = days.map((day, n) => blockOf(1 + n, START + day * DAY_MS, new Map([[0, [5n, BigInt(n)]]])));
  return { order, prunedAfter: [2, 3, 4], rawDays, height: 5, other: 1, from: null, to: null, last: 50 };
}

/** A trade of any pool of V3, often one of several of a transaction. */
const anyTrade = fc.tuple(fc.nat(4), fc.nat(8), fc.constantFrom<1 | 2>(1, 2), fc.bigInt(1n, 2n ** 64n));

/** Any chain, what its blocks traded and in which order some of them are recorded, and queries. */
const anyTradesRun = anyChain.chain((chain) => {
  const first = chain[0]?.exchange.beaconHeight ?? 0;
  const anyHeight = fc.integer({ min: first - 1, max: first + chain.length });
  const anyTime = anyTimeOf(chain);
  const anyBlockTrades = fc.uniqueArray(anyTrade, { maxLength: 6, selector: ([, number]) => number });
  return fc.record({
    chain: fc.constant(chain),
    states: fc.oneof(
      fc.subarray([...chain]),
      // Most blocks with trades are between two of them.
      fc
        .subarray([...chain], { maxLength: 1 })
        .map((some) => chain.filter((block) => [chain[0], ...some, chain.at(-1)].includes(block))),
    ),
    order: fc
      .array(fc.tuple(anyBlockTrades, fc.nat(8)), { minLength: chain.length, maxLength: chain.length })
      .map((blocks) =>
        blocks.map(([drawn, luck], index): TradedBlock => {
          const { hash, time = 0, exchange } = chain[index] ?? {};
          const isComplete = luck > 0;
          const trades = isComplete
            ? drawn.map(([pool, number, sells, amount]) => tradeOf(pool, number, sells, amount))
            : [];
          return { beaconHeight: exchange?.beaconHeight ?? 0, hash, time, trades, isComplete };
        }),
      )
      .chain((blocks) => fc.shuffledSubarray(blocks)),
    prunes: fc.boolean(),
    deletes: fc.nat(chain.length),
    queries: fc.array(
      fc.record({
        upTo: anyHeight,
        memoryFrom: anyHeight,
        last: fc.integer({ min: 1, max: 9 }),
        before: fc.option(fc.record({ beaconHeight: anyHeight, place: fc.nat(4) }), { nil: undefined }),
        from: fc.option(anyTime, { nil: undefined }),
        to: fc.option(anyTime, { nil: undefined }),
        sells: fc.constantFrom<1 | 2 | undefined>(1, 2, undefined),
        interval: fc.constantFrom(...INTERVALS),
      }),
      { minLength: 3, maxLength: 3 },
    ),
  });
});

/** Three blocks with six trades each, below one of which a trade could not be decoded, and queries with narrow bounds. */
function tradesExample(secondsApart: number, prunes: boolean) {
  const timeOf = (height: number) => START + height * secondsApart * 1_000;
  const chain = [1, 2, 3, 4].map((height) => blockOf(height, timeOf(height), new Map(), 'V3'));
  const order = chain.map(({ hash, time, exchange: { beaconHeight } }) => {
    const isComplete = beaconHeight < 4;
    const trades = Array.from({ length: isComplete ? 6 : 0 }, (_, number) => tradeOf(0, number));
    return { beaconHeight, hash, time, trades, isComplete };
  });
  const query = {
    ...{ upTo: 5, memoryFrom: 1, last: 9, interval: 'ONE_MINUTE' as const },
    ...{ before: undefined, from: undefined, to: undefined, sells: undefined },
  };
  const queries = [
    query,
    { ...query, upTo: 2, before: { beaconHeight: 3, place: 4 } },
    { ...query, from: timeOf(2), to: timeOf(3) },
  ];
  return { chain, states: chain, order, prunes, deletes: 0, queries };
}

/** Any chain, the order in which some of it is recorded, and later blocks of a branch above it. */
const anyBranch = fc.tuple(anyChain, anyChain).chain(([chain, other]) => {
  const first = chain[0]?.exchange.beaconHeight ?? 0;
  const top = first + chain.length;
  const later = (chain.at(-1)?.time ?? 0) - (other[0]?.time ?? 0);
  const branch = other.map(({ time, version, exchange }, index) => ({
    hash: `branch-${index}`,
    time: time + later,
    version,
    exchange: { ...exchange, beaconHeight: top + index, time: time + later },
  }));
  const anyHeight = fc.integer({ min: first - 1, max: top + other.length });
  return fc.record({
    order: fc.shuffledSubarray([...chain], { minLength: 1 }),
    branch: fc.subarray(branch),
    stays: fc.nat(100),
    prunes: fc.boolean(),
    height: anyHeight,
    other: anyHeight,
    last: fc.integer({ min: 1, max: 50 }),
  });
});
