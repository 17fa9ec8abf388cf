import { setTimeout as sleep } from 'node:timers/promises';
import { type SandboxProcess, startGateway, startSandbox } from '../gateway.ts';
import type { BenchProcess } from '../processes.ts';
import { startRedis } from '../redis.ts';
import { createResult, type OpenResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';

const ONE = 'one gateway';
const FOUR = 'four replicas';
const LAST = 'the last of four replicas';
const KILLED = 'a replica is killed';

const REPLICAS = 4;
const BLOCK_MS = 1_500;
/** Maximum time to wait for all replicas. */
const TIMEOUT_MS = 60_000;

/** Several gateways as one, with a Redis on the same machine. */
export const fleet: Row = { name: 'fleet', comparesCheckouts: false, run };

type Results = {
  readonly calls: OpenResult;
  readonly lag: OpenResult;
  readonly killed: OpenResult;
};

/** A replica, and when it had each height, by the clock of the bench. */
type Replica = { readonly process: BenchProcess; readonly seen: Map<number, number> };

async function run({ quick, checkouts: [checkout], log }: RowContext): Promise<readonly Result[]> {
  if (checkout === undefined) throw new Error('the gateway of this checkout takes no part');
  const sizes = quick ? [1_000] : [10_000];
  const blocks = quick ? 4 : 15;
  const results = createResults(sizes, blocks);
  const start = (sandbox: SandboxProcess, redisUrl?: string) =>
    startGateway(sandbox, {
      checkout,
      env: { HISTORY_DATABASE: 'off', EXPLORER: 'false', ...(redisUrl && { REDIS_URL: redisUrl }) },
    });

  for (const pools of sizes) {
    {
      await using sandbox = await startSandbox({ pools, history: 40 });
      await using one = await start(sandbox);
      const watched = await watch(one);
      await callsOf(sandbox, [watched], 3);
      results.calls.add(ONE, pools, await callsOf(sandbox, [watched], blocks));
    }
    await using redis = await startRedis();
    await using sandbox = await startSandbox({ pools, history: 40 });
    const processes = await Promise.all(Array.from({ length: REPLICAS }, () => start(sandbox, redis.url)));
    await untilReplicas(REPLICAS, processes);
    const replicas = await Promise.all(processes.map(watch));
    // The first blocks are not measured: V8 compiles the code that reads them.
    await callsOf(sandbox, replicas, 3);

    results.calls.add(FOUR, pools, await callsOf(sandbox, replicas, blocks));
    const heights = [...(replicas[0]?.seen.keys() ?? [])].slice(-blocks);
    for (const height of heights) {
      const times = replicas.map(({ seen }) => seen.get(height) ?? Number.POSITIVE_INFINITY);
      results.lag.add(LAST, pools, Math.max(...times) - Math.min(...times));
    }

    for (let survivors = replicas; survivors.length > 1; ) {
      const [killed, ...others] = survivors;
      const startedAt = performance.now();
      await killed?.process.stop();
      await sandbox.call('advance');
      await untilNewest(sandbox, others);
      results.killed.add(KILLED, pools, performance.now() - startedAt);
      survivors = others;
    }
    await replicas.at(-1)?.process.stop();
    log(`a fleet of ${pools} pools: done`);
  }
  return Object.values(results);
}

function createResults(sizes: readonly number[], blocks: number): Results {
  const head = { better: 'less', sizeUnit: 'pools', sizes } as const;
  const about = `${REPLICAS} replicas and Redis on one machine. ${blocks} blocks, one each ${BLOCK_MS} ms. Each replica has a subscriber of heads.`;
  return {
    calls: createResult({
      ...head,
      title: 'A fleet: upstream calls of four replicas',
      about,
      unit: 'calls/min',
      goals: [{ target: FOUR, baseline: { target: ONE, by: 'ratio' }, bound: 'at most', value: 1.1 }],
    }),
    lag: createResult({
      ...head,
      title: 'A fleet: a head at the last of four replicas after the first',
      about: `${about} By the arrival of the updates of subscribers.`,
      unit: 'ms',
      samplesPerStart: blocks,
      goals: [{ target: LAST, bound: 'at most', value: 50 }],
    }),
    killed: createResult({
      ...head,
      title: 'A fleet: the next block when a replica is killed',
      about: 'One replica after another is killed, just before a block: from SIGKILL until all others have it.',
      unit: 'ms',
      samplesPerStart: REPLICAS - 1,
      goals: [{ target: KILLED, bound: 'at most', value: 4_000, isForAllSamples: true }],
    }),
  };
}

/** Makes blocks, and waits until each replica has them. @returns the calls of the upstreams in a minute: most are polls */
async function callsOf(sandbox: SandboxProcess, replicas: readonly Replica[], blocks: number): Promise<number> {
  const before = await sandbox.call<number>('calls');
  const startedAt = performance.now();
  for (let block = 0; block < blocks; block++) {
    await sandbox.call('advance');
    await sleep(BLOCK_MS);
    await untilNewest(sandbox, replicas);
  }
  const calls = (await sandbox.call<number>('calls')) - before;
  return (calls * 60_000) / (performance.now() - startedAt);
}

/** Waits until the subscriber of each replica has the newest height. */
async function untilNewest(sandbox: SandboxProcess, replicas: readonly Replica[]): Promise<void> {
  const height = await sandbox.call<number>('tip height');
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  while (!replicas.every(({ seen }) => seen.has(height))) await sleep(5, undefined, { signal });
}

/** Notes when a subscriber of a replica gets each height. */
async function watch(process: BenchProcess): Promise<Replica> {
  const response = await fetch(process.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: 'subscription { head { beaconHeight } }' }),
  });
  const seen = new Map<number, number>();
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      for (const [, height] of decoder.decode(chunk, { stream: true }).matchAll(/"beaconHeight":(\d+)/g))
        seen.set(Number(height), performance.now());
    }
  };
  // The replica is killed while it is read.
  read().catch(() => {});
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  while (seen.size === 0) await sleep(5, undefined, { signal: timeout });
  return { process, seen };
}

/** Waits until each of these gateways reads together with all others. */
async function untilReplicas(count: number, processes: readonly BenchProcess[]): Promise<void> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  for (const { url } of processes) {
    for (;;) {
      const response = await fetch(new URL('/ready', url), { signal });
      if (((await response.json()) as { readonly replicas?: number }).replicas === count) break;
      await sleep(20, undefined, { signal });
    }
  }
}
