import { type Client, pause, pick } from '../context.ts';
import { createHttpClient } from '../http-client.ts';
import { depthQuery } from '../queries/depth.ts';
import { headQuery, poolQuery } from '../queries/heads.ts';
import { tickerQuery, tickersQuery } from '../queries/market.ts';
import { nodesQuery } from '../queries/nodes.ts';
import { pastHeightsQuery, unavailableHeightQuery } from '../queries/past-heights.ts';
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
    unavailableHeightQuery,
    serviceQuery,
  ],
];

/** Sends queries of all kinds, one after the other, on a persistent connection. */
export const poll: Client = async (context, name, random) => {
  const client = createHttpClient(context, name);
  while (!context.signal.aborted) {
    await client.execute(pick(random, QUERIES)(context, random));
    await pause(random, 0, 40 / context.load, context.signal);
  }
  await client.close();
};
