import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../src/sandbox/chain/random.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import type { Arguments } from '../arguments.ts';
import { produceBlocks } from '../blocks.ts';
import { readPages } from '../clients/page-reader.ts';
import { readPastHeights } from '../clients/past-height-reader.ts';
import { poll } from '../clients/poller.ts';
import { readRest } from '../clients/rest-reader.ts';
import { readEventStreamBriefly, subscribeBriefly } from '../clients/short-subscriptions.ts';
import { queryOverWebSocket } from '../clients/websocket-queries.ts';
import type { Client, SoakContext } from '../context.ts';
import { watchEventLoop } from '../event-loop-delays.ts';
import type { GatewayListener } from '../gateway-process.ts';
import { createJudge, type Judge, MISMATCHED } from '../judge.ts';
import { createOutages, type Outages } from '../outages.ts';
import type { MetricsReading } from '../prometheus.ts';
import { requireChecks } from '../required-checks.ts';
import { createServedBlocks } from '../served-blocks.ts';
import { createShownBlocks, type ShownBlocks } from '../shown-blocks.ts';
import { injectFleetFaults } from './faults.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { checkFleetRecovery } from './recovery.ts';

/** The result of a run with a fleet. */
export type FleetResult = {
  readonly seed: number;
  readonly replicas: number;
  /** The duration of the faults. */
  readonly minutes: number;
  readonly blocks: ShownBlocks['count'];
  /** The number of heights that were served as the newest. */
  readonly servedHeights: number;
  readonly judge: Judge;
  readonly faults: Outages['counts'];
  /** The last metrics of each gateway. */
  readonly metrics: readonly MetricsReading[];
};

const NODES = 2;

/** The number of clients of each kind. Each request or connection goes to the next gateway. */
const CLIENTS: readonly (readonly [count: number, kind: string, client: Client])[] = [
  [6, 'poller', poll],
  [3, 'page reader', readPages],
  [1, 'past-height reader', readPastHeights],
  [9, 'short subscriber', subscribeBriefly],
  [6, 'event stream', readEventStreamBriefly],
  [3, 'websocket client', queryOverWebSocket],
  [3, 'REST reader', readRest],
];

/** Runs a fleet with faults and clients for the given time or until the signal aborts. Then it checks that it recovers. */
export async function runFleet(
  { seed, minutes, load, replicas, exchange }: Arguments,
  interrupted: AbortSignal,
  print: (text: string) => void,
): Promise<FleetResult> {
  await using sandbox = await createSandbox({ seed, exchange, nodes: NODES });
  const outages = createOutages(NODES);
  const stopWatching = watchEventLoop(outages, NODES);
  const judge = createJudge(outages, (finding) => print(`WRONG: ${finding}`));
  const over = new AbortController();
  const signal = AbortSignal.any([interrupted, over.signal]);
  const random = (purpose: string) => createRandom(seed, 'fleet soak', purpose);
  const fleet = await startFleet(sandbox, replicas, listenTo(judge, over));
  const [first] = fleet.replicas;
  if (first === undefined) throw new Error('a fleet has at least one gateway');

  const shown = createShownBlocks(sandbox);
  const served = createServedBlocks(shown, outages);
  const { url } = first;
  const context: SoakContext = { url, routes: fleet.routes, replicas, shown, served, outages, judge, load, signal };
  const start = performance.now();
  const joined = outages.beginOfFleet('start');
  joined();
  const clients = CLIENTS.flatMap(([count, kind, client]) =>
    Array.from({ length: Math.ceil(count * load) }, (_, index) => {
      const name = `${kind} ${index + 1}`;
      return client(context, name, random(name));
    }),
  );
  const blocks = produceBlocks(shown, outages, random('blocks'), signal);
  const faults = injectFleetFaults({ fleet, random: random('faults'), signal }, outages, print);

  await sleep(minutes * 60_000, undefined, { signal }).catch(() => {});
  const elapsedMinutes = (performance.now() - start) / 60_000;
  over.abort();
  await Promise.all([...clients, blocks, faults]);

  print(`${elapsedMinutes.toFixed(1)} minutes are over; checking the recovery`);
  const later = { ...context, signal: new AbortController().signal };
  await checkFleetRecovery(later, fleet, random('recovery')).catch(
    (error) => void judge.fail(`the fleet does not respond: ${error}`),
  );
  if (!interrupted.aborted) requireChecks(judge, { minutes, exchange, replicas });
  const metrics = await metricsOf(fleet);
  await stop(fleet, judge);
  stopWatching();
  return {
    seed,
    replicas,
    minutes: elapsedMinutes,
    blocks: shown.count,
    servedHeights: served.count(),
    judge,
    faults: outages.counts,
    metrics,
  };
}

async function metricsOf(fleet: Fleet): Promise<readonly MetricsReading[]> {
  const readings = fleet.replicas.map((replica) =>
    replica
      .process()
      .metrics()
      .catch(() => undefined),
  );
  return (await Promise.all(readings)).filter((reading) => reading !== undefined);
}

async function stop(fleet: Fleet, judge: Judge): Promise<void> {
  for (const end of await fleet.stop()) if (end !== 0) judge.fail(`a gateway did not exit with 0 but with ${end}`);
  await fleet.close();
}

function listenTo(judge: Judge, over: AbortController): GatewayListener {
  return {
    logged({ level, msg }) {
      judge.count(`lines of the log, ${msg} (level ${level})`);
      if (level >= 50) judge.fail(`a gateway logged an error: ${msg}`);
      if (msg.startsWith(MISMATCHED)) judge.fail(`a gateway logged: ${msg}`);
    },
    unexpectedOutput: (text) => judge.fail('a gateway wrote something that is not a log line', text),
    crashed(how) {
      judge.fail(`a gateway crashed: it ${how}`);
      over.abort();
    },
  };
}
