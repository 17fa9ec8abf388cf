import type { SandboxHostsOptions } from '../../src/sandbox/sandbox.ts';
import type { Goal } from '../goal.ts';
import { startLoadGenerator } from '../load-generator.ts';
import { stealMs } from '../machine.ts';
import { onePool, toPost } from '../operations.ts';
import type { LoopDelay } from '../process-control.ts';
import type { BenchProcess } from '../processes.ts';
import { heightOf, untilNewestHeight } from '../query-rounds.ts';
import { createResult, type OpenResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import { GATEWAY } from '../targets.ts';
import { startTestbed, type Testbed } from '../testbed.ts';

const WITHOUT = 'no new state';
const WITH = 'a new state every few seconds';
/** The number of shares for each pool: 100,000 in all at the largest size. */
const SHARES_PER_POOL = 10;

/** A state that is read while clients send queries. */
type LargeState = {
  readonly title: string;
  readonly about: string;
  readonly pools: number;
  readonly options: SandboxHostsOptions;
  /** The request whose response has the state. */
  readonly method: string;
  readonly filter?: object;
  /** How long the event loop may be blocked, in milliseconds. */
  readonly maxBlockedMs: number;
};

const V1: LargeState = {
  title: 'A large state arrives',
  about: `Each pool has ${SHARES_PER_POOL} providers.`,
  pools: 10_000,
  options: { sharesPerPool: SHARES_PER_POOL },
  method: 'getpdestate',
  maxBlockedMs: 15,
};

const V3: LargeState = {
  title: 'Reading V3 states',
  about: 'Each pool has about ten orders.',
  pools: 500,
  // A block without trades would leave the orders as they are.
  options: { exchange: 'v3', history: 60, tradesPerBlock: 100 },
  method: 'pdexv3_getState',
  filter: { Key: 'PoolPairs', Verbosity: 4, ID: '' },
  maxBlockedMs: 10,
};

/** A large state is read while clients send queries: the latency of their responses. */
export const largeState: Row = { name: 'large-state', comparesCheckouts: true, run: (context) => run(context, V1) };

/** The same with the pools and orders of V3. Gateways of earlier commits do not read them. */
export const v3State: Row = { name: 'v3-state', comparesCheckouts: false, run: (context) => run(context, V3) };

type Results = { readonly slowest: OpenResult; readonly slow: OpenResult; readonly blocked: OpenResult };
type Times = { readonly rounds: number; readonly seconds: number; readonly stateMs: number };

async function run(context: RowContext, state: LargeState): Promise<readonly Result[]> {
  const { quick, isComparison, checkouts, log } = context;
  const sizes = [quick ? state.pools / 10 : state.pools];
  const starts = isComparison && !quick ? 3 : 1;
  const times = quick
    ? { rounds: 1, seconds: 2, stateMs: 500 }
    : isComparison
      ? { rounds: 2, seconds: 6, stateMs: 2_000 }
      : { rounds: 3, seconds: 8, stateMs: 2_500 };
  const results = createResults(sizes, times, state);
  for (const pools of sizes) {
    for (let start = 0; start < starts; start++) {
      await using testbed = await startTestbed(checkouts, { ...state.options, pools });
      await measureTestbed(testbed, results, times, pools);
      if (start === 0) {
        const bytes = await stateBytes(testbed.sandbox.facts.nodeUrl, testbed.snapshot.beaconHeight, state);
        results.slowest.note(
          `${pools.toLocaleString('en-US')} pools: the response of the node has ${(bytes / 1e6).toFixed(1)} MB.`,
        );
      }
      log(`${results.slowest.title}, ${pools} pools: start ${start + 1} of ${starts} done`);
    }
  }
  return [results.slowest, results.slow, results.blocked];
}

function createResults(sizes: readonly number[], { rounds, seconds }: Times, state: LargeState): Results {
  const head = {
    unit: 'ms',
    better: 'less',
    sizeUnit: 'pools',
    sizes,
    samplesPerStart: rounds,
  } as const;
  const create = (title: string, about: string, ...goals: readonly Goal[]) =>
    createResult({ ...head, title, about, goals });
  const about = `Ten clients request one pool, each 10 ms after its last response, for ${seconds} s. ${state.about}`;
  return {
    slowest: create(`${state.title}: the slowest response`, about, {
      target: WITH,
      baseline: { target: WITHOUT, by: 'difference' },
      bound: 'at most',
      value: 20,
    }),
    slow: create(`${state.title}: 99th percentile of the latency`, about),
    blocked: create(
      `${state.title}: the event loop is blocked`,
      `${about} The longest delay of the event loop, sampled each millisecond.`,
      { target: WITH, bound: 'at most', value: state.maxBlockedMs, isForAllSamples: true },
    ),
  };
}

async function measureTestbed(testbed: Testbed, results: Results, { rounds, seconds, stateMs }: Times, pools: number) {
  const { sandbox, gateways } = testbed;
  await using load = await startLoadGenerator();
  const requests = [toPost(onePool(testbed.snapshot, 0))];
  const heights: number[] = [];
  const stolen: number[] = [];
  for (const gateway of gateways.values())
    await testbed.alone(gateway, () => load.queries(gateway, { requests, seconds: 1 }));

  async function measure(gateway: BenchProcess, target: string, isWith: boolean): Promise<void> {
    await untilNewestHeight(testbed, gateway);
    if (isWith) await sandbox.call('advance every', stateMs);
    const before = await heightOf(gateway);
    const stolenBefore = stealMs('server');
    await gateway.call('measure loop delay');
    const latency = await load.queries(gateway, { requests, seconds, connections: 10, pauseMs: 10 });
    results.slowest.add(target, pools, latency.maxMs);
    results.slow.add(target, pools, latency.p99Ms);
    results.blocked.add(target, pools, (await gateway.call<LoopDelay>('loop delay')).maxMs);
    stolen.push(stealMs('server') - stolenBefore);
    if (isWith) heights.push((await heightOf(gateway)) - before);
    await sandbox.call('advance every', 0);
  }

  for (let round = 0; round < rounds; round++) {
    for (const [name, gateway] of gateways) {
      const suffix = name.slice(GATEWAY.length);
      await testbed.alone(gateway, async () => {
        if (gateways.size === 1) await measure(gateway, WITHOUT, false);
        await measure(gateway, `${WITH}${suffix}`, true);
      });
    }
  }
  if (heights.includes(0)) throw new Error('a round ended before a new state arrived');
  const size = `${pools.toLocaleString('en-US')} pools`;
  results.slowest.note(
    `${size}: ${Math.min(...heights)} to ${Math.max(...heights)} states arrived in a round of ${seconds} s.`,
  );
  results.blocked.note(
    `${size}: the host of the machine stole ${Math.min(...stolen)} to ${Math.max(...stolen)} ms of the core of the server in a round. This counts as blocked.`,
  );
}

async function stateBytes(nodeUrl: string, height: number, { method, filter }: LargeState): Promise<number> {
  const response = await fetch(nodeUrl, {
    method: 'POST',
    body: JSON.stringify({ id: 1, jsonrpc: '1.0', method, params: [{ BeaconHeight: height, Filter: filter }] }),
    signal: AbortSignal.timeout(60_000),
  });
  return (await response.arrayBuffer()).byteLength;
}
