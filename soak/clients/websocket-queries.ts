import { type Client, pause, pick } from '../context.ts';
import { headQuery, poolQuery } from '../queries/heads.ts';
import { tickerQuery, tickersQuery } from '../queries/market.ts';
import { nodesQuery } from '../queries/nodes.ts';
import { pastHeightsQuery } from '../queries/past-heights.ts';
import { serviceQuery } from '../queries/service.ts';
import { openWebSocket } from '../websocket-client.ts';

const QUERIES = [
  poolQuery,
  poolQuery,
  headQuery,
  pastHeightsQuery,
  tickerQuery,
  tickersQuery,
  nodesQuery,
  serviceQuery,
];

/** Sends several queries at once over websockets. */
export const queryOverWebSocket: Client = async (context, name, random) => {
  while (!context.signal.aborted) {
    const socket = await openWebSocket(context, name);
    if (socket === undefined) {
      await pause(random, 0, 500, context.signal);
      continue;
    }
    for (let times = 1 + random.below(20); times > 0 && !context.signal.aborted; times--) {
      const operations = Array.from({ length: 1 + random.below(4) }, () => pick(random, QUERIES)(context, random));
      await Promise.all(operations.map((operation) => socket.execute(operation)));
      await pause(random, 0, 200 / context.load, context.signal);
    }
    socket.leave(pick(random, ['closed', 'aborted']));
    await socket.closed;
  }
};
