import { expectSameData } from './graphql-client.ts';
import { startLoadGenerator } from './load-generator.ts';
import { pricesFrom } from './operations.ts';
import { orderOf } from './order.ts';
import type { Memory } from './process-control.ts';
import type { BenchProcess } from './processes.ts';
import { untilNewestHeight } from './query-rounds.ts';
import type { OpenResult } from './result.ts';
import type { RowContext } from './row.ts';
import { BARE_WS } from './targets.ts';
import { startTestbed, type Testbed } from './testbed.ts';

/** Many subscribers of one server after another. */
export type SubscriberBenchmark = {
  /** The numbers of subscribers. */
  readonly sizes: readonly number[];
  /** How often all processes are started, except in a quick run. */
  readonly starts: number;
  /** How many different operations that many subscribers have in all. */
  operations(subscribers: number): number;
  /** The reference servers. */
  readonly references: readonly string[];
  readonly pools: number;
  /** Milliseconds from the publication of an update to its last receipt. */
  readonly time: OpenResult;
  /** CPU time of the server for an update, in milliseconds. */
  readonly cpuTime: OpenResult;
  /** Resident memory for each subscriber, in KiB, if it is measured. */
  readonly memory: OpenResult | undefined;
};

/** The updates in each start. */
type Updates = {
  /**
   * Updates that are measured. In each third or fourth update to subscribers of many operations, V8 marks the heap on the core of the
   * server, which doubles its time: of four updates, a median says how many of them met that by chance.
   */
  readonly measured: number;
  /**
   * Updates before those that are measured. In the first eight, V8 compiles the code that sends, on the core of the server:
   * they take up to twice as long, and some starts more than others.
   */
  readonly warmUp: number;
};

/** The updates in each start of a run. */
export function updatesOf({ quick }: RowContext): Updates {
  return quick ? { measured: 2, warmUp: 1 } : { measured: 12, warmUp: 10 };
}

/** The gateway polls for new heights often, and pings rarely, so that neither is measured. */
const SETTINGS = { HEAD_POLL_MS: '50', KEEP_ALIVE_MS: '600000' };

/** Subscribers before the memory is measured. The code that they load does not count for the others. */
const WARM_UP_SUBSCRIBERS = 20;

/** The number of starts in which memory is measured: it differs little from start to start. */
function startsWithMemory({ isComparison }: RowContext): number {
  return isComparison ? 2 : 1;
}

/** V8 returns pages that a collection has emptied after eight seconds. Before, they are resident. */
const SETTLE_MS = 10_000;

/** Measures the servers one after another, in several starts of all processes. */
export async function benchmarkSubscribers(context: RowContext, benchmark: SubscriberBenchmark): Promise<void> {
  const { sizes, pools, time } = benchmark;
  const starts = context.quick ? 1 : benchmark.starts;
  for (const size of sizes) {
    const busiest: number[] = [];
    for (let start = 0; start < starts; start++) {
      await using testbed = await startTestbed(context.checkouts, { pools }, SETTINGS);
      busiest.push(await runStart(context, { benchmark, testbed, size, start }));
      context.log(`${time.title}, ${size} subscribers: start ${start + 1} of ${starts} done`);
    }
    time.note(
      `${size.toLocaleString('en-US')} subscribers: the load generator used ${Math.round(Math.max(...busiest) * 100)} % of its core at most during an update of a reference server.`,
    );
  }
}

type Start = {
  readonly benchmark: SubscriberBenchmark;
  readonly testbed: Testbed;
  readonly size: number;
  readonly start: number;
};

/** @returns the highest share of its core that the load generator used during an update of a reference server, 0 to 1 */
async function runStart(context: RowContext, { benchmark, testbed, size, start }: Start): Promise<number> {
  const count = Math.min(benchmark.operations(size), testbed.snapshot.pools.length);
  const operations = Array.from({ length: count }, (_, index) => pricesFrom(testbed.snapshot, index));
  const references = context.isComparison ? [] : benchmark.references;
  const servers = new Map(testbed.gateways);
  for (const name of references) {
    const server = await testbed.startReference(name);
    if (server === undefined) benchmark.time.explain(name, size, testbed.missing.get(name) ?? '');
    else servers.set(name, server);
  }
  // The bare server sends the bytes of the gateway. All have to send the same data, before there is a new height.
  const expected = await firstUpdate(testbed.gateway, operations);
  await servers.get(BARE_WS)?.call('send', expected);
  for (const [name, server] of servers)
    expectSameData(name, toResponse(await firstUpdate(server, operations)), toResponse(expected));

  let busiest = 0;
  for (const [name, server] of orderOf([...servers], start)) {
    const isGateway = testbed.gateways.has(name);
    const publish = () => (isGateway ? testbed.sandbox.call('advance') : server.call('publish'));
    const options = { ...benchmark, name, server, publish, operations, size, start };
    const busy = await testbed.alone(server, async () => {
      // A height that a paused gateway has missed would be an update that nobody expects.
      if (isGateway) await untilNewestHeight(testbed, server);
      return runServer(context, options);
    });
    // The gateway publishes some time after the command.
    if (!isGateway) busiest = Math.max(busiest, busy);
  }
  return busiest;
}

type Operations = readonly ReturnType<typeof pricesFrom>[];

async function firstUpdate(server: BenchProcess, operations: Operations): Promise<string> {
  await using load = await startLoadGenerator();
  const update = await load.subscribe(server, { count: 1, operations });
  await load.unsubscribe();
  return update;
}

type OneServer = Pick<SubscriberBenchmark, 'time' | 'cpuTime' | 'memory'> & {
  readonly name: string;
  readonly server: BenchProcess;
  publish(): Promise<unknown>;
  readonly operations: Operations;
  readonly size: number;
  readonly start: number;
};

/** @returns the highest share of its core that the load generator used during an update, 0 to 1 */
async function runServer(context: RowContext, options: OneServer): Promise<number> {
  const { name, server, publish, operations, size, start, time, cpuTime, memory } = options;
  const { measured, warmUp } = updatesOf(context);
  const settleMs = context.quick ? 0 : SETTLE_MS;
  await using load = await startLoadGenerator();
  await load.subscribe(server, { count: Math.min(size, WARM_UP_SUBSCRIBERS), operations });
  await load.unsubscribe();
  const before =
    memory !== undefined && start < startsWithMemory(context)
      ? await server.call<Memory>('memory', settleMs)
      : undefined;
  await load.subscribe(server, { count: size, operations });
  await load.update(publish);
  if (before !== undefined) {
    const after = await server.call<Memory>('memory', settleMs);
    memory?.add(name, size, (after.rss - before.rss) / size / 1_024);
  }
  for (let update = 1; update < warmUp; update++) await load.update(publish);
  let busiest = 0;
  for (let update = 0; update < measured; update++) {
    const cpuBefore = await server.call<number>('cpu seconds');
    const { ms, busy } = await load.update(publish);
    time.add(name, size, ms);
    cpuTime.add(name, size, ((await server.call<number>('cpu seconds')) - cpuBefore) * 1_000);
    busiest = Math.max(busiest, busy);
  }
  return busiest;
}

/** The response within an update, without the time at which it was published. */
function toResponse(text: string): string {
  const { payload } = JSON.parse(text) as { readonly payload: object };
  return JSON.stringify(payload).replace(/"observedAt":"[^"]+"/, '"observedAt":""');
}
