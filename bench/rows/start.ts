import { execFileSync } from 'node:child_process';
import type { Checkout } from '../checkouts.ts';
import {
  flagsOfStart,
  type GatewayOptions,
  startGateway,
  startGatewayWithOwnSandbox,
  startSandbox,
} from '../gateway.ts';
import { request } from '../graphql-client.ts';
import { coreOf } from '../machine.ts';
import type { BenchProcess } from '../processes.ts';
import { createResult, type OpenResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import { GATEWAY } from '../targets.ts';

const NODE_ALONE = '`node -e 0`';

const WITHOUT_CACHE = 'gateway, without compile cache';
const NO_CACHE = { env: { NODE_DISABLE_COMPILE_CACHE: '1' } };

const BUILT = 'gateway, built package';
const BUILT_START = 'dist/start.cjs';

/** The default number of pools of the sandbox. */
const SANDBOX_POOLS = 54;

/** The time from the start of the process to its first response. */
export const start: Row = { name: 'start', comparesCheckouts: true, run };

async function run(context: RowContext): Promise<readonly Result[]> {
  const { quick, isComparison, checkouts, log } = context;
  const rounds = quick ? 2 : 7;
  const head = { unit: 'ms', better: 'less', sizeUnit: 'pools' } as const;
  const withOwnSandbox = createResult({
    ...head,
    title: 'From the start to the first response',
    about:
      'The gateway without settings, so that the sandbox plays both upstreams in its own process: from its start to the response to `{ beaconHeight }`. With the compile cache of Node, as `npm ci` creates it, and without, as when it cannot be written. The built package: what `npm pack` packs, with its compile cache. Node alone: from its start to its end.',
    sizes: [SANDBOX_POOLS],
    goals: [
      {
        target: GATEWAY,
        baseline: { target: NODE_ALONE, by: 'difference' },
        bound: 'at most',
        value: 1_000,
      },
      { target: BUILT, baseline: { target: NODE_ALONE, by: 'difference' }, bound: 'at most', value: 500 },
    ],
  });
  // In front of upstreams, it has no goal.
  const sizes = isComparison ? [quick ? 54 : 10_000] : [];
  const withUpstreams = createResult({
    ...head,
    title: 'From the start to the first response, in front of upstreams',
    about: 'The same with the upstreams in another process. The state has to be read once.',
    sizes,
    goals: [],
  });
  for (const { folder } of checkouts) createCompileCache(folder);
  if (!isComparison) for (const checkout of checkouts) buildPackage(checkout);
  for (let round = 0; round < rounds; round++)
    await runRound(context, withOwnSandbox, SANDBOX_POOLS, startGatewayWithOwnSandbox);
  log(`${withOwnSandbox.title}: done`);
  for (const pools of sizes) {
    await using sandbox = await startSandbox({ pools });
    for (let round = 0; round < rounds; round++)
      await runRound(context, withUpstreams, pools, (options) => startGateway(sandbox, options));
    log(`${withUpstreams.title}, ${pools} pools: done`);
  }
  return isComparison ? [withOwnSandbox, withUpstreams] : [withOwnSandbox];
}

/** Runs the script that `npm ci` runs at its end. */
function createCompileCache(folder: string): void {
  execFileSync('npm', ['run', '--silent', 'prepare'], { cwd: folder, stdio: 'ignore' });
}

/** Builds the package, and starts it once for its compile cache. */
function buildPackage(checkout: Checkout): void {
  const options = { cwd: checkout.folder, stdio: 'ignore' } as const;
  execFileSync('npm', ['run', '--silent', 'build'], options);
  execFileSync(process.execPath, [...flagsOfStart(checkout), BUILT_START, '--version'], options);
}

async function runRound(
  { checkouts, isComparison }: RowContext,
  result: OpenResult,
  pools: number,
  startServer: (options: GatewayOptions) => Promise<BenchProcess>,
): Promise<void> {
  if (!isComparison) result.add(NODE_ALONE, pools, await timeOf(startNodeAlone));
  const variants = [
    [WITHOUT_CACHE, NO_CACHE] as const,
    [BUILT, { file: BUILT_START }] as const,
    [GATEWAY, {}] as const,
  ];
  for (const [name, how] of isComparison ? variants.slice(-1) : variants) {
    for (const checkout of checkouts) {
      await using servers = new AsyncDisposableStack();
      const startAndRequest = async () => {
        const gateway = servers.use(await startServer({ checkout, ...how, isPlain: true }));
        await request(gateway.url, { query: '{ beaconHeight }' });
      };
      result.add(`${name}${checkout.suffix}`, pools, await timeOf(startAndRequest));
    }
  }
}

function startNodeAlone(): void {
  const core = coreOf('server');
  const pinned = core === undefined ? [] : ['taskset', '-c', String(core)];
  const [command = '', ...args] = [...pinned, process.execPath, '-e', '0'];
  execFileSync(command, args);
}

async function timeOf(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
