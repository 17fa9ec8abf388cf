import {
  bestAsk,
  bestBid,
  midPrice,
  type OrderBookEntry,
  type OrderBookQuality,
  spread,
} from '../../domain/order-book.ts';
import { type CutOrderBook, DEFAULT_DEPTH, type Depth, readDepth } from '../../loaders/order-book.ts';
import { refusing } from '../bad-input.ts';
import { builder } from '../builder.ts';
import { orderBook } from '../complexity.ts';

const TimestampUnitEnum = builder.enumType('TimestampUnit', {
  description: 'Unit of a timestamp.',
  values: {
    SECONDS: { description: 'Seconds since 1970-01-01 UTC.' },
    MILLISECONDS: { description: 'Milliseconds since 1970-01-01 UTC.' },
  } as const,
});

const OrderBookEntryRef = builder.objectRef<OrderBookEntry>('OrderBookEntry').implement({
  description: 'One price level on one side of an order book.',
  fields: (t) => ({
    price: t.exposeFloat('price', { description: 'Price of one base token, in target tokens.' }),
    quantity: t.exposeFloat('quantity', { description: 'Quantity at this price, in whole base tokens.' }),
    cumulativeQuantity: t.exposeFloat('cumulativeQuantity', {
      description: 'Quantity at this price and at all better prices, in whole base tokens.',
    }),
  }),
});

const OrderBookQualityRef = builder.objectRef<OrderBookQuality>('OrderBookQuality').implement({
  description: 'How the gateway cleaned the order book that the market-data host sent.',
  fields: (t) => ({
    wasSorted: t.exposeBoolean('wasSorted', {
      description: 'True if the host sent both sides sorted with the best price first.',
    }),
    isCrossed: t.exposeBoolean('isCrossed', { description: 'True if the best bid is above the best ask.' }),
    entriesMerged: t.exposeInt('entriesMerged', {
      description: 'Number of entries that the gateway merged into another entry with the same price.',
    }),
    entriesDropped: t.exposeInt('entriesDropped', {
      description: 'Number of entries that the gateway dropped because they were not two numbers.',
    }),
    timestampUnit: t.expose('timestampUnit', {
      type: TimestampUnitEnum,
      description: "Unit of the host's timestamp. The gateway infers it from the magnitude.",
    }),
  }),
});

/** The argument `depth` of an order book. */
export const depthArg = builder.args((t) => ({
  depth: t.int({
    defaultValue: DEFAULT_DEPTH,
    description:
      'Maximum number of entries on both sides together, after merging. Half of them are bids and half are asks: 100 returns up to 50 per side. An odd number is rounded up. 0 returns the complete book. A negative number is BAD_USER_INPUT.',
  }),
}));

const orderBookArgs = builder.args((t) => ({
  tickerId: t.string({ required: true, description: 'Ticker id, `<base symbol>_<target symbol>`.' }),
  ...depthArg,
}));

/** The extensions of a field that refuses a negative depth. */
export const refusingDepth = refusing(({ depth }: { readonly depth?: Depth }) => readDepth(depth));

export const OrderBookRef = builder.objectRef<CutOrderBook>('OrderBook').implement({
  description:
    'Order book of a ticker id from the market-data host, sorted. The host identifies order books by ticker id, not by pool id. Best prices, spread and quality describe the complete book; `depth` does not affect them.',
  fields: (t) => ({
    id: t.id({
      description:
        "Cache key for clients: 'OrderBook:<depth>:<ticker id>'. Two depths of the same book have two keys. `node` does not accept it.",
      resolve: ({ depth, tickerId }) => `OrderBook:${depth}:${tickerId}`,
    }),
    tickerId: t.string({
      description: 'Ticker id, `<base symbol>_<target symbol>`.',
      resolve: ({ book }) => book.tickerId,
    }),
    message: t.string({
      description: "Status text of the host's response, normally OK.",
      resolve: ({ book }) => book.message,
    }),
    timestamp: t.field({
      type: 'DateTime',
      description:
        "Time of the host's last update of the book. The host sends seconds or milliseconds; `quality.timestampUnit` shows which.",
      resolve: ({ book }) => book.time,
    }),
    observedAt: t.expose('observedAt', {
      type: 'DateTime',
      description: 'Time at which the gateway read the book from the host.',
    }),
    bids: t.field({
      type: [OrderBookEntryRef],
      description:
        'Buy orders, highest price first. Entries with the same price are merged, with their quantities added.',
      resolve: ({ book }) => book.bids,
    }),
    asks: t.field({
      type: [OrderBookEntryRef],
      description:
        'Sell orders, lowest price first. Entries with the same price are merged, with their quantities added.',
      resolve: ({ book }) => book.asks,
    }),
    bestBid: t.float({
      nullable: true,
      description: 'Highest bid price, in target tokens per base token. Null if there are no bids.',
      resolve: ({ book }) => bestBid(book),
    }),
    bestAsk: t.float({
      nullable: true,
      description: 'Lowest ask price, in target tokens per base token. Null if there are no asks.',
      resolve: ({ book }) => bestAsk(book),
    }),
    midPrice: t.float({
      nullable: true,
      description: 'Average of `bestBid` and `bestAsk`. Null if there are no bids or no asks.',
      resolve: ({ book }) => midPrice(book),
    }),
    spread: t.float({
      nullable: true,
      description: '`bestAsk` minus `bestBid`. Negative for a crossed book. Null if there are no bids or no asks.',
      resolve: ({ book }) => spread(book),
    }),
    quality: t.field({
      type: OrderBookQualityRef,
      description: 'How the gateway cleaned the order book that the market-data host sent.',
      resolve: ({ book }) => book.quality,
    }),
  }),
});

builder.queryField('orderBook', (t) =>
  t.field({
    type: OrderBookRef,
    nullable: true,
    complexity: ({ depth }) => orderBook(depth),
    extensions: refusingDepth,
    description:
      'Order book of one ticker id. Null without an error if the ticker does not exist. Null with an error if the book cannot be read.',
    args: orderBookArgs,
    resolve: (_root, { tickerId, depth }, { loaders }) => loaders.orderBooks.get(tickerId, depth),
  }),
);

builder.subscriptionField('orderBook', (t) =>
  t.field({
    type: OrderBookRef,
    complexity: ({ depth }) => orderBook(depth),
    extensions: refusingDepth,
    description:
      'Sends the current order book first, then each change. A ticker that does not exist is BAD_USER_INPUT. A slow subscriber skips changes and receives the newest book. If the book could not be read yet, the first update is an error with null data, and the subscription stays open.',
    args: orderBookArgs,
    subscribe: (_root, { tickerId, depth }, { loaders }) => loaders.sourceStreams.orderBook(tickerId, depth),
    resolve: (book) => book,
  }),
);
