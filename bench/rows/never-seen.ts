import { compareHttp } from '../compare-http.ts';
import { onePool, pageBehind } from '../operations.ts';
import type { Row } from '../row.ts';

/** Questions with variables that no server has seen before. */
export const neverSeen: Row = {
  name: 'never-seen',
  run: (stage) =>
    compareHttp(stage, [
      {
        title: 'Variables never seen: another pool each time',
        about:
          'One document; each request names another pool, or the same two tokens in the other order. No request comes twice in the run: a round ends when its part of them has been sent.',
        operations: (snapshot) =>
          [false, true].flatMap((isTurned) => snapshot.pools.map((_, place) => onePool(snapshot, place, isTurned))),
        isOnce: true,
        blockMs: 0,
      },
      {
        title: 'Variables never seen: another page of 100 each time',
        about:
          'One document; each request asks for the page behind another cursor. No request comes twice in the run: a round ends when its part of them has been sent.',
        // The last ones have fewer than 100 pools behind them.
        operations: (snapshot) => snapshot.pools.slice(0, -100).map((_, place) => pageBehind(snapshot, place)),
        isOnce: true,
        blockMs: 0,
      },
    ]),
};
