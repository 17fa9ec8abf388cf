import type { Goal } from '../goal.ts';
import { onePool, pageAfter } from '../operations.ts';
import { benchmarkQueries, type QueryCase, SCHEDULE, scheduleOf, targetsOf } from '../query-benchmark.ts';
import type { Row } from '../row.ts';
import { BARE_HTTP, GATEWAY, MERCURIUS_JIT, startHttpTargets } from '../targets.ts';

const TARGETS = { start: startHttpTargets };

const GOALS: readonly Goal[] = [
  { target: GATEWAY, baseline: { target: BARE_HTTP, by: 'ratio' }, bound: 'at least', value: 0.85 },
  { target: GATEWAY, baseline: { target: MERCURIUS_JIT, by: 'ratio' }, bound: 'at least', value: 1.5 },
];

const DATA =
  'In each round, the chain of the gateway has a new height. The data of the reference servers does not change, and the bare server sends the bytes of the first response of the gateway.';

const CASES: readonly QueryCase[] = [
  {
    title: 'The same query again: one pool',
    about: `One pool with its two tokens and both prices. ${DATA}`,
    operations: (snapshot) => [onePool(snapshot, 0)],
    isRepeated: true,
    goals: GOALS,
  },
  {
    title: 'The same query again: 100 pools',
    about: `A page of 100 pools with the same fields. ${DATA}`,
    operations: (snapshot) => [pageAfter(snapshot, -1)],
    isRepeated: true,
    goals: GOALS,
  },
];

/** The same query again and again, as most of the traffic of a page with prices. */
export const repeated: Row = {
  name: 'repeated',
  comparesCheckouts: true,
  run: (context) =>
    benchmarkQueries(
      context,
      scheduleOf(context, { ...SCHEDULE, seconds: 4 }),
      targetsOf(context, TARGETS, 'http'),
      CASES,
    ),
};
