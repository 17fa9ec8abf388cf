import { compareQueries, type Extent, type Question } from '../compare-queries.ts';
import { onePool, pageBehind } from '../operations.ts';
import type { Reach } from '../reach.ts';
import type { Row } from '../row.ts';
import { GATEWAY, GATEWAY_BY_WEBSOCKET, startWebSocketServers } from '../servers.ts';

/** The gateway looks for a new height often enough that not much time goes by without being measured. */
const ENV = { HEAD_POLL_MS: '100' };
const NEW_HEIGHT_MS = 1_000;

const SUBJECTS = { env: ENV, reference: GATEWAY, start: startWebSocketServers };
const FULL: Extent = {
  ...SUBJECTS,
  sizes: [1_000, 10_000],
  worlds: 2,
  rounds: 3,
  seconds: 1,
  warmUpSeconds: 4,
};
const QUICK: Extent = { ...SUBJECTS, sizes: [160], worlds: 1, rounds: 2, seconds: 0.2, warmUpSeconds: 0.2 };

const REACH: Reach = {
  subject: GATEWAY_BY_WEBSOCKET,
  against: { subject: GATEWAY, by: 'times' },
  bound: 'at least',
  value: 0.8,
};

const TRANSPORT =
  'Over 32 websockets, one query at a time on each; an answer is two messages, `next` and `complete`. The gateway is asked the same over 32 HTTP connections in the same round.';
const AGAIN = 'While the gateway is asked, its chain has a new height each second.';
const ONCE = 'Each is asked for once; then the gateway gets a new height before they are asked for again.';

const QUESTIONS: readonly Question[] = [
  {
    title: 'Queries over websockets: the same pool again, a new height each second',
    about: `${TRANSPORT} ${AGAIN}`,
    operations: (snapshot) => [onePool(snapshot, 0)],
    blockMs: NEW_HEIGHT_MS,
    reach: REACH,
  },
  {
    title: 'Queries over websockets: the same 100 pools again, a new height each second',
    about: `${TRANSPORT} ${AGAIN}`,
    operations: (snapshot) => [pageBehind(snapshot, -1)],
    blockMs: NEW_HEIGHT_MS,
    reach: REACH,
  },
  {
    title: 'Queries over websockets: another pool each time',
    about: `${TRANSPORT} ${ONCE}`,
    operations: (snapshot) =>
      [false, true].flatMap((isTurned) => snapshot.pools.map((_, place) => onePool(snapshot, place, isTurned))),
    blockMs: undefined,
    reach: REACH,
  },
  {
    title: 'Queries over websockets: another page of 100 each time',
    about: `${TRANSPORT} ${ONCE}`,
    operations: (snapshot) => snapshot.pools.slice(0, -100).map((_, place) => pageBehind(snapshot, place)),
    blockMs: undefined,
    reach: REACH,
  },
];

/** What a query costs on a websocket, where there is no HTTP around it. */
export const websocketQueries: Row = {
  name: 'websocket-queries',
  run: (stage) => compareQueries(stage, stage.quick ? QUICK : FULL, QUESTIONS),
};
