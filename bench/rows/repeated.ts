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
  'During a round, the chain of the gateway has a new height each second. The data of the reference servers does not change, and the bare server sends the bytes of the first response of the gateway.';

const CASES: readonly QueryCase[] = [
  {
    title: 'The same query again: one pool',
    about: `One pool with its two tokens and both prices. ${DATA}`,
    operations: (snapshot) => [onePool(snapshot, 0)],
    blockMs: 1_000,
    goals: GOALS,
  },
  {
    title: 'The same query again: 100 pools',
    about: `A page of 100 pools with the same fields. ${DATA}`,
    operations: (snapshot) => [pageAfter(snapshot, -1)],
    blockMs: 1_000,
    goals: GOALS,
  },
];

/** The same query again and again, as most of the traffic of a page with prices. */
export const repeated: Row = {
  name: 'repeated',
  comparesCheckouts: true,
  run: (context) =>
    benchmarkQueries(context, scheduleOf(context, SCHEDULE), targetsOf(context, TARGETS, 'http'), CASES),
};
