import type { Checkout } from '../gateway.ts';
import type { Goal } from '../goal.ts';
import { type Operation, onePool, pageAfter } from '../operations.ts';
import { startProcess } from '../processes.ts';
import { benchmarkQueries, type QueryCase, type QuerySchedule, scheduleOf } from '../query-benchmark.ts';
import type { Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import type { Snapshot } from '../snapshot.ts';
import { GATEWAY, type StartTargets, startGateways } from '../targets.ts';

/**
 * Many short rounds, because the speed of a shared machine changes within seconds. In a round, a traced gateway sends about one
 * batch of spans.
 *
 * V8 compiles the code of spans in several steps, the last one after tens of thousands of spans. The warm-up is so long that a
 * round does not contain that.
 */
const SCHEDULE: QuerySchedule = { sizes: [1_000], starts: 6, rounds: 24, seconds: 0.4, warmUpSeconds: 8 };

const TRACED = ', traces of 10 %';
const SAMPLED = `${GATEWAY}${TRACED}`;
const NOT_SAMPLED = `${GATEWAY}, traces, none sampled`;

const GOAL: Goal = {
  target: SAMPLED,
  baseline: { target: NOT_SAMPLED, by: 'ratio' },
  bound: 'at least',
  value: 0.85,
};

/** The CPU time for a response changes less from round to round than the throughput. */
const CPU_GOAL: Goal = { ...GOAL, bound: 'at most', value: 1.18 };

const TRACES =
  'The same process with traces of 10 % of the operations, which it sends to a receiver in another process, and with none sampled: two starts of the same gateway differ by more than what traces cost. Without traces, a gateway saves the random numbers of an id more. In each round all get the same queries, one after the other.';

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
    about: `${TRACES} Each request is for the page after another cursor, or has another text, and is sent once for each height.`,
    operations: pages,
    blockMs: undefined,
    goal: GOAL,
    cpuGoal: CPU_GOAL,
  },
];

/** So many requests that a round ends before all are sent: reading a new height meanwhile would cost more than the traces. */
const TEXTS_OF_A_PAGE = 8;

function pages(snapshot: Snapshot): readonly Operation[] {
  return Array.from({ length: TEXTS_OF_A_PAGE }).flatMap((_, text) =>
    // Fewer than 100 pools follow the last ones.
    snapshot.pools.slice(0, -100).map((_, index) => ({ ...pageAfter(snapshot, index), extensions: { text } })),
  );
}

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
  const targets = { baseline: NOT_SAMPLED, start: startTargets };
  return benchmarkQueries({ ...context, checkouts }, scheduleOf(context, SCHEDULE), targets, CASES);
}

/** The gateway with traces is two targets: it samples, or it does not. */
const startTargets: StartTargets = async (testbed, isIncluded) => {
  const gateways = await startGateways('http')(testbed, isIncluded);
  return new Map(
    [...gateways].flatMap(([name, target]) => {
      const { server } = target;
      if (name !== SAMPLED) return [[name, target] as const];
      const prepared = (isOn: boolean) => ({ ...target, prepare: () => server.call('sample traces', isOn) });
      return [[name, prepared(true)] as const, [NOT_SAMPLED, prepared(false)] as const];
    }),
  );
};
