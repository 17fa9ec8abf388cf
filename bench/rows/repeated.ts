import { compareHttp } from '../compare-http.ts';
import { onePool, pageBehind } from '../operations.ts';
import type { Row } from '../row.ts';

const NEW_HEIGHT_MS = 1_000;

/** The same question again and again: what most of the traffic in front of a page of prices is. */
export const repeated: Row = {
  name: 'repeated',
  run: (stage) =>
    compareHttp(stage, [
      {
        title: 'The same query again: one pool',
        about: 'One pool with its two tokens and both prices, at an unchanged height.',
        operations: (snapshot) => [onePool(snapshot, 0)],
        isOnce: false,
        blockMs: 0,
      },
      {
        title: 'The same query again: 100 pools',
        about: 'A page of 100 pools with the same fields, at an unchanged height.',
        operations: (snapshot) => [pageBehind(snapshot, -1)],
        isOnce: false,
        blockMs: 0,
      },
      {
        title: 'The same query again: 100 pools, a new height each second',
        about:
          'The same page. While the gateway is asked, the chain has a new height each second, which it reads and answers with; the data of the peers does not change.',
        operations: (snapshot) => [pageBehind(snapshot, -1)],
        isOnce: false,
        blockMs: NEW_HEIGHT_MS,
      },
    ]),
};
