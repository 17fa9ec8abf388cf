import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../src/sandbox/chain/random.ts';
import { createSandbox } from '../src/sandbox/sandbox.ts';
import type { Arguments } from './arguments.ts';
import { makeBlocks } from './blocks.ts';
import { abuse } from './clients/abuser.ts';
import { readCharts } from './clients/chart-reader.ts';
import { floodOrderBooks, stormBack } from './clients/flooder.ts';
import { intrude } from './clients/intruder.ts';
import { joinAndLeave, joinEventStream } from './clients/joiner.ts';
import { openLoyalSubscribers } from './clients/loyal.ts';
import { readPages } from './clients/page-reader.ts';
import { poll } from './clients/poller.ts';
import { askOverSocket } from './clients/socket-asker.ts';
import { stall } from './clients/staller.ts';
import { travelInTime } from './clients/time-traveller.ts';
import { vanishFromEventStreams } from './clients/vanisher.ts';
import { noticeDelays } from './delays.ts';
import { createFigures, type Sample } from './figures.ts';
import { type GatewayListener, startGatewayProcess } from './gateway-process.ts';
import { heal } from './healing.ts';
import { createJudge, type Judge } from './judge.ts';
import { createOutages, type Outages } from './outages.ts';
import type { MetricsReading } from './prometheus.ts';
import { createServed } from './served.ts';
import type { Client, Stage } from './stage.ts';
import { stopAmongClients } from './stopping.ts';
import { BALANCED_NODES, makeForks, makeTrouble } from './trouble.ts';
import { createShownBlocks, type ShownBlocks } from './truth/shown-blocks.ts';

/** What a run came to. */
export type Result = {
  readonly seed: number;
  /** How long there was trouble. */
  readonly minutes: number;
  readonly blocks: ShownBlocks['count'];
  /** How many heights were told as the current one. */
  readonly told: number;
  readonly judge: Judge;
  readonly faults: Outages['counts'];
  readonly samples: readonly Sample[];
  /** The last that the gateway told of itself. */
  readonly metrics: MetricsReading | undefined;
};

/** How many URLs of nodes the gateway is given. The first is that of a load balancer. */
const NODES = 3;
const LOYAL_SOCKETS = 3;

/**
 * How many errors of a method a node allows, for an hour. A gateway that asks for everything that clients request causes
 * thousands in half an hour.
 */
const ERRORS_ALLOWED = 600;

/** How many there are of each kind of client. */
const CLIENTS: readonly (readonly [count: number, kind: string, client: Client])[] = [
  [6, 'poller', poll],
  [3, 'page reader', readPages],
  [2, 'time traveller', travelInTime],
  [8, 'joiner', joinAndLeave],
  [3, 'event stream', joinEventStream],
  [2, 'staller', stall],
  [2, 'abuser', abuse],
  [3, 'intruder', intrude],
  [2, 'websocket asker', askOverSocket],
  [1, 'chart reader', readCharts],
  [1, 'order-book flooder', floodOrderBooks],
  [1, 'resume storm', stormBack],
  [1, 'vanisher', vanishFromEventStreams],
];

/** How often figures are taken: a collection of garbage each time, so not too often. */
const SAMPLE_MS = 5_000;
const WATCH_MS = 500;

/** Runs a gateway among trouble and clients until the time is over or the signal comes, then heals all and looks again. */
export async function run(
  { seed, minutes, load }: Arguments,
  interrupted: AbortSignal,
  tell: (text: string) => void,
): Promise<Result> {
  await using sandbox = await createSandbox({
    seed,
    nodes: NODES - 1 + BALANCED_NODES,
    balanced: { nodes: BALANCED_NODES, order: 'random' },
  });
  for (const node of sandbox.nodes) node.faults.set({ kind: 'error-limit', errors: ERRORS_ALLOWED });
  const outages = createOutages(NODES);
  const stopNoticing = noticeDelays(outages, NODES);
  const judge = createJudge(outages, (finding) => tell(`WRONG: ${finding}`));
  const over = new AbortController();
  const signal = AbortSignal.any([interrupted, over.signal]);
  const random = (purpose: string) => createRandom(seed, 'soak', purpose);
  const gateway = await startGatewayProcess(sandbox, listenTo(judge, over));

  /** Asks the gateway about itself; of one that has crashed nothing more is to be learnt. */
  async function whileItRuns<T>(act: () => Promise<T>): Promise<T | undefined> {
    if (!gateway.isRunning()) return undefined;
    return act().catch((error) => void judge.wrong(`the gateway does not tell how it is: ${error}`));
  }

  const shown = createShownBlocks(sandbox);
  const served = createServed(shown, outages);
  const stage: Stage = { url: gateway.url, shown, served, outages, judge, load, signal };
  const figures = createFigures(gateway);
  const start = performance.now();
  const loyal = await openLoyalSubscribers(
    { ...stage, signal: new AbortController().signal },
    random('loyal'),
    LOYAL_SOCKETS,
  );

  const clients = CLIENTS.flatMap(([count, kind, client]) =>
    Array.from({ length: Math.ceil(count * load) }, (_, index) => {
      const name = `${kind} ${index + 1}`;
      return client(stage, name, random(name));
    }),
  );
  const watch = every(WATCH_MS, signal, () => loyal.watch());
  const sampling = every(SAMPLE_MS, signal, () => whileItRuns(() => figures.take()));
  const blocks = makeBlocks(shown, outages, random('blocks'), signal);
  const forks = makeForks(sandbox, shown, outages, random('forks'), signal);
  const trouble = makeTrouble(sandbox, outages, random('trouble'), signal);

  await sleep(minutes * 60_000, undefined, { signal }).catch(() => {});
  const endured = (performance.now() - start) / 60_000;
  over.abort();
  await Promise.all([...clients, watch, sampling, blocks, trouble, forks]);

  tell(`${endured.toFixed(1)} minutes are over; healing`);
  await whileItRuns(() => heal({ stage, gateway, loyal, random: random('healing') }));
  await whileItRuns(() => figures.take());
  const metrics = await whileItRuns(() => gateway.metrics());
  const later = { ...stage, signal: new AbortController().signal };
  await whileItRuns(() => stopAmongClients({ stage: later, gateway, sandbox, random: random('stopping') }));
  await gateway.stop();
  stopNoticing();
  return {
    seed,
    minutes: endured,
    blocks: shown.count,
    told: served.told(),
    judge,
    faults: outages.counts,
    samples: figures.samples,
    metrics,
  };
}

function listenTo(judge: Judge, over: AbortController): GatewayListener {
  return {
    logged({ level, msg }) {
      judge.count(`lines of the log, ${msg} (level ${level})`);
      if (level >= 50) judge.wrong(`the gateway logged an error: ${msg}`);
    },
    muttered: (text) => judge.wrong('the gateway wrote something that is not of its log', text),
    crashed(how) {
      judge.wrong(`the gateway crashed: it ${how}`);
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
