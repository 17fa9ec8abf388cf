import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../src/sandbox/chain/random.ts';
import { createSandbox, type Sandbox } from '../src/sandbox/sandbox.ts';
import type { Arguments } from './arguments.ts';
import { produceBlocks } from './blocks.ts';
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
import type { Client, SoakContext } from './context.ts';
import { watchEventLoop } from './event-loop-delays.ts';
import { stateMismatch } from './expected/state-rule.ts';
import { createSampler, type Sample } from './figures.ts';
import { type GatewayListener, startGatewayProcess } from './gateway-process.ts';
import { injectBlockFaults } from './inject-block-faults.ts';
import { BALANCED_NODES, injectFaults, injectForks } from './inject-faults.ts';
import { checkUnsubscribed, injectPushFaults } from './inject-push-faults.ts';
import { createJudge, type Judge, MISMATCHED } from './judge.ts';
import { createOutages, type Outages } from './outages.ts';
import type { MetricsReading } from './prometheus.ts';
import { checkRecovery } from './recovery.ts';
import { requireChecks } from './required-checks.ts';
import { routeToOne } from './routes.ts';
import { createServedBlocks } from './served-blocks.ts';
import { createShownBlocks, type ShownBlocks } from './shown-blocks.ts';
import { stopUnderLoad } from './stopping.ts';

/** The result of a run. */
export type Result = {
  readonly seed: number;
  /** The duration of the faults. */
  readonly minutes: number;
  readonly blocks: ShownBlocks['count'];
  /** The number of heights that were served as the newest. */
  readonly servedHeights: number;
  readonly judge: Judge;
  readonly faults: Outages['counts'];
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

/** The number of clients of each kind. */
const CLIENTS: readonly (readonly [count: number, kind: string, client: Client])[] = [
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
export async function run(
  { seed, minutes, load, exchange }: Arguments,
  interrupted: AbortSignal,
  print: (text: string) => void,
): Promise<Result> {
  await using sandbox = await createSandbox({
    seed,
    exchange,
    nodes: NODES - 1 + BALANCED_NODES,
    balanced: { nodes: BALANCED_NODES, order: 'random' },
  });
  for (const node of sandbox.nodes) node.faults.set({ kind: 'error-limit', errors: ALLOWED_ERRORS });
  const outages = createOutages(NODES);
  const stopWatching = watchEventLoop(outages, NODES);
  const judge = createJudge(outages, (finding) => print(`WRONG: ${finding}`));
  const over = new AbortController();
  const signal = AbortSignal.any([interrupted, over.signal]);
  const random = (purpose: string) => createRandom(seed, 'soak', purpose);
  const gateway = await startGatewayProcess(sandbox, listenTo(judge, over));

  /** Runs an action unless the gateway has crashed. */
  async function whileItRuns<T>(act: () => Promise<T>): Promise<T | undefined> {
    if (!gateway.isRunning()) return undefined;
    return act().catch((error) => void judge.fail(`the gateway does not respond: ${error}`));
  }

  const shown = createShownBlocks(sandbox);
  checkStates(sandbox.chain, judge);
  const served = createServedBlocks(shown, outages);
  const { url } = gateway;
  const context: SoakContext = {
    url,
    routes: routeToOne(url),
    replicas: 1,
    shown,
    served,
    outages,
    judge,
    load,
    signal,
  };
  const sampler = createSampler(gateway);
  const start = performance.now();
  const subscriptions = await openLongSubscriptions(
    { ...context, signal: new AbortController().signal },
    random('long subscriptions'),
    LONG_SOCKETS,
  );

  const clients = CLIENTS.flatMap(([count, kind, client]) =>
    Array.from({ length: Math.ceil(count * load) }, (_, index) => {
      const name = `${kind} ${index + 1}`;
      return client(context, name, random(name));
    }),
  );
  const watch = every(WATCH_MS, signal, () => subscriptions.watch());
  const sampling = every(SAMPLE_MS, signal, () => whileItRuns(() => sampler.take()));
  const blocks = produceBlocks(shown, outages, random('blocks'), signal);
  const forks = injectForks(sandbox, shown, outages, random('forks'), signal);
  const faults = injectFaults(sandbox, outages, random('faults'), signal);
  const pushFaults = injectPushFaults(sandbox, judge, random('push faults'), signal);
  const blockFaults = injectBlockFaults(sandbox, outages, random('block faults'), signal);

  await sleep(minutes * 60_000, undefined, { signal }).catch(() => {});
  const elapsedMinutes = (performance.now() - start) / 60_000;
  over.abort();
  await Promise.all([...clients, watch, sampling, blocks, faults, pushFaults, blockFaults, forks]);

  print(`${elapsedMinutes.toFixed(1)} minutes are over; checking the recovery`);
  await whileItRuns(() => checkRecovery({ context, gateway, subscriptions, random: random('recovery') }));
  await whileItRuns(() => sampler.take());
  const metrics = await whileItRuns(() => gateway.metrics());
  const later = { ...context, signal: new AbortController().signal };
  await whileItRuns(() => stopUnderLoad({ context: later, gateway, sandbox, random: random('stopping') }));
  await gateway.stop();
  checkUnsubscribed(sandbox, judge);
  if (!interrupted.aborted) requireChecks(judge, { minutes, exchange, replicas: 1 });
  stopWatching();
  return {
    seed,
    minutes: elapsedMinutes,
    blocks: shown.count,
    servedHeights: served.count(),
    judge,
    faults: outages.counts,
    samples: sampler.samples,
    metrics,
  };
}

/** Checks each new block of the chain: the state before it and its instructions are the state after it. */
function checkStates(chain: Sandbox['chain'], judge: Judge): void {
  chain.onBlock((block) => {
    const mismatch = stateMismatch(chain, block);
    if (mismatch !== undefined) judge.fail(`the state of a block does not follow from its instructions: ${mismatch}`);
  });
}

function listenTo(judge: Judge, over: AbortController): GatewayListener {
  return {
    logged({ level, msg }) {
      judge.count(`lines of the log, ${msg} (level ${level})`);
      if (level >= 50) judge.fail(`the gateway logged an error: ${msg}`);
      if (msg.startsWith(MISMATCHED)) judge.fail(`the gateway logged: ${msg}`);
    },
    unexpectedOutput: (text) => judge.fail('the gateway wrote something that is not a log line', text),
    crashed(how) {
      judge.fail(`the gateway crashed: it ${how}`);
      over.abort();
    },
  };
}

async function every(intervalMs: number, signal: AbortSignal, act: () => unknown): Promise<void> {
  while (!signal.aborted) {
    await act();
    await sleep(intervalMs, undefined, { signal }).catch(() => {});
  }
}
