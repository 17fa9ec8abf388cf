import {
  exactPrice,
  exactQuantity,
  midPrice,
  type OrderBookEntry,
  type OrderBookQuality,
  spread,
} from '../../domain/order-book.ts';
import {
  type CutOrderBook,
  createOrderBookStream,
  DEFAULT_DEPTH,
  readOrderBookArguments,
} from '../../loaders/order-book.ts';
import { builder, PairRef } from '../builder.ts';
import { complexityOfOrderBook, complexityOfTicker } from '../complexity.ts';

const TimestampUnitEnum = builder.enumType('TimestampUnit', {
  description: 'Unit of a timestamp.',
  values: {
    SECONDS: { description: 'Seconds since 1970-01-01 UTC.' },
    MILLISECONDS: {
      description:
        'Milliseconds since 1970-01-01 UTC, or a finer unit: microseconds, nanoseconds, a date and time as text.',
    },
  } as const,
});

export const OrderBookEntryRef = builder.objectRef<OrderBookEntry>('OrderBookEntry').implement({
  description:
    'One price level on one side of an order book. In the book of a pool, the base token is token 2, and the target token is token 1.',
  fieldDescriptions: {
    price: 'Price of one base token, in target tokens.',
    quantity: 'Quantity at this price, in whole base tokens.',
    cumulativeQuantity: 'Quantity at this price and at all better prices, in whole base tokens.',
    cumulativeTotal:
      'Worth of `cumulativeQuantity` in whole target tokens: the sum of price times quantity of this entry and of all better ones. With `groupBy`, the prices are the rounded ones.',
    exactPrice:
      'Price as an exact decimal, with the digits that the host wrote: it can have trailing zeros or an exponent, such as 4e-9. A price that `groupBy` has rounded has neither, and a price in the book of a pool has up to 18 significant digits.',
    exactQuantity:
      'Quantity as an exact decimal. If the entry is one of the host, with the digits that the host wrote. If entries were merged, and in the book of a pool, their exact sum, without trailing zeros and exponent.',
  },
  fields: (t) => ({
    ...t.exposeAll('Float', 'price', 'quantity', 'cumulativeQuantity', 'cumulativeTotal'),
    exactPrice: t.field({ type: 'Decimal', resolve: exactPrice }),
    exactQuantity: t.field({ type: 'Decimal', resolve: exactQuantity }),
  }),
});

const OrderBookQualityRef = builder.objectRef<OrderBookQuality>('OrderBookQuality').implement({
  description: 'How the gateway cleaned the order book that the market-data host sent.',
  fieldDescriptions: {
    wasSorted: 'True if the host sent both sides sorted with the best price first.',
    isCrossed: 'True if the best bid is above the best ask.',
    entriesMerged: 'Number of entries that the gateway merged into another entry with the same price.',
    entriesDropped:
      'Number of entries that the gateway left out because it could not read their price or quantity. If it can read no entry, the book is an error.',
    timestampUnit: "Unit of the host's timestamp. The gateway infers it from the magnitude.",
  },
  fields: (t) => ({
    ...t.exposeAll('Boolean', 'wasSorted', 'isCrossed'),
    ...t.exposeAll('Int', 'entriesMerged', 'entriesDropped'),
    timestampUnit: t.expose('timestampUnit', { type: TimestampUnitEnum }),
  }),
});

/** The arguments of an order book beside its ticker id. */
export const orderBookArgs = builder.args((t) => ({
  depth: t.int({
    defaultValue: DEFAULT_DEPTH,
    description:
      'Maximum number of entries on both sides together, after merging and grouping. Half of them are bids and half are asks: 100 returns up to 50 per side. An odd number is rounded up. 0 returns the complete book. A negative number is BAD_USER_INPUT.',
  }),
  groupBy: t.field({
    type: 'Decimal',
    description:
      'Rounds each price to a multiple of this number, bids down and asks up, and merges the entries with the same rounded price, before `depth` counts. Null does not group. A number that is not above 0, or has more than 30 digits before or after the decimal point, is BAD_USER_INPUT.',
  }),
}));

const orderBookOfTickerArgs = builder.args((t) => ({
  tickerId: t.string({ required: true, description: 'Ticker id, `<base symbol>_<target symbol>`.' }),
  ...orderBookArgs,
}));

