import { andThen } from '../../domain/maybe-promise.ts';
import type { PoolPair } from '../../domain/pool-pair.ts';
import { DEFAULT_ORDER, type PoolPairPage } from '../../loaders/exchange.ts';
import { builder, PoolPairRef, TokenRef } from '../builder.ts';
import { complexityOfPoolPairs, objects } from '../complexity.ts';
import { atArg, ExchangeVersionEnum } from './exchange.ts';

const PoolPairFilterInput = builder.inputType('PoolPairFilter', {
  description: 'Filter for pools. A pool must match every field that is set.',
  fields: (t) => ({
    tokenId: t.field({ type: 'TokenId', description: 'Matches pools that contain this token.' }),
    symbols: t.stringList({
      description:
        'Matches pools with a token that has one of these symbols. Several tokens can have the same symbol. An empty string matches tokens without a symbol. An empty list matches no pool.',
    }),
    nonEmpty: t.boolean({ description: 'If true, matches only pools in which both pool values are greater than 0.' }),
    version: t.field({
      type: ExchangeVersionEnum,
      description:
        'Matches pools of this version. By default, of the one that traded at the height: V1 below the start of V3. Pools of V1 are read when a client requests them, once for each height.',
    }),
    poolIds: t.stringList({
      description:
        'Matches pools of V3 with one of these ids. Text in any other format is BAD_USER_INPUT. An empty list matches no pool.',
    }),
  }),
});

const PoolPairOrderEnum = builder.enumType('PoolPairOrder', {
  description: 'Order of a list of pools.',
  values: {
    NON_EMPTY_FIRST: {
      description:
        'Pools with liquidity first: those in which both pool values are greater than 0, ascending by their ids. The other pools come last, in the same order.',
    },
    ID_ASC: { description: 'Ascending by the id of the pool: its two token ids, and in V3 its hash.' },
    ID_DESC: { description: 'Descending by the id of the pool.' },
    NATIVE_LIQUIDITY_DESC: {
      description:
        'Descending by what the pool holds of the native coin. Pools without the native coin come last, in order of their ids.',
    },
  } as const,
});

const PoolPairEdgeRef = builder.edgeObject({
  type: PoolPairRef,
  name: 'PoolPairEdge',
  description: 'A pool and its cursor.',
  nodeField: { description: 'The pool at this position.' },
});

const PoolPairConnectionRef = builder.connectionObject<typeof PoolPairRef, ReturnType<typeof toConnection>>(
  {
    type: PoolPairRef,
    name: 'PoolPairConnection',
    description: 'One page of a list of pools, as defined by the Relay connection specification.',
    edgesField: {
      description: 'Pools of this page with their cursors, in the order of `orderBy`.',
      complexity: objects(1),
    },
    fieldDescriptions: { totalCount: 'Number of pools that match the filter, on all pages together.' },
    fields: (connection) => connection.exposeAll('Int', 'totalCount'),
  },
  PoolPairEdgeRef,
);

const orderArg = builder.args((t) => ({
  orderBy: t.field({ type: PoolPairOrderEnum, defaultValue: DEFAULT_ORDER, description: 'Order of the pools.' }),
}));

builder.queryField('poolPairs', (t) =>
  t.connection(
    {
      type: PoolPairRef,
      nullable: true,
      complexity: (args, { service }) => complexityOfPoolPairs(args, service),
      description:
        'Pools of the exchange, one page at a time. Without `first` and `last`, a page has 50 entries. A page has at most `service.limits.maxPageSize` entries: a larger one is BAD_USER_INPUT, and so are `first` and `last` together. A cursor contains its height, filter and order: the next page comes from the same height, and a cursor with another filter, order or `at` is BAD_USER_INPUT. Null with an error if the exchange state cannot be read.',
      args: {
        filter: t.arg({ type: PoolPairFilterInput, description: 'Filter. Without it, the list contains all pools.' }),
        ...orderArg,
        ...atArg,
      },
      resolve: (_root, args, { loaders }) => andThen(loaders.exchange.poolPairs(args), toConnection),
    },
    PoolPairConnectionRef,
    PoolPairEdgeRef,
  ),
);

builder.objectField(TokenRef, 'poolPairs', (t) =>
  t.connection(
    {
      type: PoolPairRef,
      nullable: true,
      complexity: (args, { service }) => complexityOfPoolPairs(args, service),
      description:
        'Pools that contain this token, at the height of this response, one page at a time. The list, its limits and its cursors are the same as for `Query.poolPairs` with this token as the filter. Null with an error if the exchange state cannot be read.',
      args: orderArg,
      resolve: ({ tokenId }, args, { loaders }) =>
        andThen(loaders.exchange.poolPairs({ ...args, filter: { tokenId } }), toConnection),
    },
    PoolPairConnectionRef,
    PoolPairEdgeRef,
  ),
);

/** A page as a Relay connection. */
function toConnection({ items, totalCount, hasNextPage, hasPreviousPage, cursorOf }: PoolPairPage) {
  const edges = items.map((node) => new Edge(node, cursorOf));
  const [startCursor = null, endCursor = null] = [edges[0]?.cursor, edges.at(-1)?.cursor];
  return { totalCount, edges, pageInfo: { hasNextPage, hasPreviousPage, startCursor, endCursor } };
}

/**
 * An edge. Its cursor is computed when it is read, because most clients only read `endCursor`. It is a class because object literals
 * with getters are slow, see docs/decisions/query-plans.md.
 */
class Edge {
  readonly node: PoolPair;
  readonly #cursorOf: PoolPairPage['cursorOf'];

  constructor(node: PoolPair, cursorOf: PoolPairPage['cursorOf']) {
    this.node = node;
    this.#cursorOf = cursorOf;
  }

  get cursor(): string {
    return this.#cursorOf(this.node);
  }
}
