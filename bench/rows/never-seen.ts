import type { Goal } from '../goal.ts';
import { onePool, pageAfter } from '../operations.ts';
import { benchmarkQueries, type QueryCase, SCHEDULE, scheduleOf, targetsOf } from '../query-benchmark.ts';
import type { Row } from '../row.ts';
import { GATEWAY, MERCURIUS_JIT, startHttpTargets } from '../targets.ts';

const TARGETS = { start: startHttpTargets };

const DATA =
  'Each request is sent once. When all have been sent, the gateway gets a new height before they are sent again, so that no cached response is valid. The data of the reference servers does not change.';

const goal = (value: number): Goal => ({
  target: GATEWAY,
  baseline: { target: MERCURIUS_JIT, by: 'ratio' },
  bound: 'at least',
  value,
});

const CASES: readonly QueryCase[] = [
  {
    title: 'Variables never seen: another pool each time',
    about: `One document. Each request names another pool, or the same two tokens in the other order. ${DATA}`,
    operations: (snapshot) =>
      [false, true].flatMap((isReversed) => snapshot.pools.map((_, index) => onePool(snapshot, index, isReversed))),
    isRepeated: false,
    goals: [goal(0.9)],
  },
  {
    title: 'Variables never seen: another page of 100 each time',
    about: `One document. Each request is for the page after another cursor. ${DATA}`,
    // Fewer than 100 pools follow the last ones.
    operations: (snapshot) => snapshot.pools.slice(0, -100).map((_, index) => pageAfter(snapshot, index)),
    isRepeated: false,
    goals: [goal(1.1)],
  },
];

/** Queries with variables that no server has seen before. */
export const neverSeen: Row = {
  name: 'never-seen',
  comparesCheckouts: true,
  run: (context) =>
    benchmarkQueries(context, scheduleOf(context, SCHEDULE), targetsOf(context, TARGETS, 'http'), CASES),
};
