import type { Goal } from '../goal.ts';
import { onePool, pageAfter } from '../operations.ts';
import { benchmarkQueries, type QueryCase, SCHEDULE, scheduleOf, targetsOf } from '../query-benchmark.ts';
import type { Row } from '../row.ts';
import { GATEWAY, GATEWAY_BY_WEBSOCKET, startWebSocketTargets } from '../targets.ts';

const TARGETS = { start: startWebSocketTargets };

const GOAL: Goal = {
  target: GATEWAY_BY_WEBSOCKET,
  baseline: { target: GATEWAY, by: 'ratio' },
  bound: 'at least',
  value: 0.8,
};

const TRANSPORT =
  'Over 32 websockets, one query at a time on each. A response is two messages, `next` and `complete`. The gateway gets the same queries over 32 HTTP connections in the same round.';

const CASES: readonly QueryCase[] = [
  {
    title: 'Over websockets: the same pool again',
    about: `${TRANSPORT} In each round, the chain of the gateway has a new height.`,
    operations: (snapshot) => [onePool(snapshot, 0)],
    isRepeated: true,
    goals: [GOAL],
  },
  {
    title: 'Over websockets: another page of 100 each time',
    about: `${TRANSPORT} Each request is sent once. Then the gateway gets a new height before they are sent again.`,
    operations: (snapshot) => snapshot.pools.slice(0, -100).map((_, index) => pageAfter(snapshot, index)),
    isRepeated: false,
    goals: [GOAL],
  },
];

/** Queries over websockets, in comparison with HTTP. */
export const websocketQueries: Row = {
  name: 'websocket-queries',
  comparesCheckouts: true,
  run: (context) =>
    benchmarkQueries(
      context,
      scheduleOf(context, { ...SCHEDULE, sizes: [1_000], seconds: 2 }),
      targetsOf(context, TARGETS, 'websocket'),
      CASES,
    ),
};
