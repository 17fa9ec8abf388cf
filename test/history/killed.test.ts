import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSqliteStore } from '../../src/history/sqlite-store.ts';
import { createHistoryStore } from '../../src/history/store-client.ts';
import { createSandboxHosts, type SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { buildCommand } from '../support/package-build.ts';
import { chainHeights } from './of-chain.ts';
import { expectedBlock, expectedTrades } from './recorded.ts';

function folderForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-killed-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a gateway as a process, with a history in a file. */
async function startProcess(sandbox: SandboxHosts, folder: string, env: Record<string, string> = {}) {
  const { FULLNODE_URL: _node, MARKET_DATA_URL: _host, ...inherited } = process.env;
  const child = spawn(process.execPath, [await buildCommand()], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...inherited,
      PORT: '0',
      FULLNODE_URL: sandbox.nodeUrl,
      HEAD_POLL_MS: '50',
      STOP_WINDOW_MS: '0',
      // Where it is not built, the log says so.
      EXPLORER: 'false',
      HISTORY_BACKFILL_STEP: '1',
      HISTORY_BACKFILL_HOURS: '1',
      ...env,
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: { readonly level: number; readonly msg: string; readonly graphql?: string }[] = [];
  const served = Promise.withResolvers<string>();
  createInterface(child.stdout).on('line', (line) => {
    lines.push(JSON.parse(line));
    const { graphql } = lines.at(-1) ?? {};
    if (graphql !== undefined) served.resolve(graphql);
  });
  const url = await served.promise;

  const metric = async (name: string) => {
    const text = await (await fetch(new URL('/metrics', url))).text();
    return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
  };
  const ask = async (query: string) => (await fetch(`${url}?query=${encodeURIComponent(query)}`)).json();
  return {
    lines,
    metric,
    ask,
    /** Makes a block, and waits until it is served. */
    async advance() {
      sandbox.advance();
      const served = async () => (await ask('{ beaconHeight }')).data.beaconHeight;
      await expect.poll(served).toBe(sandbox.chain.tip.height);
    },
    /** Ends the process with a signal, and waits until it has ended and all of its output was read. */
    async end(signal: NodeJS.Signals) {
      const ended = once(child, 'close');
      child.kill(signal);
      return ended;
    },
  };
}

/** What the file has of the heights of a range: `undefined` for one that is not recorded. */
async function readFile(path: string, from: number, to: number) {
  const store = createHistoryStore({ database: { kind: 'sqlite', path }, rawDays: 7 });
  try {
    await store.useChain('sandbox');
    const coverage = await store.coverage(1_000);
    const isMissing = (height: number) => coverage?.gaps.some((gap) => gap.from <= height && height <= gap.to);
    const blocks = [];
    for (let height = Math.max(from, coverage?.first.beaconHeight ?? to); height <= to; height++) {
      if (isMissing(height) || height > (coverage?.last.beaconHeight ?? 0)) continue;
      const state = await store.stateAt(height);
      const pools = state?.directory.ids.map((id, place) => [id, ...state.reserves.slice(place * 2, place * 2 + 2)]);
      blocks.push({ height, pools: pools?.sort(([one = ''], [other = '']) => (one < other ? -1 : 1)) });
    }
    return { coverage, blocks };
  } finally {
    await store.close();
  }
}

describe('a gateway that is killed', () => {
  test('again and again shows nothing wrong, and has every final height and its trades once afterwards', async () => {
    const sandbox = await createSandboxHosts({ seed: 7, history: 6, exchange: 'v3' });
    onTestFinished(sandbox.close);
    const first = sandbox.chain.tip.height;
    const folder = folderForTest();
    const path = join(folder, 'pdex-history.sqlite');
    for (let round = 0; round < 2; round++) {
      const gateway = await startProcess(sandbox, folder);
      // It listens before it has read the first head.
      const served = async () => (await gateway.ask('{ beaconHeight }')).data?.beaconHeight;
      await expect.poll(served).toBe(sandbox.chain.tip.height);
      for (let blocks = 0; blocks < 4 + round; blocks++) await gateway.advance();
      if (round === 0) await expect.poll(() => gateway.metric('pdex_history_trade_blocks')).toBe(2);
      // Some moment of the recording: these blocks are read, become final and are recorded one after another, or nobody sees them.
      sandbox.advance(1 + round);
      await gateway.end('SIGKILL');
    }

    const gateway = await startProcess(sandbox, folder);
    for (let blocks = 0; blocks < 3; blocks++) await gateway.advance();
    const recordedTo = sandbox.chain.tip.height - 3;
    await expect.poll(() => gateway.metric('pdex_history_recorded_beacon_height')).toBe(recordedTo);
    await expect.poll(() => gateway.metric('pdex_history_missing_heights')).toBe(0);
    await expect.poll(() => gateway.metric('pdex_history_trade_blocks')).toBe(recordedTo - first + 1);
    // The backfill reads the heights below the first recorded one last.
    await expect.poll(() => gateway.metric('pdex_history_heights')).toBeGreaterThan(recordedTo - first);
    const { beaconHeight, poolPairs } = (
      await gateway.ask('{ beaconHeight poolPairs(first: 1) { nodes { beaconHeight } } }')
    ).data;
    expect(poolPairs.nodes).toEqual([{ beaconHeight }]);
    expect(await gateway.end('SIGTERM')).toEqual([0, null]);
    expect(gateway.lines.filter(({ level }) => level >= 40)).toEqual([]);

    const { coverage, blocks } = await readFile(path, first - 60, beaconHeight - 3);
    expect(coverage?.gaps).toEqual([]);
    expect(recordedTo).toBeGreaterThan(first + 10);
    expect(blocks.length).toBeGreaterThan(recordedTo - first);
    expect(blocks).toEqual(blocks.map(({ height }) => ({ height, pools: expectedBlock(sandbox, height).pools })));

    const store = createHistoryStore({ database: { kind: 'sqlite', path }, rawDays: 7 });
    onTestFinished(() => store.close());
    await store.useChain('sandbox');
    const heights = Array.from({ length: recordedTo - first + 1 }, (_, n) => first + n);
    const expected = heights.flatMap((height) => expectedTrades(sandbox, height).trades);
    const poolIds = sandbox.chain.v3Pools.map(({ id }) => id);
    const { recorded, value } = await store.volumes({ poolIds, after: 0, upTo: recordedTo, memoryFrom: first });
    expect([...recorded].sort((a, b) => a - b)).toEqual(heights);
    expect(value).toMatchObject({ before: undefined, first: { beaconHeight: first }, heights: heights.length });
    expect([...value.volumes.values()].reduce((sum, { trades }) => sum + trades, 0)).toBe(expected.length);
    const candles = await store.tradedIntervals({
      ...{ poolIds, interval: 'ONE_DAY', from: 0, upTo: recordedTo, memoryFrom: first },
    });
    const ofCandles = new Map<string, bigint>();
    for (const { traded } of candles.value)
      for (const [id, { traded1 }] of traded) ofCandles.set(id, (ofCandles.get(id) ?? 0n) + traded1);
    expect(ofCandles).toEqual(new Map([...value.volumes].map(([id, { traded1 }]) => [id, traded1])));
  });

  test('and whose file was cut serves live data, and says that the history cannot be used', async () => {
    const sandbox = await createSandboxHosts({ seed: 7, history: 6, pools: 12 });
    onTestFinished(sandbox.close);
    const folder = folderForTest();
    const path = join(folder, 'pdex-history.sqlite');
    const { height } = sandbox.chain.tip;
    const store = createSqliteStore(path, { rawDays: 7 });
    await store.useChain('sandbox');
    await store.record(chainHeights(sandbox, height - 5, height - 3));
    await store.close();
    truncateSync(path, Math.floor(statSync(path).size / 2));

    const gateway = await startProcess(sandbox, folder);
    await expect.poll(() => gateway.lines.filter(({ msg }) => msg.includes('history')).length).toBeGreaterThan(0);
    const { data, errors } = await gateway.ask('{ beaconHeight history { heights } }');
    expect(errors).toMatchObject([{ path: ['history'], extensions: { code: 'HISTORY_UNAVAILABLE' } }]);
    expect(data.beaconHeight).toBeGreaterThan(0);
    await gateway.end('SIGTERM');
  });
});
