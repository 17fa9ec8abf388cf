import type { Checkout } from '../checkouts.ts';
import type { Goal } from '../goal.ts';
import { onePool } from '../operations.ts';
import { startProcess } from '../processes.ts';
import { benchmarkQueries, type QueryCase, type QuerySchedule, scheduleOf } from '../query-benchmark.ts';
import type { Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import { GATEWAY, type StartTargets } from '../targets.ts';

/**
 * Many short rounds, because the speed of a shared machine changes within seconds. V8 compiles the code of spans in several steps, the
 * last one after tens of thousands of spans: the warm-up is so long that a round does not contain that.
 */
const SCHEDULE: QuerySchedule = { sizes: [1_000], starts: 2, rounds: 12, seconds: 1, warmUpSeconds: 6 };

const TRACED = ', traces of 10 %';
const SAMPLED = `${GATEWAY}${TRACED}`;
const NOT_SAMPLED = `${GATEWAY}, traces, none sampled`;

const GOAL: Goal = {
  target: SAMPLED,
  baseline: { target: NOT_SAMPLED, by: 'ratio' },
  bound: 'at least',
  value: 0.85,
};

const CASES: readonly QueryCase[] = [
  {
    title: 'Traces of 10 %: the same query again',
    about:
      'The same process with traces of 10 % of the operations, which it sends to a receiver in another process, and with none sampled: two starts of the same gateway differ by more than what traces cost. One pool with its two tokens and both prices.',
    operations: (snapshot) => [onePool(snapshot, 0)],
    isRepeated: true,
    goals: [GOAL],
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
  const targets = { start: startTargets };
  return benchmarkQueries({ ...context, checkouts }, scheduleOf(context, SCHEDULE), targets, CASES);
}

/** The gateway with traces is two targets: it samples, or it does not. */
const startTargets: StartTargets = async ({ gateways }) => {
  const server = gateways.get(SAMPLED);
  if (server === undefined) throw new Error('no gateway has traces');
  const prepared = (isOn: boolean) => ({
    server,
    transport: 'http' as const,
    prepare: () => server.call('sample traces', isOn),
  });
  return new Map([
    [SAMPLED, prepared(true)],
    [NOT_SAMPLED, prepared(false)],
  ]);
};
