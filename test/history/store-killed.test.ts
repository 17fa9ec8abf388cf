import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { CANDLE_INTERVALS } from '../../src/history/candle-rows.ts';
import { createSqliteStore } from '../../src/history/sqlite-store.ts';
import { createRandom } from '../../src/sandbox/chain/random.ts';
import { POOL_IDS, storedOf } from './chains.ts';
import { endlessBlock } from './endless-chain.ts';
import { createModel } from './model.ts';

/** At least so many kills, and as many heights: a slow machine records few between two of them. */
const [KILLS, HEIGHTS] = [8, 11];

test('kill -9 at any moment: each height is recorded completely or not at all', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-killed-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'history.sqlite');

  const random = createRandom('kills');
  let heights = 0;
  for (let kill = 0; kill < KILLS || heights < HEIGHTS; kill++) {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'chain-writer.ts'), path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    // The first one may be killed while it creates the database.
    if (kill > 0) await once(child.stdout, 'data');
    await setTimeout(kill === 0 ? 500 : 20 * random.unit() ** 2 * KILLS);
    child.kill('SIGKILL');
    await once(child, 'exit');

    const store = createSqliteStore(path, { rawDays: 7 });
    await store.useChain('test');
    const recent = await store.recentBlocks({ upTo: 1e9, last: 10 });
    const branch = recent.filter(({ hash }) => hash?.startsWith('branch'));
    // A branch is deleted as a whole, or not at all.
    expect(branch.map(({ beaconHeight }) => beaconHeight % 3)).toEqual([0, 1, 2].slice(0, branch.length));
    if (branch[0] !== undefined) await store.deleteFrom(branch[0]);
    const coverage = await store.coverage(10);
    // A pair of heights is recorded one after the other.
    expect(coverage?.gaps ?? []).toEqual([]);
    expect(coverage?.heights ?? 0).toBeGreaterThanOrEqual(heights);
    heights = coverage?.heights ?? 0;
    await store.close();
  }

  const store = createSqliteStore(path, { rawDays: 7 });
  onTestFinished(() => store.close());
  await store.useChain('test');
  const { first, last } = (await store.coverage(0)) ?? {};
  const model = createModel(7);
  for (let height = first?.beaconHeight ?? 0; height <= (last?.beaconHeight ?? -1); height++) {
    const block = endlessBlock(height);
    model.record(block);
    expect(await store.stateAt(height)).toEqual(storedOf(block.exchange));
  }
  for (const interval of CANDLE_INTERVALS) {
    const { value } = await store.candles({ poolIds: POOL_IDS, interval, upTo: last?.beaconHeight ?? 0, last: 1e5 });
    for (const id of POOL_IDS)
      expect(value.get(id)).toEqual(model.candles(id, interval, { upTo: last?.beaconHeight ?? 0, last: 1e5 }));
  }
});
