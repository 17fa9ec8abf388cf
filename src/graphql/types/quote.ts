import { MAX_HOPS_V1 } from '../../domain/best-route.ts';
import { minimumReceived, priceImpactPercent, type Quote, type QuoteStep, quotedPrice } from '../../domain/quote.ts';
import { MAX_HOPS_V3 } from '../../domain/route-search.ts';
import type { TradeFee } from '../../domain/trade-fee.ts';
import { createHeadStream } from '../../loaders/head-streams.ts';
import {
  DEFAULT_MAX_HOPS,
  DEFAULT_SLIPPAGE_PERCENT,
  readQuoteArguments,
  readSlippagePercent,
} from '../../loaders/quote.ts';
import { builder, PoolPairRef } from '../builder.ts';
import { complexityOfQuote } from '../complexity.ts';
import { atArg } from './exchange.ts';

const QuoteFeeRef = builder.objectRef<TradeFee>('QuoteFee').implement({
  description:
    'The least fee that the exchange accepts for a trade, on top of `sellAmount`. It is paid in the token that is sold or in the native coin, PRV. The trades of a block are executed by fee: a trade with a higher fee for its amount comes first.',
  fieldDescriptions: {
    rateBps: "Sum of the fee rates of the route's pools, in hundredths of a percent of `sellAmount`.",
    inSellToken:
      'The fee if it is paid in the token that is sold, in smallest units, rounded up. For a trade that sells the native coin, the discount for the native coin is taken off. Along several pools, the exchange also swaps the parts of the later pools: a part that buys nothing refunds the trade.',
    inNativeToken:
      'The fee if it is paid in the native coin, in its smallest unit, rounded up: with the discount of the exchange, at the price of the most liquid pool of the two tokens that holds enough of the coin. Null if there is no such pool. The exchange then accepts no fee in the native coin.',
  },
  fields: (t) => ({
    rateBps: t.exposeInt('rateBps'),
    inSellToken: t.expose('inSellToken', { type: 'BigInt' }),
    inNativeToken: t.expose('inNativeToken', { type: 'BigInt', nullable: true }),
  }),
});

const QuoteStepRef = builder.objectRef<QuoteStep>('QuoteStep').implement({
  description: 'One pool of a route, with the amount that the trader sends to it and the amount that it gives.',
  fieldDescriptions: {
    poolPair: 'The pool, at the height of the quote and before the trade.',
    sellToken: 'The token that is sent to the pool.',
    buyToken: 'The token that the pool gives.',
    sellAmount: 'Amount that is sent to the pool: `buyAmount` of the step before.',
    buyAmount:
      'Amount that the pool gives for `sellAmount`, in V3 through its curve and its orders together. In a quote of V1 for `buyAmount`, the amount that the next step needs: the pool can give a little more, because whole units are rounded.',
    priceImpactPercent:
      'Price impact in this pool alone, in percent. Below 0 if its orders give more than its spot price.',
  },
  fields: (t) => ({
    poolPair: t.field({ type: PoolPairRef, resolve: ({ pool }) => pool }),
    sellToken: t.token(({ sellTokenId }) => sellTokenId),
    buyToken: t.token(({ buyTokenId }) => buyTokenId),
    ...t.exposeAll('BigInt', 'sellAmount', 'buyAmount'),
    priceImpactPercent: t.float({ resolve: (step) => priceImpactPercent([step]) }),
  }),
});

