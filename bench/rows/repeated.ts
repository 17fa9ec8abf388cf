import { compareQueries, type Extent } from '../compare-queries.ts';
import { onePool, pageBehind } from '../operations.ts';
import type { Reach } from '../reach.ts';
import type { Row } from '../row.ts';
import { BARE_HTTP, GATEWAY, startHttpServers } from '../servers.ts';

const NEW_HEIGHT_MS = 1_000;

const HTTP = { reference: BARE_HTTP, start: startHttpServers };
const FULL: Extent = { ...HTTP, sizes: [100, 1_000, 10_000], worlds: 5, rounds: 2, seconds: 2, warmUpSeconds: 4 };
const QUICK: Extent = { ...HTTP, sizes: [120], worlds: 1, rounds: 2, seconds: 0.2, warmUpSeconds: 0.2 };

const REACH: Reach = {
  subject: GATEWAY,
  against: { subject: BARE_HTTP, by: 'times' },
  bound: 'at least',
  value: 0.85,
};

const MEANWHILE =
  'While the gateway is asked, its chain has a new height each second, which it reads and answers with; the data of the peers does not change, and the bare server sends the bytes of the gateway’s first answer.';

/** The same question again and again: what most of the traffic in front of a page of prices is. */
export const repeated: Row = {
  name: 'repeated',
  run: (stage) =>
    compareQueries(stage, stage.quick ? QUICK : FULL, [
      {
        title: 'The same query again: one pool, a new height each second',
        about: `One pool with its two tokens and both prices. ${MEANWHILE}`,
        operations: (snapshot) => [onePool(snapshot, 0)],
        blockMs: NEW_HEIGHT_MS,
        reach: REACH,
      },
      {
        title: 'The same query again: 100 pools, a new height each second',
        about: `A page of 100 pools with the same fields. ${MEANWHILE}`,
        operations: (snapshot) => [pageBehind(snapshot, -1)],
        blockMs: NEW_HEIGHT_MS,
        reach: REACH,
      },
    ]),
};
