import type { Goal } from '../goal.ts';
import { onePool, pageAfter } from '../operations.ts';
import { benchmarkQueries, type QueryCase, type QuerySchedule, scheduleOf, targetsOf } from '../query-benchmark.ts';
import type { Row } from '../row.ts';
import { GATEWAY, GATEWAY_BY_WEBSOCKET, startWebSocketTargets } from '../targets.ts';

const SCHEDULE: QuerySchedule = { sizes: [1_000], starts: 3, rounds: 3, seconds: 1, warmUpSeconds: 1.5 };
const TARGETS = { baseline: GATEWAY, start: startWebSocketTargets };

const GOAL: Goal = {
  target: GATEWAY_BY_WEBSOCKET,
  baseline: { target: GATEWAY, by: 'ratio' },
  bound: 'at least',
  value: 0.8,
};

const TRANSPORT =
  'Over 32 websockets, one query at a time on each. A response is two messages, `next` and `complete`. The gateway gets the same queries over 32 HTTP connections in the same round.';
const REPEATED = 'During a round, the chain of the gateway has a new height each second.';
const UNIQUE = 'Each request is sent once. Then the gateway gets a new height before they are sent again.';

const CASES: readonly QueryCase[] = [
  {
    title: 'Queries over websockets: the same pool again, a new height each second',
    about: `${TRANSPORT} ${REPEATED}`,
    operations: (snapshot) => [onePool(snapshot, 0)],
    blockMs: 1_000,
    goal: GOAL,
  },
  {
    title: 'Queries over websockets: the same 100 pools again, a new height each second',
    about: `${TRANSPORT} ${REPEATED}`,
    operations: (snapshot) => [pageAfter(snapshot, -1)],
    blockMs: 1_000,
    goal: GOAL,
  },
  {
    title: 'Queries over websockets: another pool each time',
    about: `${TRANSPORT} ${UNIQUE}`,
    operations: (snapshot) =>
      [false, true].flatMap((isReversed) => snapshot.pools.map((_, index) => onePool(snapshot, index, isReversed))),
    blockMs: undefined,
    goal: GOAL,
  },
  {
    title: 'Queries over websockets: another page of 100 each time',
    about: `${TRANSPORT} ${UNIQUE}`,
    operations: (snapshot) => snapshot.pools.slice(0, -100).map((_, index) => pageAfter(snapshot, index)),
    blockMs: undefined,
    goal: GOAL,
  },
];

/** Queries over websockets, in comparison with HTTP. */
export const websocketQueries: Row = {
  name: 'websocket-queries',
  comparesCheckouts: true,
  run: (context) =>
    benchmarkQueries(context, scheduleOf(context, SCHEDULE), targetsOf(context, TARGETS, 'websocket'), CASES),
};
