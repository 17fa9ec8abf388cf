import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../src/sandbox/chain/random.ts';
import type { SandboxHosts } from '../src/sandbox/sandbox.ts';
import type { SoakContext } from './context.ts';
import type { GatewayProcess } from './gateway-process.ts';
import type { GraphqlResponse, Operation } from './judge.ts';
import { poolQuery } from './queries/heads.ts';
import { tickersQuery } from './queries/market.ts';
import { pastHeightsQuery } from './queries/past-heights.ts';
import { initConnection, openRawWebSocket } from './websocket-client.ts';

type Stopping = {
  readonly context: SoakContext;
  readonly gateway: GatewayProcess;
  readonly sandbox: SandboxHosts;
  readonly random: Random;
};

const CLIENTS = 12;
const SOCKETS = 20;

/** The delay of the nodes, so that requests are pending when the gateway stops. */
const DELAY_MS = 300;

/** A simulated load balancer checks `/ready` at this interval, and sends requests for some time after it has failed. */
const READY_INTERVAL_MS = 250;
const DRAIN_MS = 1_500;

/** Stops the gateway while clients send requests and have subscriptions. No request may be lost. */
export async function stopUnderLoad({ context, gateway, sandbox, random }: Stopping): Promise<void> {
  const { judge } = context;
  for (const node of sandbox.nodes) node.faults.set({ kind: 'delay', ms: DELAY_MS });
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => subscribe(context)));
  const drained = new AbortController();
  const clients = Array.from({ length: CLIENTS }, (_, index) => sendQueries(context, index, random, drained.signal));

  await sleep(2 * DELAY_MS);
  const draining = drainWhenNotReady(gateway.url, drained);
  const end = await gateway.stop();
  drained.abort();
  await Promise.all([...clients, draining]);
  if (end !== 0) judge.fail(`the gateway did not exit with 0 but with ${end}`);

  for (const code of await Promise.all(sockets.map(({ closed }) => closed))) {
    judge.count(`websockets closed with ${code} at the stop`);
    if (code !== 1001) judge.fail(`a websocket was closed with ${code} instead of 1001 at the stop`);
  }
}

/** Opens a websocket with a subscription. */
async function subscribe(context: SoakContext): Promise<{ readonly closed: Promise<number> }> {
  const bare = await openRawWebSocket(context, 'subscriber at the stop');
  await initConnection(bare);
  const payload = { query: 'subscription { head { hash } }' };
  bare.socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload }));
  return { closed: bare.closed };
}

/** Sends one query after the other, each on its own connection, until the signal aborts. */
async function sendQueries(context: SoakContext, index: number, random: Random, drained: AbortSignal): Promise<void> {
  const operations = [poolQuery, pastHeightsQuery, tickersQuery];
  for (let sent = index; !drained.aborted; sent++) {
    const operation = operations[sent % operations.length]?.(context, random);
    // The nodes are slow now.
    if (operation !== undefined) await sendOnce(context, { ...operation, mayFailWith: ['UPSTREAM_BUSY'] });
  }
}

async function sendOnce({ url, judge, served }: SoakContext, operation: Operation): Promise<void> {
  const minHeight = served.highest();
  const sentAt = performance.now();
  const { query, variables } = operation;
  try {
    const answer = await post(url, JSON.stringify({ query, variables }));
    judge.judgeResponse('client at the stop', operation, answer, { sentAt, answeredAt: performance.now(), minHeight });
  } catch (error) {
    judge.fail(`a request was lost at the stop: ${operation.kind}: ${error}`);
  }
}

function post(url: URL, body: string): Promise<GraphqlResponse> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  return new Promise((resolve, reject) => {
    const asking = request(url, { method: 'POST', headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.once('error', reject).once('end', () => resolve(JSON.parse(text)));
    });
    asking.once('error', reject).end(body);
  });
}

async function drainWhenNotReady(url: URL, drained: AbortController): Promise<void> {
  const isReady = () =>
    fetch(new URL('/ready', url)).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!drained.signal.aborted && (await isReady())) await sleep(READY_INTERVAL_MS);
  await sleep(DRAIN_MS);
  drained.abort();
}
