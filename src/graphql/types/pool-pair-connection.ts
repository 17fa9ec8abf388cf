import type { PoolPair } from '../../domain/pool-pair.ts';
import type { PoolPairPage } from '../../loaders/exchange.ts';
import { whenThere } from '../../soon.ts';
import { builder } from '../builder.ts';
import { objects, pageOfPools } from '../complexity.ts';
import { PoolPairRef } from './pool-pair.ts';

/** How many pools a page has where nobody says. */
const DEFAULT_PAGE_SIZE = 50;

const PoolPairFilterInput = builder.inputType('PoolPairFilter', {
  description: 'Which pools are wanted: those that pass everything that is given.',
  fields: (t) => ({
    tokenId: t.field({ type: 'TokenId', description: 'Pools that hold this token on either side.' }),
    symbols: t.stringList({
      description:
        'Pools whose tokens have one of these symbols on either side. Symbols are not unique. An empty list matches nothing.',
    }),
    nonEmpty: t.boolean({ description: 'Leave out pools with an empty side.' }),
  }),
});

const PoolPairOrderEnum = builder.enumType('PoolPairOrder', {
  description: 'In which order pools are listed.',
  values: {
    ID_ASC: { description: "By the pool's two token ids, ascending." },
    ID_DESC: { description: "By the pool's two token ids, descending." },
    NATIVE_LIQUIDITY_DESC: {
      description:
        'By the amount of the native coin that the pool holds; pools without it last, by id. (Raw reserves of other tokens do not compare: their decimals differ.)',
    },
  } as const,
});

builder.queryField('poolPairs', (t) =>
  t.connection(
    {
      type: PoolPairRef,
      nullable: true,
      complexity: ({ first, last, at }) => pageOfPools(first ?? last ?? DEFAULT_PAGE_SIZE, at),
      description:
        'Pools of the exchange, a page at a time: the first 50 where neither first nor last says how many, `service.limits.maxPageSize` at most; more is BAD_USER_INPUT, as are both at once. A cursor belongs to its height, filter and order: the next page is read from the same height, and using it with another filter, order or `at` is BAD_USER_INPUT. Null with an error where the state cannot be read.',
      args: {
        filter: t.arg({ type: PoolPairFilterInput, description: 'Which pools. All, where it is left out.' }),
        orderBy: t.arg({
          type: PoolPairOrderEnum,
          required: true,
          defaultValue: 'ID_ASC',
          description: 'In which order.',
        }),
        at: t.arg({
          type: 'BeaconHeight',
          description:
            'Reads the state of that height, in place of the current one. A future or pruned height is HEIGHT_NOT_AVAILABLE.',
        }),
      },
      resolve: (_root, args, { loaders }) => whenThere(loaders.exchange.poolPairs(args), toConnection),
    },
    {
      name: 'PoolPairConnection',
      description: 'A page of pools, after the Relay specification of connections.',
      fields: (connection) => ({
        totalCount: connection.exposeInt('totalCount', {
          description: 'How many pools pass the filter, on all pages together.',
        }),
      }),
      edgesField: { description: 'The pools of this page, in the order asked for.', complexity: objects(1) },
    },
    {
      name: 'PoolPairEdge',
      description: 'A pool in its place in a list.',
      nodeField: { description: 'The pool.' },
    },
  ),
);

/** A page as a connection: each pool beside the cursor that leads on from it. */
function toConnection({ items, totalCount, hasNextPage, hasPreviousPage, cursorOf }: PoolPairPage) {
  const cursorOrNull = (pool: PoolPair | undefined) => (pool === undefined ? null : cursorOf(pool));

  return {
    totalCount,
    edges: items.map((node) => toEdge(node, cursorOf)),
    pageInfo: {
      hasNextPage,
      hasPreviousPage,
      startCursor: cursorOrNull(items[0]),
      endCursor: cursorOrNull(items.at(-1)),
    },
  };
}

type Edge = { readonly node: PoolPair; readonly cursor: string };

/** A pool in its place. Its cursor is made when it is asked for, which most clients do for the last one only. */
function toEdge(node: PoolPair, cursorOf: PoolPairPage['cursorOf']): Edge {
  const edge = Object.create(EDGE);
  edge.node = node;
  edge.cursorOf = cursorOf;
  return edge;
}

/** What all edges have in common: getters of their own would keep each of them until the oldest garbage is collected. */
const EDGE: Pick<Edge, 'cursor'> & ThisType<Edge & Pick<PoolPairPage, 'cursorOf'>> = {
  get cursor() {
    return this.cursorOf(this.node);
  },
};
