import { setTimeout as sleep } from 'node:timers/promises';
import { createSandboxHosts, type SandboxHosts } from '../src/sandbox/sandbox.ts';
import type { Arguments } from './arguments.ts';
import { readCharts } from './clients/chart-reader.ts';
import { floodOrderBooks, resumeManySubscriptions } from './clients/flooder.ts';
import { sendInvalidRequests } from './clients/invalid-requests.ts';
import { openLongSubscriptions } from './clients/long-subscriptions.ts';
import { readPages } from './clients/page-reader.ts';
import { readPastHeights } from './clients/past-height-reader.ts';
import { poll } from './clients/poller.ts';
import { violateProtocols } from './clients/protocol-violations.ts';
import { readRest } from './clients/rest-reader.ts';
import { readEventStreamBriefly, subscribeBriefly } from './clients/short-subscriptions.ts';
import { disconnectSilently } from './clients/silent-disconnects.ts';
import { readSlowly } from './clients/slow-reader.ts';
import { readTrades } from './clients/trade-reader.ts';
import { queryOverWebSocket } from './clients/websocket-queries.ts';
import { stateMismatch } from './expected/state-rule.ts';
import { createSampler, type Sample } from './figures.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { injectBlockFaults } from './inject-block-faults.ts';
import { BALANCED_NODES, injectFaults, injectForks } from './inject-faults.ts';
import { checkUnsubscribed, injectPushFaults } from './inject-push-faults.ts';
import type { Judge } from './judge.ts';
import type { MetricsReading } from './prometheus.ts';
import { checkRecovery } from './recovery.ts';
import { routeToOne } from './routes.ts';
import { type Clients, type CommonResult, setUp } from './setup.ts';
import { stopUnderLoad } from './stopping.ts';

/** The result of a run. */
export type Result = CommonResult & {
  readonly samples: readonly Sample[];
  /** The last metrics of the gateway. */
  readonly metrics: MetricsReading | undefined;
};

/** Number of node URLs of the gateway. The first is that of a load balancer. */
const NODES = 3;
const LONG_SOCKETS = 3;

/**
 * Number of errors per method that a node allows in an hour. A gateway that requested every height that clients request would
 * cause thousands in half an hour.
 */
const ALLOWED_ERRORS = 600;

const CLIENTS: Clients = [
  [6, 'poller', poll],
  [3, 'page reader', readPages],
  [2, 'trade reader', readTrades],
  [2, 'past-height reader', readPastHeights],
  [8, 'short subscriber', subscribeBriefly],
  [3, 'event stream', readEventStreamBriefly],
  [2, 'slow reader', readSlowly],
  [2, 'invalid client', sendInvalidRequests],
  [3, 'protocol violator', violateProtocols],
  [2, 'websocket client', queryOverWebSocket],
  [2, 'REST reader', readRest],
  [1, 'chart reader', readCharts],
  [1, 'order-book flooder', floodOrderBooks],
  [1, 'resume storm', resumeManySubscriptions],
  [1, 'vanishing client', disconnectSilently],
];

/** The interval of samples. Each causes a garbage collection, so that they must not be frequent. */
const SAMPLE_MS = 5_000;
const WATCH_MS = 500;

/** Runs a gateway with faults and clients for the given time or until the signal aborts. Then it checks that it recovers. */
export async function run(args: Arguments, interrupted: AbortSignal, print: (text: string) => void): Promise<Result> {
  await using sandbox = await createSandboxHosts({
    seed: args.seed,
    exchange: args.exchange,
    nodes: NODES - 1 + BALANCED_NODES,
    balanced: { nodes: BALANCED_NODES, order: 'random' },
  });
  for (const node of sandbox.nodes) node.faults.set({ kind: 'error-limit', errors: ALLOWED_ERRORS });
  const { outages, judge, signal, random, listener, createContext, runClients, finish } = setUp(
    sandbox,
    args,
    interrupted,
    print,
  );
  const gateway = await startGatewayProcess(sandbox, listener);
  const context = createContext(gateway.url, routeToOne(gateway.url));
  checkStates(sandbox.chain, judge);
  const later = { ...context, signal: new AbortController().signal };

  /** Runs an action unless the gateway has crashed. */
  async function whileItRuns<T>(act: () => Promise<T>): Promise<T | undefined> {
    if (!gateway.isRunning()) return undefined;
    return act().catch((error) => void judge.fail(`the gateway does not respond: ${error}`));
  }

  const sampler = createSampler(gateway);
  const subscriptions = await openLongSubscriptions(later, random('long subscriptions'), LONG_SOCKETS);
  const minutes = await runClients(context, CLIENTS, [
    every(WATCH_MS, signal, () => subscriptions.watch()),
    every(SAMPLE_MS, signal, () => whileItRuns(() => sampler.take())),
    injectForks(sandbox, context.shown, outages, random('forks'), signal),
    injectFaults(sandbox, outages, random('faults'), signal),
    injectPushFaults(sandbox, judge, random('push faults'), signal),
    injectBlockFaults(sandbox, outages, random('block faults'), signal),
  ]);

  await whileItRuns(() => checkRecovery({ context, gateway, subscriptions, random: random('recovery') }));
  await whileItRuns(() => sampler.take());
  const metrics = await whileItRuns(() => gateway.metrics());
  await whileItRuns(() => stopUnderLoad({ context: later, gateway, sandbox, random: random('stopping') }));
  await gateway.stop();
  checkUnsubscribed(sandbox, judge);
  return { ...finish(context, minutes), samples: sampler.samples, metrics };
}

/** Checks each new block of the chain: the state before it and its instructions are the state after it. */
function checkStates(chain: SandboxHosts['chain'], judge: Judge): void {
  chain.onBlock((block) => {
    const mismatch = stateMismatch(chain, block);
    if (mismatch !== undefined) judge.fail(`the state of a block does not follow from its instructions: ${mismatch}`);
  });
}

async function every(intervalMs: number, signal: AbortSignal, act: () => unknown): Promise<void> {
  while (!signal.aborted) {
    await act();
    await sleep(intervalMs, undefined, { signal }).catch(() => {});
  }
}
