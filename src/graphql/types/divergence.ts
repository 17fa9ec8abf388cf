import { andThen } from '../../domain/maybe-promise.ts';
import { percentChange } from '../../domain/price.ts';
import { DEFAULT_PAGE_SIZE } from '../../loaders/arguments.ts';
import {
  createDivergenceStream,
  DEFAULT_MIN_PERCENT,
  divergentPairs,
  maxPercentOf,
  type PairPrices,
} from '../../loaders/divergence.ts';
import { builder, PairRef } from '../builder.ts';
import { complexityOfDivergentPairs, recordedValues } from '../complexity.ts';

export const DivergenceRef = builder.objectRef<PairPrices>('Divergence').implement({
  description:
    'Prices of a pair in target tokens per base token, and how far the others are from that of its pool. Percentages are relative to `poolPrice`: positive if the other price is higher. If the market-data host cannot be read, its fields are null with an error.',
  fieldDescriptions: {
    poolPrice: 'Same as `Pair.poolPrice`. Null if a reserve is 0, or if the decimals of a token are unknown.',
    lastPrice:
      'Price of the last trade, as `Ticker.lastPrice`. Null if the host has no ticker for the pool, or sends no price.',
    bookMidPrice:
      'Average of best bid and best ask, as `OrderBook.midPrice`. Null if there is no such book, or if it has no bids or no asks. In `divergentPairs`, also null if no subscription follows the book.',
    tradedPrice:
      'Average price of the newest known trade on the chain, as `Ticker.tradedPrice`. Null in V1, if no trade is known, or if the decimals of a token are unknown. Null with HISTORY_UNAVAILABLE if the recorded history cannot be read, and with an error if the trades of the newest block cannot be read.',
    lastPercent:
      '`100 * (lastPrice / poolPrice - 1)`. Null if one of the two is null, or if `poolPrice` is not above 0.',
    bookPercent:
      '`100 * (bookMidPrice / poolPrice - 1)`. Null if one of the two is null, or if `poolPrice` is not above 0.',
    tradedPercent:
      '`100 * (tradedPrice / poolPrice - 1)`. Null if one of the two is null, or if `poolPrice` is not above 0. It does not count in `maxPercent`.',
    maxPercent:
      'The larger absolute value of `lastPercent` and `bookPercent`. If one of them is null, the absolute value of the other one. Null if both are null. Null with an error if one of the two prices cannot be read.',
  },
  fields: (t) => ({
    poolPrice: t.exposeFloat('poolPrice', { nullable: true }),
    lastPrice: t.float({ nullable: true, resolve: (prices) => prices.lastPrice() }),
    bookMidPrice: t.float({ nullable: true, resolve: (prices) => prices.bookMidPrice() }),
    tradedPrice: t.float({ nullable: true, complexity: recordedValues(1), resolve: (prices) => prices.tradedPrice() }),
    lastPercent: t.float({ nullable: true, resolve: percentOf('lastPrice') }),
    bookPercent: t.float({ nullable: true, resolve: percentOf('bookMidPrice') }),
    tradedPercent: t.float({ nullable: true, complexity: recordedValues(1), resolve: percentOf('tradedPrice') }),
    maxPercent: t.float({ nullable: true, resolve: (prices) => maxPercentOf(prices) }),
  }),
});

/** The resolver of the difference of a price to that of the pool. */
function percentOf(name: 'lastPrice' | 'bookMidPrice' | 'tradedPrice') {
  return (prices: PairPrices) => andThen(prices[name](), (price) => percentChange(prices.poolPrice, price));
}

const divergentPairsArgs = builder.args((t) => ({
  minPercent: t.float({
    defaultValue: DEFAULT_MIN_PERCENT,
    description: 'Smallest `Divergence.maxPercent` of a pair in the list. A negative number is BAD_USER_INPUT.',
  }),
  first: t.int({
    defaultValue: DEFAULT_PAGE_SIZE,
    description:
      'Maximum number of pairs. A negative number, or one above `service.limits.maxPageSize`, is BAD_USER_INPUT.',
  }),
}));

builder.queryField('divergentPairs', (t) =>
  t.field({
    type: [PairRef],
    nullable: true,
    complexity: (args, { service }) => complexityOfDivergentPairs(args.first, service),
    description:
      'Pairs whose pool, last trade and order book differ by at least `minPercent`, the largest difference first. The list causes no read of an order book. It uses the order books that subscriptions follow. For all other pairs, it compares only the pool and the last trade. The field `divergence` of these pairs shows the prices that were compared. Null with an error if pairs, tickers or the exchange state cannot be read.',
    args: divergentPairsArgs,
    resolve: (_root, args, { loaders }) => divergentPairs(args, loaders),
  }),
);

builder.subscriptionField('divergentPairs', (t) =>
  t.field({
    type: [PairRef],
    complexity: (args, { service }) => complexityOfDivergentPairs(args.first, service),
    description:
      'Sends the list of `Query.divergentPairs` first, then the list each time that it changes. The gateway computes the list again at each new beacon height, and at each response of the market-data host with pairs or tickers. It sends an update if a selected field differs from the previous update: a client that selects only ids gets an update when pairs enter, leave or change places. A slow subscriber skips changes and receives the newest list. If the data could not be read yet, the first update is an error with null data, and the subscription stays open.',
    args: divergentPairsArgs,
    subscribe: (_root, args, { loaders }) => createDivergenceStream(args, loaders),
    resolve: (pairs) => pairs,
  }),
);
