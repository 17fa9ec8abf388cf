import { setTimeout as sleep } from 'node:timers/promises';
import { type SandboxProcess, startGateway, startSandbox } from '../gateway.ts';
import { type LoadGenerator, startLoadGenerator } from '../load-generator.ts';
import { onePool, toPost } from '../operations.ts';
import type { BenchProcess } from '../processes.ts';
import { startRedis } from '../redis.ts';
import { createResult, type OpenResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import { takeSnapshot } from '../snapshot.ts';

const ONE = 'one gateway';
const FOUR = 'four replicas';
const EACH = 'each of four replicas';
const LAST = 'the last of four replicas';
const KILLED = 'a replica is killed';
const TWO = 'two replicas';

const REPLICAS = 4;
const BLOCK_MS = 1_500;

/** Several gateways as one, with a Redis on the same machine. */
export const fleet: Row = { name: 'fleet', comparesCheckouts: false, run };

type Results = {
  readonly calls: OpenResult;
  readonly lag: OpenResult;
  readonly cpu: OpenResult;
  readonly killed: OpenResult;
  readonly capacity: OpenResult;
};

/** A replica, and when it had each height, by the clock of the bench. */
type Replica = { readonly process: BenchProcess; readonly seen: Map<number, number>; leave(): void };

async function run({ quick, checkouts: [checkout], log }: RowContext): Promise<readonly Result[]> {
  if (checkout === undefined) throw new Error('the gateway of this checkout takes no part');
  const sizes = quick ? [54, 1_000] : [54, 10_000];
  const blocks = quick ? 4 : 20;
  const rounds = quick ? 2 : 5;
  const results = createResults(sizes, { blocks, rounds });
  const start = (sandbox: SandboxProcess, redisUrl?: string) =>
    startGateway(sandbox, {
      checkout,
      env: { HISTORY_DATABASE: 'off', EXPLORER: 'false', ...(redisUrl && { REDIS_URL: redisUrl }) },
    });

  /** Compares one gateway with two replicas. Each is alone under load in turn, so that each has a core. */
  async function measureCapacity(pools: number): Promise<void> {
    await using redis = await startRedis();
    await using sandbox = await startSandbox({ pools, history: 40 });
    await using one = await start(sandbox);
    await using first = await start(sandbox, redis.url);
    await using second = await start(sandbox, redis.url);
    await untilReplicas(2, [first, second]);
    await using load = await startLoadGenerator();
    const snapshot = await takeSnapshot(one.url);
    const requests = snapshot.pools.map((_, index) => toPost(onePool(snapshot, index)));
    // The first rounds warm up.
    for (let round = -3; round < rounds; round++) {
      const perSecond = new Map<BenchProcess, number>();
      for (const server of round % 2 === 0 ? [one, first, second] : [second, first, one])
        perSecond.set(server, await responsesPerCpuSecond(server, { load, sandbox, requests }));
      if (round < 0) continue;
      results.capacity.add(ONE, pools, perSecond.get(one) ?? 0);
      results.capacity.add(TWO, pools, (perSecond.get(first) ?? 0) + (perSecond.get(second) ?? 0));
    }
  }

  const msPerBlock = (before: number, after: number) => ((after - before) * 1_000) / blocks;

  for (const pools of sizes) {
    {
      await using sandbox = await startSandbox({ pools, history: 40 });
      await using one = await start(sandbox);
      const watched = await watch(one);
      await callsOf(sandbox, [watched], 3);
      const before = await one.call<number>('cpu seconds');
      results.calls.add(ONE, pools, await callsOf(sandbox, [watched], blocks));
      results.cpu.add(ONE, pools, msPerBlock(before, await one.call<number>('cpu seconds')));
    }
    await using redis = await startRedis();
    await using sandbox = await startSandbox({ pools, history: 40 });
    const processes = await Promise.all(Array.from({ length: REPLICAS }, () => start(sandbox, redis.url)));
    await untilReplicas(REPLICAS, processes);
    const replicas = await Promise.all(processes.map(watch));
    // The first blocks are not measured: V8 compiles the code that reads them.
    await callsOf(sandbox, replicas, 3);

    const cpu = async () => Promise.all(processes.map((process) => process.call<number>('cpu seconds')));
    const before = await cpu();
    results.calls.add(FOUR, pools, await callsOf(sandbox, replicas, blocks));
    for (const [n, seconds] of (await cpu()).entries())
      results.cpu.add(EACH, pools, msPerBlock(before[n] ?? 0, seconds));
    const heights = [...(replicas[0]?.seen.keys() ?? [])].slice(-blocks);
    for (const height of heights) {
      const times = replicas.map(({ seen }) => seen.get(height) ?? Number.POSITIVE_INFINITY);
      results.lag.add(LAST, pools, Math.max(...times) - Math.min(...times));
    }

    const [killed, ...others] = replicas;
    const startedAt = performance.now();
    await killed?.process.stop();
    await callsOf(sandbox, others, 1);
    results.killed.add(KILLED, pools, performance.now() - startedAt);
    for (const { leave } of others) leave();
    for (const { process } of others) await process.stop();
    await measureCapacity(pools);
    log(`a fleet of ${pools} pools: done`);
  }
  return Object.values(results);
}

function createResults(sizes: readonly number[], { blocks, rounds }: { blocks: number; rounds: number }): Results {
  const head = { better: 'less', sizeUnit: 'pools', sizes, baseline: undefined } as const;
  const about = `${REPLICAS} replicas and Redis on one machine. ${blocks} blocks, one each ${BLOCK_MS} ms. Each replica has a subscriber of heads.`;
  return {
    calls: createResult({
      ...head,
      title: 'A fleet: upstream calls',
      about,
      unit: 'calls per minute',
      goals: [{ target: FOUR, baseline: { target: ONE, by: 'ratio' }, bound: 'at most', value: 1.1 }],
    }),
    lag: createResult({
      ...head,
      title: 'A fleet: the time from a head at the first replica until the last one has it',
      about: `${about} By the arrival of the updates of subscribers.`,
      unit: 'milliseconds',
      samplesPerStart: blocks,
      goals: [{ target: LAST, bound: 'at most', value: 50 }],
    }),
    cpu: createResult({
      ...head,
      title: 'A fleet: CPU time for each head',
      about: `${about} All that the process does meanwhile: polls, the lists of the market, and the subscriber.`,
      unit: 'milliseconds',
      samplesPerStart: REPLICAS,
      goals: [],
    }),
    killed: createResult({
      ...head,
      title: 'A fleet: how long the others need for the next block when a replica is killed',
      about: `From SIGKILL, just before a block, until all others have it. They are looked at after ${BLOCK_MS} ms.`,
      unit: 'milliseconds',
      goals: [{ target: KILLED, bound: 'at most', value: 4_000 }],
    }),
    capacity: createResult({
      ...head,
      title: 'A fleet: two replicas on two cores',
      about:
        'One pool after the other, with a new height each second. The responses of a server in a second of its CPU time, and of two replicas together. Each server is alone under load, because the load generator needs a core too.',
      unit: 'responses per second of CPU time',
      better: 'more',
      samplesPerStart: rounds,
      goals: [{ target: TWO, baseline: { target: ONE, by: 'ratio' }, bound: 'at least', value: 1.8 }],
    }),
  };
}

/** Sends queries for two seconds, with a new height in each. @returns the responses in a second of the CPU time of the server */
async function responsesPerCpuSecond(
  server: BenchProcess,
  { load, sandbox, requests }: { load: LoadGenerator; sandbox: SandboxProcess; requests: readonly Uint8Array[] },
): Promise<number> {
  const before = await server.call<number>('cpu seconds');
  const sending = load.queries(server, { requests, seconds: 2 });
  for (let block = 0; block < 2; block++) {
    await sandbox.call('advance');
    await sleep(1_000);
  }
  const { responses } = await sending;
  return responses / ((await server.call<number>('cpu seconds')) - before);
}

/** Makes blocks, and waits until each replica has them. @returns the calls of the upstreams in a minute: most are polls */
async function callsOf(sandbox: SandboxProcess, replicas: readonly Replica[], blocks: number): Promise<number> {
  const before = await sandbox.call<number>('calls');
  const startedAt = performance.now();
  for (let block = 0; block < blocks; block++) {
    await sandbox.call('advance');
    await sleep(BLOCK_MS);
    const height = await sandbox.call<number>('tip height');
    while (!replicas.every(({ seen }) => seen.has(height))) await sleep(5);
  }
  const calls = (await sandbox.call<number>('calls')) - before;
  return (calls * 60_000) / (performance.now() - startedAt);
}

/** Notes when a subscriber of a replica gets each height. */
async function watch(process: BenchProcess): Promise<Replica> {
  const leaving = new AbortController();
  const response = await fetch(process.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: 'subscription { head { beaconHeight } }' }),
    signal: leaving.signal,
  });
  const seen = new Map<number, number>();
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const height = /"beaconHeight":(\d+)/.exec(decoder.decode(chunk, { stream: true }))?.[1];
      if (height !== undefined) seen.set(Number(height), performance.now());
    }
  };
  // The replica is killed while it is read.
  read().catch(() => {});
  while (seen.size === 0) await sleep(5);
  return { process, seen, leave: () => leaving.abort() };
}

/** Waits until each of these gateways reads together with all others. */
async function untilReplicas(count: number, processes: readonly BenchProcess[]): Promise<void> {
  for (const { url } of processes) {
    for (;;) {
      const response = await fetch(new URL('/ready', url));
      if (((await response.json()) as { readonly replicas?: number }).replicas === count) break;
      await sleep(20);
    }
  }
}
