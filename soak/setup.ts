import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../src/sandbox/chain/random.ts';
import type { SandboxHosts } from '../src/sandbox/sandbox.ts';
import type { Arguments } from './arguments.ts';
import { produceBlocks } from './blocks.ts';
import type { Client, SoakContext } from './context.ts';
import { watchEventLoop } from './event-loop-delays.ts';
import type { GatewayListener } from './gateway-process.ts';
import { createJudge, type Judge, MISMATCHED } from './judge.ts';
import { createOutages, type Outages } from './outages.ts';
import { requireChecks } from './required-checks.ts';
import type { Routes } from './routes.ts';
import { createServedBlocks } from './served-blocks.ts';
import { createShownBlocks, type ShownBlocks } from './shown-blocks.ts';

/** The part of a result that runs with one gateway and with a fleet have. */
export type CommonResult = {
  readonly seed: number;
  /** The duration of the faults. */
  readonly minutes: number;
  readonly blocks: ShownBlocks['count'];
  /** The number of heights that were served as the newest. */
  readonly servedHeights: number;
  readonly judge: Judge;
  readonly faults: Outages['counts'];
};

/** The number of clients of each kind. */
export type Clients = readonly (readonly [count: number, kind: string, client: Client])[];

/** Creates the parts that runs with one gateway and with a fleet have. */
export function setUp(
  sandbox: SandboxHosts,
  { seed, minutes, load, replicas, exchange }: Arguments,
  interrupted: AbortSignal,
  print: (text: string) => void,
) {
  const nodes = sandbox.nodeUrls.length;
  const outages = createOutages(nodes);
  const stopWatching = watchEventLoop(outages, nodes);
  const judge = createJudge(outages, (finding) => print(`WRONG: ${finding}`));
  const over = new AbortController();
  const signal = AbortSignal.any([interrupted, over.signal]);
  const random = (purpose: string) => createRandom(seed, replicas > 1 ? 'fleet soak' : 'soak', purpose);
  const gateway = replicas > 1 ? 'a gateway' : 'the gateway';
  const listener: GatewayListener = {
    logged({ level, msg }) {
      judge.count(`lines of the log, ${msg} (level ${level})`);
      if (level >= 50) judge.fail(`${gateway} logged an error: ${msg}`);
      if (msg.startsWith(MISMATCHED)) judge.fail(`${gateway} logged: ${msg}`);
    },
    unexpectedOutput: (text) => judge.fail(`${gateway} wrote something that is not a log line`, text),
    crashed(how) {
      judge.fail(`${gateway} crashed: it ${how}`);
      over.abort();
    },
  };

  return {
    outages,
    judge,
    /** Aborted when the clients must stop. */
    signal,
    /** A source of random numbers for a purpose, by the seed of the run. */
    random,
    listener,
    /** Begins to record blocks, when the gateways have started. */
    createContext(url: URL, routes: Routes): SoakContext {
      const shown = createShownBlocks(sandbox);
      const served = createServedBlocks(shown, outages);
      return { url, routes, replicas, shown, served, outages, judge, load, signal };
    },
    /**
     * Runs clients, and what else goes on until the signal aborts, for the time of the run. It makes the blocks.
     *
     * @returns the minutes that it took
     */
    async runClients(context: SoakContext, clients: Clients, others: readonly Promise<void>[]): Promise<number> {
      const start = performance.now();
      const running = clients.flatMap(([count, kind, client]) =>
        Array.from({ length: Math.ceil(count * load) }, (_, index) => {
          const name = `${kind} ${index + 1}`;
          return client(context, name, random(name));
        }),
      );
      const blocks = produceBlocks(context.shown, outages, random('blocks'), signal);
      await sleep(minutes * 60_000, undefined, { signal }).catch(() => {});
      const elapsed = signal.aborted ? (performance.now() - start) / 60_000 : minutes;
      over.abort();
      await Promise.all([...running, blocks, ...others]);
      print(`${elapsed.toFixed(1)} minutes are over; checking the recovery`);
      return elapsed;
    },
    /** Ends a run in which the clients ran for some minutes. */
    finish({ shown, served }: SoakContext, elapsed: number): CommonResult {
      requireChecks(judge, { minutes: elapsed, exchange, replicas });
      stopWatching();
      return {
        seed,
        minutes: elapsed,
        blocks: shown.count,
        servedHeights: served.count(),
        judge,
        faults: outages.counts,
      };
    },
  };
}
