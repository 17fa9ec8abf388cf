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
  /** How many new heights the gateway had. */
  readonly heights: number;
};

/** Maximum number of times that all requests are sent in one round of unique requests. */
const MAX_PASSES = 10;

/** Repeats the requests, while the chain of a gateway has a new block at each interval. */
export async function runRepeated(options: RoundOptions, blockMs: number): Promise<RoundResult> {
  const { server, testbed } = options;
  if (!isGateway(options)) return { ...(await measure(options)), heights: 0 };

  await advance(testbed, server);
  const before = await heightOf(server);
  await testbed.sandbox.call('advance every', blockMs);
  const result = await measure(options);
  const heights = (await heightOf(server)) - before;
  await testbed.sandbox.call('advance every', 0);
  return { ...result, heights };
}

/** Sends each request once, and all of them again when the gateway has a new height, so that no cached response is valid. */
export async function runUnique(options: RoundOptions): Promise<RoundResult> {
  const { server, testbed, requests, seconds } = options;
  const maxRequests = requests.length;
  let [responses, elapsed, busy, cpuMicros, passes] = [0, 0, 0, 0, 0];
  for (; elapsed < seconds && passes < MAX_PASSES; passes++) {
    if (isGateway(options)) await advance(testbed, server);
    const pass = await measure({ ...options, seconds: seconds - elapsed, maxRequests });
    responses += pass.responses;
    elapsed += pass.seconds;
    busy += pass.busy * pass.seconds;
    cpuMicros += pass.cpuMicros * pass.responses;
  }
  return { perSecond: responses / elapsed, cpuMicros: cpuMicros / responses, busy: busy / elapsed, heights: passes };
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
