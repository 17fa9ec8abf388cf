import type { Goal } from '../goal.ts';
import { onePool, pageAfter } from '../operations.ts';
import { benchmarkQueries, type QueryCase, type QuerySchedule, scheduleOf, targetsOf } from '../query-benchmark.ts';
import type { Row } from '../row.ts';
import { BARE_HTTP, GATEWAY, startHttpTargets } from '../targets.ts';

const SCHEDULE: QuerySchedule = { sizes: [100, 1_000, 10_000], starts: 4, rounds: 2, seconds: 1.5, warmUpSeconds: 2.5 };
const TARGETS = { baseline: BARE_HTTP, start: startHttpTargets };

const GOAL: Goal = {
  target: GATEWAY,
  baseline: { target: BARE_HTTP, by: 'ratio' },
  bound: 'at least',
  value: 0.85,
};

const DATA =
  'During a round, the chain of the gateway has a new height each second. The data of the reference servers does not change, and the bare server sends the bytes of the first response of the gateway.';

const CASES: readonly QueryCase[] = [
  {
    title: 'The same query again: one pool, a new height each second',
    about: `One pool with its two tokens and both prices. ${DATA}`,
    operations: (snapshot) => [onePool(snapshot, 0)],
    blockMs: 1_000,
    goal: GOAL,
  },
  {
    title: 'The same query again: 100 pools, a new height each second',
    about: `A page of 100 pools with the same fields. ${DATA}`,
    operations: (snapshot) => [pageAfter(snapshot, -1)],
    blockMs: 1_000,
    goal: GOAL,
  },
];

/** The same query again and again, as most of the traffic of a page with prices. */
export const repeated: Row = {
  name: 'repeated',
  comparesCheckouts: true,
  run: (context) =>
    benchmarkQueries(context, scheduleOf(context, SCHEDULE), targetsOf(context, TARGETS, 'http'), CASES),
};
