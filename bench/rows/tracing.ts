import type { Checkout } from '../gateway.ts';
import type { Goal } from '../goal.ts';
import { onePool, pageAfter } from '../operations.ts';
import { startProcess } from '../processes.ts';
import { benchmarkQueries, type QueryCase, type QuerySchedule, scheduleOf } from '../query-benchmark.ts';
import type { Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import { GATEWAY, startGateways } from '../targets.ts';

/**
 * Several starts, because each has its own memory layout. Many short rounds, because the speed of a shared machine changes within
 * seconds. In a round, a traced gateway sends about one batch of spans.
 *
 * V8 compiles the code of spans in several steps, the last one after tens of thousands of spans. The warm-up is so long that a
 * round does not contain that.
 */
const SCHEDULE: QuerySchedule = { sizes: [1_000], starts: 10, rounds: 16, seconds: 0.4, warmUpSeconds: 8 };

const TRACED = ', traces of 10 %';

const GOAL: Goal = {
  target: `${GATEWAY}${TRACED}`,
  baseline: { target: GATEWAY, by: 'ratio' },
  bound: 'at least',
  value: 0.97,
};

/** On a shared machine, the throughput changes by more than 3 % from round to round, the CPU time for a response by less. */
const CPU_GOAL: Goal = { ...GOAL, bound: 'at most', value: 1.03 };

const TRACES =
  'The same gateway without traces, and with traces of 10 % of the operations, which it sends to a receiver in another process. In each round both get the same queries, one after the other.';

const CASES: readonly QueryCase[] = [
  {
    title: 'Traces: the same pool again',
    about: `${TRACES} One pool with its two tokens and both prices.`,
    operations: (snapshot) => [onePool(snapshot, 0)],
    blockMs: 1_000,
    goal: GOAL,
    cpuGoal: CPU_GOAL,
  },
  {
    title: 'Traces: another page of 100 each time',
    about: `${TRACES} Each request is for the page after another cursor, and is sent once for each height.`,
    // Fewer than 100 pools follow the last ones.
    operations: (snapshot) => snapshot.pools.slice(0, -100).map((_, index) => pageAfter(snapshot, index)),
    blockMs: undefined,
    goal: GOAL,
    cpuGoal: CPU_GOAL,
  },
];

/** What traces cost. */
export const tracing: Row = { name: 'tracing', comparesCheckouts: false, run };

async function run(context: RowContext): Promise<readonly Result[]> {
  // It reads each request and responds with status 200, as a receiver does.
  await using receiver = await startProcess({ role: 'upstream', file: 'reference-servers/bare-http.ts' });
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: new URL(receiver.url).origin,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.1',
  };
  const traced = (checkout: Checkout): Checkout => ({ ...checkout, suffix: TRACED, env });
  const checkouts = context.checkouts.flatMap((checkout) => [checkout, traced(checkout)]);
  const targets = { baseline: GATEWAY, start: startGateways('http') };
  return benchmarkQueries({ ...context, checkouts }, scheduleOf(context, SCHEDULE), targets, CASES);
}
