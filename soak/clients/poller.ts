import { type Client, pause, pick } from '../context.ts';
import { createHttpClient } from '../http-client.ts';
import { depthQuery } from '../queries/depth.ts';
import { headQuery, poolQuery } from '../queries/heads.ts';
import { historyQuery } from '../queries/history.ts';
import { tickerQuery, tickersQuery } from '../queries/market.ts';
import { nodesQuery } from '../queries/nodes.ts';
import { pastHeightsQuery, unavailableHeightQuery } from '../queries/past-heights.ts';
import { poolOrdersQuery } from '../queries/pool-orders.ts';
import { poolTradesQuery } from '../queries/pool-trades.ts';
import { quoteQuery } from '../queries/quote.ts';
import { serviceQuery } from '../queries/service.ts';

const QUERIES = [
  ...[poolQuery, poolQuery, poolQuery, poolQuery, headQuery],
  ...[
    quoteQuery,
    depthQuery,
    pastHeightsQuery,
    tickerQuery,
    tickerQuery,
    tickersQuery,
    nodesQuery,
    poolOrdersQuery,
    unavailableHeightQuery,
    serviceQuery,
  ],
];

/** A fleet of the soak test has no PostgreSQL, so its gateways record histories of their own, which differ. */
const QUERIES_ALONE = [...QUERIES, historyQuery, poolTradesQuery];

/** Sends queries of all kinds, one after the other, on a persistent connection. */
export const poll: Client = async (context, name, random) => {
  const client = createHttpClient(context, name);
  const queries = context.replicas === 1 ? QUERIES_ALONE : QUERIES;
  while (!context.signal.aborted) {
    await client.execute(pick(random, queries)(context, random));
    await pause(random, 0, 40 / context.load, context.signal);
  }
  await client.close();
};
