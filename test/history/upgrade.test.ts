import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished } from 'vitest';
import { createPostgresStore } from '../../src/history/postgres-store.ts';
import { createSqliteStore } from '../../src/history/sqlite-store.ts';
import type { FinalBlock, HistoryStore } from '../../src/history/store.ts';
import { usePostgres } from '../support/postgres.ts';
import { blockOf, POOL_IDS, START, V3_POOL_IDS } from './chains.ts';
import { compare } from './compare.ts';
import { createModel } from './model.ts';

const { test, server, query } = usePostgres();

const DAY = 86_400;
const [BIG, TOP] = [2n ** 63n, 2n ** 64n - 1n];
const OPTIONS = { rawDays: 1 };

type Pools = readonly (readonly [pool: number, reserve1: bigint, reserve2: bigint])[];

function block(height: number, seconds: number, pools: Pools, version: FinalBlock['version'] = 'V1'): FinalBlock {
  const states = new Map(pools.map(([pool, reserve1, reserve2]) => [pool, [reserve1, reserve2]] as const));
  const made = blockOf(height, START + seconds * 1_000, states, version);
  return { ...made, hash: height % 2 === 0 ? made.hash : undefined };
}

/** What a gateway that did not know V3 has recorded in `test/fixtures/history`. Then it deleted what was older than a day. */
const RECORDED: readonly FinalBlock[] = [
  block(100, 0, [
    [0, 1_000n, 2_000n],
    [3, 7n, 7n],
  ]),
  block(101, 40, [
    [0, 1_010n, 1_981n],
    [1, 5n, 7n],
    [3, 7n, 7n],
  ]),
  block(102, DAY, [
    [0, 1_010n, 1_981n],
    [1, 6n, 6n],
    [3, 8n, 6n],
  ]),
  block(103, 3 * DAY, [
    [0, 900n, 2_300n],
    [1, 6n, 6n],
    [2, TOP, BIG],
    [3, 8n, 6n],
  ]),
  block(104, 3 * DAY + 40, [
    [0, 900n, 2_300n],
    [1, 8n, 5n],
    [2, TOP, BIG],
    [3, 8n, 6n],
  ]),
  block(107, 3 * DAY + 160, [
    [0, 950n, 2_180n],
    [1, 8n, 5n],
    [2, BIG, TOP],
    [3, 8n, 6n],
  ]),
];
const PRUNED_AT = START + 3 * DAY * 1_000 + 200_000;

/** Heights of V3: above the recorded ones, in their gap, and one of the recorded ones. */
const V3: readonly FinalBlock[] = [
  block(108, 3 * DAY + 200, [[0, 3n * TOP, 7n]], 'V3'),
  block(
    109,
    3 * DAY + 240,
    [
      [0, 2n * TOP, 9n],
      [2, 50n, 50n],
    ],
    'V3',
  ),
  block(105, 3 * DAY + 80, [[0, 5n * TOP, 5n]], 'V3'),
  block(106, 3 * DAY + 120, [[0, 4n * TOP, 6n]], 'V3'),
  block(104, 3 * DAY + 40, [[0, 1n, 1n]], 'V3'),
];

const KINDS = [
  {
    name: 'SQLite',
    async open(sql: string): Promise<HistoryStore> {
      const folder = mkdtempSync(join(tmpdir(), 'pdex-upgrade-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const path = join(folder, 'history.sqlite');
      const db = new DatabaseSync(path);
      db.exec(sql);
      db.close();
      return createSqliteStore(path, OPTIONS);
    },
  },
  {
    name: 'PostgreSQL',
    async open(sql: string): Promise<HistoryStore> {
      await query('DROP SCHEMA IF EXISTS pdex_history CASCADE');
      await query(sql);
      return createPostgresStore(server().url.href, OPTIONS);
    },
  },
];

describe.each(KINDS)('a database of $name that was made before V3', ({ name, open }) => {
  /** Opens it, and creates the model of what was recorded in it. */
  async function openOld() {
    const file = `../fixtures/history/version-1.${name.toLowerCase()}.sql`;
    const store = await open(readFileSync(new URL(file, import.meta.url), 'utf8'));
    onTestFinished(() => store.close());
    await store.useChain('test');
    const model = createModel(OPTIONS.rawDays);
    for (const each of RECORDED) model.record(each);
    model.prune(PRUNED_AT);
    const compareAll = async () => {
      for (const [height, other] of [
        [101, 109],
        [104, 107],
        [105, 108],
      ] as const)
        for (const from of [undefined, START + 3 * DAY * 1_000])
          await compare(store, model, { height, other, from, to: undefined, last: 50 });
    };
    return { store, model, compareAll };
  }

  test('has all that it had', async () => {
    const { compareAll } = await openOld();
    await compareAll();
  });

  test('goes on with V3, also in its gaps, and its heights stay as they are', async () => {
    const { store, model, compareAll } = await openOld();
    expect(await store.record(V3)).toEqual([]);
    for (const each of V3) model.record(each);
    await compareAll();
    expect(await store.coverage(9)).toMatchObject({ heights: 8, gaps: [] });

    const v1 = await store.candles({ poolIds: POOL_IDS, interval: 'ONE_DAY', upTo: 1_000, last: 9 });
    expect([v1.recordedTo, v1.value.get(POOL_IDS[0] ?? '')?.at(-1)?.lastHeight]).toEqual([107, 107]);
    const v3 = await store.windows({ poolIds: V3_POOL_IDS, fromHeight: 105, toHeight: 109 });
    expect(v3.value.get(V3_POOL_IDS[0] ?? '')).toMatchObject({
      open: { beaconHeight: 105, reserve1: 5n * TOP },
      close: { beaconHeight: 109, reserve1: 2n * TOP },
      // At 107, the state of V3 is not known.
      isComplete: false,
    });
  });

  test('keeps candles and the last states of V1 after all of its heights were deleted', async () => {
    const { store, model, compareAll } = await openOld();
    const later = [10, 11, 12].map((days, index) =>
      block(
        110 + index,
        days * DAY,
        [
          [0, BigInt(index + 1) * TOP, 9n],
          [2, 50n, 50n],
        ],
        'V3',
      ),
    );
    for (const some of [V3, later]) {
      await store.record(some);
      for (const each of some) model.record(each);
    }
    const now = START + 12 * DAY * 1_000;
    await store.prune(now);
    model.prune(now);
    await compareAll();
    expect(await store.coverage(9)).toMatchObject({ first: { beaconHeight: 110 }, heights: 3, gaps: [] });
    const { value } = await store.candles({ poolIds: POOL_IDS, interval: 'ONE_HOUR', upTo: 1_000, last: 9 });
    expect(value.get(POOL_IDS[0] ?? '')).toHaveLength(3);
  });
});
