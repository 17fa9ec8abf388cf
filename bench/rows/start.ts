import { execFileSync } from 'node:child_process';
import { ask } from '../ask.ts';
import { beginFinding, type Finding } from '../finding.ts';
import { startGateway, startSandbox } from '../gateway.ts';
import { coreOf } from '../machine.ts';
import type { Row, Stage } from '../row.ts';
import { GATEWAY } from '../servers.ts';

const NOTHING = '`node -e 0`';

/** From the start of the process to its first answer. */
export const start: Row = { name: 'start', run };

async function run(stage: Stage): Promise<readonly Finding[]> {
  const sizes = stage.quick ? [54] : [54, 1_000, 10_000];
  const rounds = stage.quick ? 2 : 7;
  const finding = beginFinding({
    title: 'From the start to the first answer',
    about:
      'From the start of the process to the answer to `{ beaconHeight }`, for which the exchange has to be read once. Node alone: from its start to its end.',
    unit: 'milliseconds',
    better: 'less',
    sizeUnit: 'pools',
    sizes,
    reference: NOTHING,
  });
  for (const pools of sizes) {
    await using sandbox = await startSandbox({ pools });
    for (let round = 0; round < rounds; round++) {
      finding.add(NOTHING, pools, await took(startNothing));
      await using gateways = new AsyncDisposableStack();
      const startAndAsk = async () => {
        const gateway = gateways.use(await startGateway(sandbox));
        await ask(gateway.url, { query: '{ beaconHeight }' });
      };
      finding.add(GATEWAY, pools, await took(startAndAsk));
    }
  }
  return [finding];
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
