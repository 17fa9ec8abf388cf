import { setTimeout as sleep } from 'node:timers/promises';
import { request } from './graphql-client.ts';
import type { LoadGenerator } from './load-generator.ts';
import type { BenchProcess } from './processes.ts';
import type { Target } from './targets.ts';
import type { Testbed } from './testbed.ts';

/** One target in a round. */
export type RoundOptions = Target & {
  readonly testbed: Testbed;
  readonly load: LoadGenerator;
  readonly requests: readonly Buffer[];
  readonly seconds: number;
};

/** The result of a round. */
export type RoundResult = {
  readonly perSecond: number;
  /** The CPU time of the server for each response. */
  readonly cpuMicros: number;
  /** The share of its core that the load generator used, 0 to 1. */
  readonly busy: number;
  /** The number of new heights that the gateway had; `undefined` for a reference server. */
  readonly heights: number | undefined;
};

/** A part of a round. */
type Pass = Awaited<ReturnType<typeof measure>>;

/** Maximum number of times that requests are sent in one round. */
const MAX_PASSES = 10;

/** When a block is created in a round with repeated requests, as a share of the round. */
const BLOCK_AFTER = 1 / 4;

/** Repeats the requests. A gateway gets a new block meanwhile. Its round becomes longer if it does not have the new height by then. */
export async function runRepeated(options: RoundOptions): Promise<RoundResult> {
  const { server, testbed, seconds } = options;
  if (!isGateway(options)) return { ...toFigures([await measure(options)]), heights: undefined };

  await untilNewestHeight(testbed, server);
  const before = await heightOf(server);
  await testbed.sandbox.call('advance after', BLOCK_AFTER * seconds * 1_000);
  const passes: Pass[] = [];
  let heights: number;
  do {
    passes.push(await measure(options));
    heights = (await heightOf(server)) - before;
  } while (heights === 0 && passes.length < MAX_PASSES);
  await untilNewestHeight(testbed, server);
  return { ...toFigures(passes), heights };
}

/** Sends each request once, and all of them again when the gateway has a new height, so that no cached response is valid. */
export async function runUnique(options: RoundOptions): Promise<RoundResult> {
  const { server, testbed, requests } = options;
  const ofGateway = isGateway(options);
  const passes: Pass[] = [];
  for (let left = options.seconds; left > 0 && passes.length < MAX_PASSES; ) {
    if (ofGateway) await advance(testbed, server);
    const pass = await measure({ ...options, seconds: left, maxRequests: requests.length });
    passes.push(pass);
    left -= pass.seconds;
  }
  return { ...toFigures(passes), heights: ofGateway ? passes.length : undefined };
}

/** Adds the passes of a round. */
function toFigures(passes: readonly Pass[]): Omit<RoundResult, 'heights'> {
  const sumOf = (read: (pass: Pass) => number) => passes.reduce((sum, pass) => sum + read(pass), 0);
  const responses = sumOf((pass) => pass.responses);
  const seconds = sumOf((pass) => pass.seconds);
  return {
    perSecond: responses / seconds,
    cpuMicros: sumOf((pass) => pass.cpuMicros * pass.responses) / responses,
    busy: sumOf((pass) => pass.busy * pass.seconds) / seconds,
  };
}

/** Notes about all rounds of a result. @throws Error if a gateway had no new height in a round, except in a quick run */
export function notesOf(rounds: readonly RoundResult[], isQuick: boolean): readonly string[] {
  const busiest = Math.round(100 * Math.max(...rounds.map(({ busy }) => busy)));
  const heights = rounds.flatMap((round) => round.heights ?? []);
  const fewest = Math.min(...heights);
  if (fewest === 0 && !isQuick) throw new Error('a round ended before the gateway had a new height');
  return [
    `The load generator used ${busiest} % of its core at most.`,
    `The gateway had ${fewest} to ${Math.max(...heights)} new heights in a round.`,
  ];
}

/** Sends queries, and measures the CPU time of the server meanwhile. */
export async function measure({
  server,
  load,
  ...options
}: Omit<RoundOptions, 'testbed'> & { readonly maxRequests?: number; readonly expectedStatus?: number }) {
  const { transport, requests, seconds, maxRequests, expectedStatus = 200 } = options;
  const before = await server.call<number>('cpu seconds');
  const result = await load.queries(server, { transport, requests, seconds, maxRequests, expectedStatus });
  const cpuSeconds = (await server.call<number>('cpu seconds')) - before;
  const { responses } = result;
  return { ...result, seconds: responses / result.perSecond, cpuMicros: (cpuSeconds * 1e6) / responses };
}

function isGateway({ server, testbed }: RoundOptions): boolean {
  return [...testbed.gateways.values()].includes(server);
}

/** Creates a block, and waits until the gateway has its height. */
async function advance(testbed: Testbed, gateway: BenchProcess): Promise<void> {
  await testbed.sandbox.call('advance');
  await untilNewestHeight(testbed, gateway);
}

/** The newest height of a gateway. */
export async function heightOf({ url }: BenchProcess): Promise<number> {
  return (await request<{ readonly beaconHeight: number }>(url, { query: '{ beaconHeight }' })).beaconHeight;
}

/** Waits until a gateway has the newest height. What it still has to read would disturb the next measurement. */
export async function untilNewestHeight({ sandbox }: Testbed, gateway: BenchProcess): Promise<void> {
  const newest = await sandbox.call<number>('tip height');
  const timeout = AbortSignal.timeout(60_000);
  while ((await heightOf(gateway)) < newest) await sleep(5, undefined, { signal: timeout });
}