const QuoteRef = builder.objectRef<Quote>('Quote').implement({
  description:
    "A way to change one token for another at one beacon height: the best one, or the one along a given route. A quote is an estimate: the reserves can change until the trade. The exchange's trading fee is not part of the amounts: the trader pays it in addition. In V1 the trader bids it, in V3 `fee` is the least one.",
  fieldDescriptions: {
    beaconHeight: 'Beacon height of the reserves from which the quote was computed.',
    sellToken: 'The token that the trader sends.',
    buyToken: 'The token that the trader receives.',
    sellAmount:
      'Amount that the trader sends. With the argument `buyAmount`, the smallest amount for which the trader receives at least `buyAmount`.',
    buyAmount:
      'Amount that the trader receives. With the argument `buyAmount`, that amount in V1. In V3 it is what the trade really gives, which can be more: the least amount that the exchange accepts can buy more.',
    minimumReceived:
      '`buyAmount` minus `slippagePercent`, in exact arithmetic and rounded down: the least that the trader accepts if other trades come first. A percentage below 0 or above 100 is BAD_USER_INPUT.',
    price:
      'Price of this trade: whole sell tokens for one whole buy token, rounded to 18 significant digits, without zeros at the end. Null if the decimals of one of the tokens are unknown.',
    priceImpactPercent:
      'How much less the trader receives than at the spot prices along the route, in percent, including the rounding of whole units: `100 * (1 - buyAmount / (sellAmount * product of the spot prices))`. It is 0 for an infinitely small trade, and near 100 for a trade that nearly empties a pool. In V3 it can be below 0: orders can be better than the curve, from which the spot price is.',
    route:
      'The pools in the order of the trade, at least one. No token is repeated, except on a route of the argument `route`.',
    fee: 'The least fee that the exchange accepts, on top of `sellAmount`. Null in V1.',
  },
  fields: (t) => ({
    beaconHeight: t.expose('beaconHeight', { type: 'BeaconHeight' }),
    sellToken: t.token(({ sellTokenId }) => sellTokenId),
    buyToken: t.token(({ buyTokenId }) => buyTokenId),
    ...t.exposeAll('BigInt', 'sellAmount', 'buyAmount'),
    minimumReceived: t.field({
      type: 'BigInt',
      args: {
        slippagePercent: t.arg.float({
          defaultValue: DEFAULT_SLIPPAGE_PERCENT,
          description:
            'Slippage that the trader accepts, in percent from 0 to 100. The calculation uses its exact decimal value. With another number, the whole quote is null.',
        }),
      },
      extensions: { refuse: readSlippagePercent },
      resolve: ({ buyAmount }, args) => minimumReceived(buyAmount, readSlippagePercent(args)),
    }),
    price: t.field({
      type: 'Decimal',
      nullable: true,
      resolve: (quote, _args, { loaders }) => {
        const { tokens } = loaders;
        const [sold, bought] = [tokens.decimalsOf(quote.sellTokenId), tokens.decimalsOf(quote.buyTokenId)];
        return sold === undefined || bought === undefined ? undefined : quotedPrice(quote, sold, bought);
      },
    }),
    priceImpactPercent: t.float({ resolve: ({ route }) => priceImpactPercent(route) }),
    route: t.field({ type: [QuoteStepRef], resolve: ({ route }) => route }),
    fee: t.field({ type: QuoteFeeRef, nullable: true, resolve: ({ fee }) => fee }),
  }),
});

const quoteArgs = builder.args((t) => ({
  sellTokenId: t.field({ type: 'TokenId', required: true, description: 'Id of the token that the trader sends.' }),
  buyTokenId: t.field({ type: 'TokenId', required: true, description: 'Id of the token that the trader receives.' }),
  sellAmount: t.field({
    type: 'BigInt',
    description:
      'Amount that the trader sends, in smallest units and above 0. The best route gives the most for it. Exactly one of `sellAmount` and `buyAmount` must be set.',
  }),
  buyAmount: t.field({
    type: 'BigInt',
    description:
      'Amount that the trader wants, in smallest units and above 0. The best route requires the least for it.',
  }),
  maxHops: t.int({
    defaultValue: DEFAULT_MAX_HOPS,
    description: `Maximum number of pools on the route, from 1 to ${MAX_HOPS_V3}; in V1, to ${MAX_HOPS_V1}. It does not matter with \`route\`.`,
  }),
  route: t.stringList({
    description: `Ids of 1 to ${MAX_HOPS_V3} pools of V3 in the order of the trade, as \`PoolPair.poolId\` has them. The quote is along exactly these pools, and a trade that the exchange would refuse is the error TRADE_REFUSED. The pools must lead from the token that is sold to the one that is bought; these can be the same. Another number, another form of id, and any route in V1 is BAD_USER_INPUT.`,
  }),
}));

