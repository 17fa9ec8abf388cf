import { formatTradeCursor } from '../../domain/cursor.ts';
import { DEFAULT_PAGE_SIZE } from '../../loaders/page-arguments.ts';
import { type PoolVolume, requireVolumeArguments, type TradePage } from '../../loaders/pool-trades.ts';
import { DEFAULT_HOURS } from '../../loaders/price-changes.ts';
import { tradedPriceOf } from '../../loaders/trades.ts';
import { builder, exposeAll, PoolPairRef, TickerRef } from '../builder.ts';
import { objects, recordedObjects, recordedValues } from '../complexity.ts';
import { TradeRef } from './trade.ts';

const TradeEdgeRef = builder.edgeObject({
  type: TradeRef,
  name: 'TradeEdge',
  description:
    'A trade and its cursor. The cursor is the place of the trade on the chain, so it stays valid when there are new trades.',
  nodeField: { description: 'The trade at this position.' },
});

const TradeConnectionRef = builder.connectionObject(
  {
    type: TradeRef,
    name: 'TradeConnection',
    description: 'One page of the trades of a pool, as defined by the Relay connection specification.',
    edgesField: { description: 'Trades of this page with their cursors, newest first.', complexity: objects(1) },
  },
  TradeEdgeRef,
);

const PoolVolumeRef = builder.objectRef<PoolVolume>('PoolVolume').implement({
  description:
    'What a pool traded in a window: the sum of its trades, each with what came in and what went out, of the pool and its orders together.',
  fields: (t) => ({
    ...exposeAll(t, 'BigInt', {
      token1: 'Traded amount of token 1, in both directions, in its smallest unit. It can exceed 2^64 - 1.',
      token2: 'The same as `token1`, of token 2.',
    }),
    trades: t.exposeInt('trades', { description: 'Number of trades.' }),
    since: t.expose('since', {
      type: 'DateTime',
      description:
        'The time from which trades count: the start of the window, or the time of the first block whose trades are known if none are known at the start.',
    }),
    isComplete: t.exposeBoolean('isComplete', {
      description:
        'True if the trades of every block of the window are known. False if the recorded trades begin in the window, have a gap in it, or cannot be read in one of its blocks.',
    }),
  }),
});

builder.objectFields(PoolPairRef, (t) => ({
  trades: t.field({
    type: TradeConnectionRef,
    nullable: true,
    complexity: ({ first }) => recordedObjects(first ?? DEFAULT_PAGE_SIZE),
    extensions: { isAwaited: true },
    description:
      'Trades through this pool up to its height, newest first: the last trade of the newest block comes first. Their `poolPair` is this pool. Blocks that are not final yet are included from memory. Trades of blocks that are not known are missing, as `volume` shows. Null in V1. Null with HISTORY_UNAVAILABLE if the recorded history cannot be read, and with an error if the trades of the block at this height cannot be read.',
    args: {
      first: t.arg.int({
        defaultValue: DEFAULT_PAGE_SIZE,
        description:
          'Maximum number of trades. A negative number, or one above `service.limits.maxPageSize`, is BAD_USER_INPUT.',
      }),
      after: t.arg.string({
        description:
          'Cursor of the trade before the first one on the page. It can come from another height of the pool. Any other text is BAD_USER_INPUT.',
      }),
    },
    resolve: async (pool, args, { loaders }) => {
      const page = await loaders.history.tradePage(pool, args);
      return page && toConnection(page);
    },
  }),
  volume: t.field({
    type: PoolVolumeRef,
    nullable: true,
    complexity: recordedObjects(1),
    extensions: { refuse: requireVolumeArguments },
    description:
      'What the pool traded in the hours up to its height, exactly, from the trades of the blocks: of those made after `T - hours`, where T is the time of the block of this pool. Null in V1, and without an error if no block of the window is known. Null with HISTORY_UNAVAILABLE if the recorded history cannot be read, and with an error if the trades of the block at this height cannot be read.',
    args: {
      hours: t.arg.int({
        defaultValue: DEFAULT_HOURS,
        description: 'Length of the window, at least 1. More than `service.limits.maxHistoryHours` is BAD_USER_INPUT.',
      }),
    },
    resolve: (pool, args, { loaders }) => loaders.history.volume(pool, args),
  }),
}));

builder.objectField(TickerRef, 'tradedPrice', (t) =>
  t.float({
    nullable: true,
    complexity: recordedValues(1),
    description:
      'Average price of the newest known trade through `poolPair`, in target tokens per base token, from the chain. `lastPrice` is the one that the host sends. Null in V1, if no trade is known, if `poolPair` is null or of other tokens than `baseId` and `targetId`, or if the decimals of a token are unknown. Null with HISTORY_UNAVAILABLE if the recorded history cannot be read, and with an error if the exchange state or the trades of the newest block cannot be read.',
    resolve: (ticker, _args, { loaders }) => tradedPriceOf(ticker, loaders),
  }),
);

function toConnection({ trades, hasNextPage, hasPreviousPage }: TradePage) {
  const edges = trades.map((node) => ({ cursor: formatTradeCursor(node.trade), node }));
  const [startCursor = null, endCursor = null] = [edges[0]?.cursor, edges.at(-1)?.cursor];
  return { edges, pageInfo: { hasNextPage, hasPreviousPage, startCursor, endCursor } };
}
