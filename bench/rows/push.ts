import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway, startSandbox } from '../gateway.ts';
import type { Goal } from '../goal.ts';
import type { BenchProcess } from '../processes.ts';
import { createResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';

const PUSHED = 'pushed';
const NODE_ALONE = 'the state of the node alone';

const HEADS = 'subscription { head { beaconHeight } }';

/** The time between two blocks. Polls are not in step with it. */
const BLOCK_MS = 1_370;

/** A state of so many pools has some 18 MB, which the node alone may need more than the goal for. */
const LARGE = 10_000;
const beyondTheNode: Goal = {
  target: PUSHED,
  baseline: { target: NODE_ALONE, by: 'difference' },
  bound: 'at most',
  value: 100,
  sizes: [LARGE],
};

/** The time from the frame of a new block to the new head at a client. */
export const push: Row = { name: 'push', comparesCheckouts: false, run };

async function run({ quick, checkouts, log }: RowContext): Promise<readonly Result[]> {
  const sizes = quick ? [1_000] : [1_000, LARGE];
  const blocks = quick ? 3 : 10;
  const result = createResult({
    title: 'A pushed block: until a client has the new head',
    about: `The node pushes ${blocks} blocks. Measured from the moment at which the node has the block, and sends its frame, to the update of a client that subscribes to heads. The other target is the time in which another client reads an exchange state of that size from the node: one that nobody has read before, because the simulated node writes each state once.`,
    unit: 'ms',
    better: 'less',
    sizeUnit: 'pools',
    sizes,
    samplesPerStart: blocks,
    goals: [
      { target: PUSHED, bound: 'at most', value: 100, sizes: sizes.filter((pools) => pools < LARGE) },
      ...(quick ? [] : [beyondTheNode]),
    ],
  });
  const [checkout] = checkouts;
  if (checkout === undefined) throw new Error('the gateway of this checkout takes no part');

  for (const pools of sizes) {
    // The first height, and one below it for each block.
    await using sandbox = await startSandbox({ pools, history: blocks + 1 });
    await using gateway = await startGateway(sandbox, { checkout, env: { FULLNODE_WS_URL: sandbox.facts.pushUrl } });
    const heads = await subscribe(gateway);
    const { value: first } = await heads.next();
    if (first === undefined) throw new Error('the subscription ended');
    await sandbox.call('until subscribed');
    // The first block is not measured: V8 compiles the code that reads it.
    for (let block = 0; block <= blocks; block++) {
      await sleep(BLOCK_MS);
      const at = await sandbox.call<number>('advance now');
      const { value } = await heads.next();
      const seenAt = performance.timeOrigin + performance.now();
      if (value === undefined) throw new Error('the subscription ended');
      if (block === 0) continue;
      result.add(PUSHED, pools, seenAt - at);
      result.add(NODE_ALONE, pools, await readState(sandbox.facts.nodeUrl, first - block));
    }
    await heads.return(undefined);
    log(`${result.title}, ${pools} pools: done`);
  }
  return [result];
}

/** The heights of a subscription to heads. */
async function subscribe({ url }: BenchProcess): Promise<AsyncGenerator<number, undefined>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: HEADS }),
  });
  return heightsOf(response);
}

async function* heightsOf({ body }: Response): AsyncGenerator<number, undefined> {
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    const height = /"beaconHeight":(\d+)/.exec(decoder.decode(chunk, { stream: true }))?.[1];
    if (height !== undefined) yield Number(height);
  }
  return undefined;
}

/** Reads a state from the node, as the gateway does for each head. @returns the milliseconds until its last byte */
async function readState(nodeUrl: string, height: number): Promise<number> {
  const startedAt = performance.now();
  const body = JSON.stringify({ id: 1, jsonrpc: '1.0', method: 'getpdestate', params: [{ BeaconHeight: height }] });
  const response = await fetch(nodeUrl, { method: 'POST', body, signal: AbortSignal.timeout(60_000) });
  await response.arrayBuffer();
  return performance.now() - startedAt;
}