export const OrderBookRef = builder.objectRef<CutOrderBook>('OrderBook').implement({
  description:
    'Order book of a ticker id from the market-data host, sorted. The host identifies order books by ticker id, not by pool id. Best prices, spread and quality describe the complete book: `depth` and `groupBy` do not affect them.',
  fieldDescriptions: {
    id: "Cache key for clients: 'OrderBook:<depth>:<ticker id>', or 'OrderBook:<depth>/<groupBy>:<ticker id>' for a grouped book. Each depth and each grouping of the same book has its own key. `node` does not accept it.",
    tickerId: 'Ticker id, `<base symbol>_<target symbol>`.',
    message: "Status text of the host's response, normally OK. Empty if the host sends none.",
    timestamp:
      "Time of the host's last update of the book. The host can send it in seconds or in a finer unit; `quality.timestampUnit` shows which.",
    observedAt: 'Time at which the gateway read the book from the host.',
    bids: 'Buy orders, highest price first. Entries whose prices are equal as decimals are merged, with their quantities added.',
    asks: 'Sell orders, lowest price first. Entries whose prices are equal as decimals are merged, with their quantities added.',
    bestBid: 'Highest bid price, in target tokens per base token. Null if there are no bids.',
    bestAsk: 'Lowest ask price, in target tokens per base token. Null if there are no asks.',
    midPrice: 'Average of `bestBid` and `bestAsk`. Null if there are no bids or no asks.',
    spread: '`bestAsk` minus `bestBid`. Negative for a crossed book. Null if there are no bids or no asks.',
    quality: 'How the gateway cleaned the order book that the market-data host sent.',
    pairs:
      'Pairs with this ticker id, which share the order book, in the order of the market-data host. More than one if tokens share a symbol, or if two tokens trade in several pools. Null with an error if pairs cannot be read.',
  },
  fields: (t) => ({
    id: t.id({ resolve: ({ cut, tickerId }) => `OrderBook:${cut}:${tickerId}` }),
    tickerId: t.string({ resolve: ({ book }) => book.tickerId }),
    message: t.string({ resolve: ({ book }) => book.message }),
    timestamp: t.field({ type: 'DateTime', resolve: ({ book }) => book.time }),
    observedAt: t.expose('observedAt', { type: 'DateTime' }),
    bids: t.field({ type: [OrderBookEntryRef], resolve: ({ shown }) => shown.bids }),
    asks: t.field({ type: [OrderBookEntryRef], resolve: ({ shown }) => shown.asks }),
    bestBid: t.float({ nullable: true, resolve: ({ book }) => book.bids[0]?.price }),
    bestAsk: t.float({ nullable: true, resolve: ({ book }) => book.asks[0]?.price }),
    midPrice: t.float({ nullable: true, resolve: ({ book }) => midPrice(book) }),
    spread: t.float({ nullable: true, resolve: ({ book }) => spread(book) }),
    quality: t.field({ type: OrderBookQualityRef, resolve: ({ book }) => book.quality }),
    pairs: t.field({
      type: [PairRef],
      nullable: true,
      complexity: (_args, { service }) => complexityOfTicker(service),
      resolve: ({ tickerId }, _args, { loaders }) => loaders.market.pairs.ofTicker(tickerId),
    }),
  }),
});

builder.queryField('orderBook', (t) =>
  t.field({
    type: OrderBookRef,
    nullable: true,
    complexity: ({ depth }) => complexityOfOrderBook(depth),
    extensions: { refuse: readOrderBookArguments },
    description:
      'Order book of one ticker id. Null without an error if the ticker does not exist. Null with an error if the book cannot be read.',
    args: orderBookOfTickerArgs,
    resolve: (_root, { tickerId, ...args }, { loaders }) => loaders.orderBooks.get(tickerId, args),
  }),
);

builder.subscriptionField('orderBook', (t) =>
  t.field({
    type: OrderBookRef,
    complexity: ({ depth }) => complexityOfOrderBook(depth),
    extensions: { refuse: readOrderBookArguments },
    description:
      'Sends the current order book first, then each change. A ticker that does not exist is BAD_USER_INPUT. A slow subscriber skips changes and receives the newest book. If the book could not be read yet, the first update is an error with null data, and the subscription stays open.',
    args: orderBookOfTickerArgs,
    subscribe: (_root, { tickerId, ...args }, { loaders }) => createOrderBookStream(tickerId, args, loaders),
    resolve: (book) => book,
  }),
);
