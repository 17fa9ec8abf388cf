import {
  bestAsk,
  bestBid,
  midPrice,
  type OrderBookEntry,
  type OrderBookQuality,
  spread,
} from '../../domain/order-book.ts';
import type { OrderBookReading } from '../../live/order-books.ts';
import { builder } from '../builder.ts';
import { orderBook } from '../complexity.ts';

const TimestampUnitEnum = builder.enumType('TimestampUnit', {
  description: 'The unit of a timestamp.',
  values: { SECONDS: { description: 'Since 1970.' }, MILLISECONDS: { description: 'Since 1970.' } } as const,
});

const OrderBookEntryRef = builder.objectRef<OrderBookEntry>('OrderBookEntry').implement({
  description: 'One price of one side of an order book.',
  fields: (t) => ({
    price: t.exposeFloat('price', { description: 'Target per base.' }),
    quantity: t.exposeFloat('quantity', { description: 'Whole base tokens offered at this price.' }),
    cumulativeQuantity: t.exposeFloat('cumulativeQuantity', {
      description: 'Quantity of this entry and all better ones, in whole base tokens.',
    }),
  }),
});

const OrderBookQualityRef = builder.objectRef<OrderBookQuality>('OrderBookQuality').implement({
  description: "What had to be done to the host's answer.",
  fields: (t) => ({
    wasSorted: t.exposeBoolean('wasSorted', { description: 'Both sides came best price first.' }),
    isCrossed: t.exposeBoolean('isCrossed', { description: 'The best bid is above the best ask.' }),
    entriesMerged: t.exposeInt('entriesMerged', { description: 'How many entries vanished into one of equal price.' }),
    entriesDropped: t.exposeInt('entriesDropped', { description: 'How many entries were not two numbers.' }),
    timestampUnit: t.expose('timestampUnit', {
      type: TimestampUnitEnum,
      description: "The unit of the host's timestamp, decided by its magnitude.",
    }),
  }),
});

/** How much of an order book is wanted. */
export const depthArg = builder.args((t) => ({
  depth: t.int({
    required: true,
    defaultValue: 100,
    description:
      'How many entries of both sides together, after merging, as the listing sites count: 100 is 50 a side, an odd number is rounded up, 0 is everything. A negative one is BAD_USER_INPUT.',
  }),
}));

export const OrderBookRef = builder.objectRef<OrderBookReading>('OrderBook').implement({
  description:
    "The market-data host's order book of a ticker id (it knows no pool ids), put in order. Best prices, spread and quality are of the whole book, whatever depth was asked for.",
  fields: (t) => ({
    tickerId: t.string({ description: 'The ticker id.', resolve: ({ book }) => book.tickerId }),
    message: t.string({ description: "The host's word on its answer: OK.", resolve: ({ book }) => book.message }),
    timestamp: t.field({
      type: 'DateTime',
      description: "Of the host's last update. Seconds or milliseconds upstream, decided by magnitude.",
      resolve: ({ book }) => book.time,
    }),
    observedAt: t.expose('observedAt', { type: 'DateTime', description: 'When this gateway read it.' }),
    bids: t.field({
      type: [OrderBookEntryRef],
      description: 'Best (highest) price first; equal prices are one entry with their quantities added.',
      resolve: ({ book }) => book.bids,
    }),
    asks: t.field({
      type: [OrderBookEntryRef],
      description: 'Best (lowest) price first; equal prices are one entry with their quantities added.',
      resolve: ({ book }) => book.asks,
    }),
    bestBid: t.float({
      nullable: true,
      description: 'The highest price that is bid. Null when nothing is.',
      resolve: ({ book }) => bestBid(book),
    }),
    bestAsk: t.float({
      nullable: true,
      description: 'The lowest price that is asked. Null when nothing is.',
      resolve: ({ book }) => bestAsk(book),
    }),
    midPrice: t.float({
      nullable: true,
      description: 'Half way between bestBid and bestAsk. Null when a side is empty.',
      resolve: ({ book }) => midPrice(book),
    }),
    spread: t.float({
      nullable: true,
      description: 'bestAsk - bestBid: negative for a crossed book. Null when a side is empty.',
      resolve: ({ book }) => spread(book),
    }),
    quality: t.field({
      type: OrderBookQualityRef,
      description: "What had to be done to the host's answer.",
      resolve: ({ book }) => book.quality,
    }),
  }),
});

builder.queryField('orderBook', (t) =>
  t.field({
    type: OrderBookRef,
    nullable: true,
    complexity: ({ depth }) => orderBook(depth),
    description:
      "The host's book of that ticker id. Null, without an error, for a ticker that does not exist; with one where the book cannot be read.",
    args: { tickerId: t.arg.string({ required: true, description: 'The ticker id.' }), ...depthArg },
    resolve: (_root, { tickerId, depth }, { loaders }) => loaders.orderBooks.get(tickerId, depth),
  }),
);

builder.subscriptionField('orderBook', (t) =>
  t.field({
    type: OrderBookRef,
    complexity: ({ depth }) => orderBook(depth),
    description:
      "An order book, now and then each time the market-data host's answer changes. A ticker that does not exist is BAD_USER_INPUT. A listener that cannot keep up passes answers over.",
    args: { tickerId: t.arg.string({ required: true, description: 'The ticker id.' }), ...depthArg },
    subscribe: (_root, { tickerId, depth }, { loaders }) => loaders.updates.orderBook(tickerId, depth),
    resolve: (reading) => reading,
  }),
);
