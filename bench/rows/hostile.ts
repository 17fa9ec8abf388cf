import { on, once } from 'node:events';
import { request } from '../graphql-client.ts';
import { HOSTILE, type HostileRequest } from '../hostile-requests.ts';
import { stealMs } from '../machine.ts';
import type { LoopDelay } from '../process-control.ts';
import { createResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import { startTestbed, type Testbed } from '../testbed.ts';

/** How long one hostile request blocks the event loop, and how much memory it takes. */
export const hostile: Row = { name: 'hostile', comparesCheckouts: false, run };

const MAX_BLOCKED_MS = 50;
const MAX_ADDED_MB = 50;

/** Maximum time of one request. The row fails when a message that it waits for does not come. */
const TIMEOUT_MS = 60_000;

/** The number of ordinary queries before: a gateway that has run for a while has compiled code. */
const WARM_UP_QUERIES = 300;

async function run({ quick, checkouts, log }: RowContext): Promise<readonly Result[]> {
  const sizes = quick ? [50] : [1_000];
  const starts = quick ? 1 : 3;
  const head = { better: 'less', sizeUnit: 'pools', sizes } as const;
  const names = Object.keys(HOSTILE);
  const blocked = createResult({
    ...head,
    title: 'A hostile request: the event loop is blocked',
    about: `The longest delay of the event loop, sampled each millisecond. A gateway that has executed ${WARM_UP_QUERIES} ordinary queries gets each request once, in each of ${starts} starts.`,
    unit: 'ms',
    goals: [{ target: names, bound: 'at most', value: MAX_BLOCKED_MS }],
  });
  const added = createResult({
    ...head,
    title: 'A hostile request: memory',
    about: 'The peak of the resident memory of the process, above what it has after a collection right before.',
    unit: 'MB',
    goals: [{ target: names, bound: 'at most', value: MAX_ADDED_MB }],
  });
  for (const pools of sizes) {
    for (let start = 0; start < starts; start++) {
      await using testbed = await startTestbed(checkouts, { pools }, { MAX_OPERATIONS_PER_REQUEST: '10' });
      for (let n = 0; n < WARM_UP_QUERIES; n++)
        await request(testbed.gateway.url, {
          query: `{ poolPairs(first: 20) { nodes { price } } a${n % 40}: beaconHeight }`,
        });
      for (const [name, hostileRequest] of Object.entries(HOSTILE)) {
        const before = await testbed.gateway.call<number>('reset peak bytes');
        const stolen = stealMs('server');
        await testbed.gateway.call('measure loop delay');
        await send(testbed, hostileRequest).catch((error) => {
          throw new Error(`no response to: ${name}`, { cause: error });
        });
        const { maxMs } = await testbed.gateway.call<LoopDelay>('loop delay');
        blocked.add(name, pools, Math.max(0, maxMs - (stealMs('server') - stolen)));
        added.add(name, pools, ((await testbed.gateway.call<number>('peak bytes')) - before) / 1e6);
      }
      log(`${blocked.title}, ${pools} pools: start ${start + 1} of ${starts} done`);
    }
  }
  return [blocked, added];
}

/** Sends a request, and waits for the response. */
async function send({ gateway: { url }, sandbox }: Testbed, hostileRequest: HostileRequest): Promise<void> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  if ('post' in hostileRequest) {
    const { post: body, accept = 'application/json', encoding } = hostileRequest;
    const headers = { 'content-type': 'application/json', accept, ...(encoding && { 'content-encoding': encoding }) };
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    await response.arrayBuffer();
    return;
  }
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
  await once(socket, 'open', { signal });
  // If the payload is not an operation, the gateway closes the websocket.
  const messages = on(socket, 'message', { signal, close: ['close'] });
  socket.send('{"type":"connection_init"}');
  await messages.next();
  const { subscribe, updates } = hostileRequest;
  for (const [id, payload] of subscribe.entries())
    socket.send(`{"type":"subscribe","id":"${id}","payload":${payload}}`);
  let received = 0;
  let ended = 0;
  for await (const [{ data }] of messages) {
    if (isUpdate(data) ? ++received === updates : ++ended === subscribe.length) break;
    if (updates !== undefined) await sandbox.call('advance');
  }
  socket.close();
}

/** Whether a message is an update. After any other one an operation has ended. */
function isUpdate(message: string): boolean {
  return message.slice(0, 100).includes('"type":"next"');
}
