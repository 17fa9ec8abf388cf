import { execFileSync } from 'node:child_process';
import { ask } from '../ask.ts';
import { beginFinding, type Finding, type OpenFinding } from '../finding.ts';
import { type GatewayStart, startGateway, startGatewayAlone, startSandbox } from '../gateway.ts';
import { coreOf } from '../machine.ts';
import type { BenchProcess } from '../processes.ts';
import type { Row, Stage } from '../row.ts';
import { GATEWAY } from '../servers.ts';

const NOTHING = '`node -e 0`';

const WITHOUT_CODE = 'gateway, nothing of its code kept';
const NO_CODE = { NODE_DISABLE_COMPILE_CACHE: '1' };

/** As many pools as the sandbox has where nothing else is said. */
const SANDBOX_POOLS = 54;

/** From the start of the process to its first answer. */
export const start: Row = { name: 'start', run };

async function run({ quick, tell }: Stage): Promise<readonly Finding[]> {
  const rounds = quick ? 2 : 9;
  const head = { unit: 'milliseconds', better: 'less', sizeUnit: 'pools', reference: NOTHING } as const;
  const alone = beginFinding({
    ...head,
    title: 'From the start to the first answer, with the built-in sandbox',
    about:
      'The gateway without a setting, so that the sandbox plays both upstreams in its own process: from its start to the answer to `{ beaconHeight }`. What Node made of its code is there, as `npm ci` leaves it and each start finds it; without it, where it cannot be kept. Node alone: from its start to its end.',
    sizes: [SANDBOX_POOLS],
    reaches: [
      {
        subject: GATEWAY,
        against: { subject: NOTHING, by: 'more than' },
        bound: 'at most',
        value: 1_000,
      },
    ],
  });
  const sizes = quick ? [54] : [54, 1_000, 10_000];
  const before = beginFinding({
    ...head,
    title: 'From the start to the first answer, in front of upstreams',
    about: 'The same with the upstreams in another process, of which the exchange has to be read once.',
    sizes,
    reaches: [],
  });
  keepItsCode();
  for (let round = 0; round < rounds; round++) await compareOnce(alone, SANDBOX_POOLS, startGatewayAlone);
  tell(`${alone.title}: done`);
  for (const pools of sizes) {
    await using sandbox = await startSandbox({ pools });
    for (let round = 0; round < rounds; round++) await compareOnce(before, pools, (how) => startGateway(sandbox, how));
    tell(`${before.title}, ${pools} pools: done`);
  }
  return [alone, before];
}

/** Does what installing does at its end. */
function keepItsCode(): void {
  execFileSync('npm', ['run', '--silent', 'prepare'], { cwd: new URL('../..', import.meta.url), stdio: 'ignore' });
}

async function compareOnce(
  finding: OpenFinding,
  pools: number,
  startServer: (start: GatewayStart) => Promise<BenchProcess>,
): Promise<void> {
  finding.add(NOTHING, pools, await took(startNothing));
  for (const [name, env] of [[WITHOUT_CODE, NO_CODE] as const, [GATEWAY, {}] as const]) {
    await using servers = new AsyncDisposableStack();
    const startAndAsk = async () => {
      const gateway = servers.use(await startServer({ env, isAsItIs: true }));
      await ask(gateway.url, { query: '{ beaconHeight }' });
    };
    finding.add(name, pools, await took(startAndAsk));
  }
}

function startNothing(): void {
  const core = coreOf('server');
  const pinned = core === undefined ? [] : ['taskset', '-c', String(core)];
  const [command = '', ...args] = [...pinned, process.execPath, '-e', '0'];
  execFileSync(command, args);
}

async function took(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
