import { type Client, pause } from '../context.ts';
import { createAllPricesSubscription } from '../subscriptions/prices.ts';
import { openWebSocket } from '../websocket-client.ts';

/** Number of subscriptions with the largest updates. Together they fill the socket buffer. */
const SUBSCRIPTIONS = 30;

/** Subscribes, stops reading for a while and continues. Heights may be skipped, but every update must be right. */
export const readSlowly: Client = async (context, name, random) => {
  while (!context.signal.aborted) {
    const socket = await openWebSocket(context, name);
    if (socket === undefined) return;
    for (let count = 0; count < SUBSCRIPTIONS; count++) socket.subscribe(createAllPricesSubscription(context));
    for (let times = 1 + random.below(3); times > 0 && !context.signal.aborted; times--) {
      await pause(random, 500, 3_000, context.signal);
      socket.pause();
      context.judge.count('pauses of slow readers');
      await pause(random, 2_000, 9_000, context.signal);
      socket.resume();
    }
    await pause(random, 500, 1_000, context.signal);
    socket.leave('closed');
    await socket.closed;
  }
};
