import { createSandboxHosts } from '../../src/sandbox/sandbox.ts';
import type { Arguments } from '../arguments.ts';
import { readPages } from '../clients/page-reader.ts';
import { readPastHeights } from '../clients/past-height-reader.ts';
import { poll } from '../clients/poller.ts';
import { readRest } from '../clients/rest-reader.ts';
import { readEventStreamBriefly, subscribeBriefly } from '../clients/short-subscriptions.ts';
import { queryOverWebSocket } from '../clients/websocket-queries.ts';
import type { Judge } from '../judge.ts';
import type { MetricsReading } from '../prometheus.ts';
import { type Clients, type CommonResult, setUp } from '../setup.ts';
import { injectFleetFaults } from './faults.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { checkFleetRecovery } from './recovery.ts';

/** The result of a run with a fleet. */
export type FleetResult = CommonResult & {
  readonly replicas: number;
  /** The last metrics of each gateway. */
  readonly metrics: readonly MetricsReading[];
};

/** Each request or connection goes to the next gateway. */
const CLIENTS: Clients = [
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
  args: Arguments,
  interrupted: AbortSignal,
  print: (text: string) => void,
): Promise<FleetResult> {
  const { seed, exchange, replicas } = args;
  await using sandbox = await createSandboxHosts({ seed, exchange, nodes: 2 });
  const { outages, judge, signal, random, listener, createContext, runClients, finish } = setUp(
    sandbox,
    args,
    interrupted,
    print,
  );
  const fleet = await startFleet(sandbox, replicas, listener);
  const [first] = fleet.replicas;
  if (first === undefined) throw new Error('a fleet has at least one gateway');

  const context = createContext(first.url, fleet.routes);
  const joined = outages.beginOfFleet('start');
  joined();
  const minutes = await runClients(context, CLIENTS, [
    injectFleetFaults({ fleet, random: random('faults'), signal }, outages, print),
  ]);

  const later = { ...context, signal: new AbortController().signal };
  await checkFleetRecovery(later, fleet, random('recovery')).catch(
    (error) => void judge.fail(`the fleet does not respond: ${error}`),
  );
  const metrics = await metricsOf(fleet);
  await stop(fleet, judge);
  return { ...finish(context, minutes), replicas, metrics };
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