/** How a pool of V3 trades, and what it refuses. */
const TRADES_OF_V3 = `In V3, a trade goes along the curve of a pool, which gives \`floor(sent * V2 / (V1 + sent))\` with its virtual values, and through its orders where they are better, each at its own rate. The exchange refuses a trade if one of its steps would move only one of the two tokens. So there are gaps: most of them are a few amounts just above one that fills an order. \`buyAmount\` finds the least amount that is accepted and buys at least that much. A route that is searched passes by pools that refuse the trade. With \`route\`, a quote that would be refused is null with the error TRADE_REFUSED. Its \`extensions.reason\` is POOL_TWICE (a pool is named twice), else NO_SUCH_POOL (a pool does not exist at this height), else ROUTE_DOES_NOT_FIT (the pools do not lead from the sold token to the bought one), else the reason of the first pool that refuses: NO_LIQUIDITY (one of its sides is empty), REAL_RESERVE_TOO_SMALL (its curve would give more than it holds, or no amount buys \`buyAmount\`), RESERVE_OUT_OF_RANGE (an amount would exceed 2^64 - 1) or ONE_SIDE_ZERO (the amount is in a gap).`;

/** When a quote is null, and what is refused. */
const QUOTE_LIMITS = `Null if there is no route, if the best route gives 0, or if it requires more than 2^64 - 1. The same token twice (without \`route\`), no amount, both amounts, an amount of 0 and (without \`route\`) a \`maxHops\` outside 1 to ${MAX_HOPS_V3} (in V1, to ${MAX_HOPS_V1}) are BAD_USER_INPUT.`;

builder.queryField('quote', (t) =>
  t.field({
    type: QuoteRef,
    nullable: true,
    complexity: (args, { service }) => complexityOfQuote(args, service),
    extensions: { refuse: readQuoteArguments },
    description: `The best way to change one token for another: the route that gives the most for \`sellAmount\`, or requires the least for \`buyAmount\`. A route has at most \`maxHops\` pools and no repeated token. Of equally good routes, the gateway takes the shortest, and of several shortest ones the ids of their pools decide. A pool of V1 gives \`R2 - ceil(R1 * R2 / (R1 + sent))\`, in exact integers: R1 is its reserve of the token that is sent, and R2 its reserve of the other token. Empty pools are not used. The exchange's trading fee is not part of the amounts, and does not affect the choice of the route. In V3, each pool of a route adds its fee. With the fees, a route of fewer pools (a smaller \`maxHops\`) can be cheaper. The exchange stores reserves as unsigned 64-bit integers, and the quote of V1 does not check that R1 + sent fits. ${TRADES_OF_V3} If an old node sends no orders with the state, a route is searched on the curves alone, and its amounts are those with the orders of its pools. ${QUOTE_LIMITS} Null with an error if the exchange state cannot be read.`,
    args: { ...quoteArgs, ...atArg },
    resolve: (_root, args, { loaders }) => loaders.quotes.find(args),
  }),
);

builder.subscriptionField('quote', (t) =>
  t.field({
    type: QuoteRef,
    nullable: true,
    complexity: (args, { service }) => complexityOfQuote(args, service),
    extensions: { refuse: readQuoteArguments },
    description: `Sends the quote of \`Query.quote\` at the current beacon height first, then at each new one. The exchange's trading fee is not part of the amounts. In V3, a \`route\` that the exchange would refuse is an update with null data and the error TRADE_REFUSED, and the subscription stays open. ${QUOTE_LIMITS} A slow subscriber skips heights and receives the newest quote. If no height could be read yet, the first update is an error with null data, and the subscription stays open.`,
    args: quoteArgs,
    subscribe: (_root, _args, { loaders }) => createHeadStream(loaders),
    resolve: (_head, args, { loaders }) => loaders.quotes.find(args),
  }),
);
