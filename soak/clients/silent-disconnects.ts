import { type Client, pause } from '../context.ts';
import { openEventStream } from '../event-stream.ts';
import { POOL_FIELDS } from '../expected/pools.ts';
import { createAllPricesSubscription } from '../subscriptions/prices.ts';

/** The update contains everything several times, so that the socket buffer is quickly full. */
const COPIES = ['a', 'b', 'c'].map((alias) => `${alias}: poolPairs { ${POOL_FIELDS} }`).join(' ');

/** Opens event streams and stops reading them without closing them. The gateway has to detect it. */
export const disconnectSilently: Client = async (context, name, random) => {
  while (!context.signal.aborted) {
    const subscription = createAllPricesSubscription(context);
    const query = subscription.query.replace('blockTime', `blockTime ${COPIES}`);
    const { stopReading } = openEventStream(context, name, { ...subscription, query });
    await pause(random, 100, 500, context.signal);
    stopReading();
    context.judge.count('event streams vanished');
    await pause(random, 15_000, 30_000 / context.load, context.signal);
  }
};
