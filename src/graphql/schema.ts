import './scalars.ts';
import './types/candle.ts';
import './types/chain.ts';
import './types/depth.ts';
import './types/exchange.ts';
import './types/head.ts';
import './types/history.ts';
import './types/node.ts';
import './types/order-book.ts';
import './types/pairs.ts';
import './types/pool-orders.ts';
import './types/pool-pair-connection.ts';
import './types/pool-pair.ts';
import './types/price-change.ts';
import './types/prices.ts';
import './types/quote.ts';
import './types/service.ts';
import './types/token.ts';
import './types/trades.ts';
import { DirectiveLocation, GraphQLDirective, specifiedDirectives } from 'graphql';
import { MAX_HOPS_V1 } from '../domain/best-route.ts';
import { MAX_HOPS_V3 } from '../domain/route-search.ts';
import { builder } from './builder.ts';

const description = `
This endpoint combines two upstreams: a full **node** of a blockchain with an exchange, and the exchange's **market-data host**.

- A **beacon height** is the number of a block on the beacon chain. Each response describes one beacon height, by default the newest. The argument \`at\` selects an earlier one.
- A **pool** contains two tokens. Its price follows from their amounts. Pools come from the node. The exchange has two versions: in **V1**, two tokens have one pool; in **V3**, they can have several, each with an id of its own, amplified, and with orders. \`service.exchangeVersion\` says which one trades.
- A **pair** is a market of two tokens on the market-data host. It has a **ticker** (last price and volumes) and an **order book**. Its field \`poolPair\` is its pool on the node: in V3 the one that \`poolId\` names, in V1 that of the same two tokens.
- A **quote** is the best way to change one token for another at one height: a route of up to ${MAX_HOPS_V3} pools (in V1, ${MAX_HOPS_V1}), with its amounts. These do not contain the exchange's trading fee. In V3, the field \`fee\` has it.
- If an upstream cannot provide a field, the field is null and the response contains an error with a code. The other fields are complete.
- A subscription sends the current value first, then each change. Only \`priceCrossed\` has no current value.

Start with \`poolPairs\` or \`pool\` for prices, \`tickers\` for markets, \`quote\` for swaps, \`chainInfo\` for the chain, and \`service\` for the status and the limits of this gateway.
`.trim();

/** A directive with the locations that are in the specification of GraphQL: clients refuse an introspection with others. */
function toSpecified(directive: GraphQLDirective): GraphQLDirective {
  const locations = directive.locations.filter((location) => location !== DirectiveLocation.DIRECTIVE_DEFINITION);
  return new GraphQLDirective({ ...directive.toConfig(), locations });
}

/** The schema of the gateway. */
export const schema = Object.assign(builder.toSchema({ directives: specifiedDirectives.map(toSpecified) }), {
  description,
});
