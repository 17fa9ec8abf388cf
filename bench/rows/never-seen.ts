import { compareQueries, type Extent } from '../compare-queries.ts';
import { onePool, pageBehind } from '../operations.ts';
import type { Reach } from '../reach.ts';
import type { Row } from '../row.ts';
import { BARE_HTTP, GATEWAY, MERCURIUS_JIT, startHttpServers } from '../servers.ts';

/** The gateway looks for a new height often enough that not much time goes by without being measured. */
const ENV = { HEAD_POLL_MS: '100' };

const TIMES = { worlds: 3, rounds: 3, seconds: 1, warmUpSeconds: 4 };
const HTTP = { env: ENV, reference: BARE_HTTP, start: startHttpServers };
const FULL: Extent = { ...TIMES, ...HTTP, sizes: [1_000, 3_000, 10_000] };
const QUICK_TIMES = { worlds: 1, rounds: 2, seconds: 0.2, warmUpSeconds: 0.2 };
const QUICK: Extent = { ...QUICK_TIMES, ...HTTP, sizes: [160] };

const MEANWHILE =
  'Each is asked for once; when all have been, the gateway gets a new height before they are asked for again, so nothing that it could have kept is true any more. The data of the peers does not change.';

const reach = (value: number): Reach => ({
  subject: GATEWAY,
  against: { subject: MERCURIUS_JIT, by: 'times' },
  bound: 'at least',
  value,
});

/** Questions with variables that no server has seen before. */
export const neverSeen: Row = {
  name: 'never-seen',
  run: (stage) =>
    compareQueries(stage, stage.quick ? QUICK : FULL, [
      {
        title: 'Variables never seen: another pool each time',
        about: `One document; each request names another pool, or the same two tokens in the other order. ${MEANWHILE}`,
        operations: (snapshot) =>
          [false, true].flatMap((isTurned) => snapshot.pools.map((_, place) => onePool(snapshot, place, isTurned))),
        blockMs: undefined,
        reach: reach(0.8),
      },
      {
        title: 'Variables never seen: another page of 100 each time',
        about: `One document; each request asks for the page behind another cursor. ${MEANWHILE}`,
        // The last ones have fewer than 100 pools behind them.
        operations: (snapshot) => snapshot.pools.slice(0, -100).map((_, place) => pageBehind(snapshot, place)),
        blockMs: undefined,
        reach: reach(0.9),
      },
    ]),
};
