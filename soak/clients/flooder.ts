import type { Random } from '../../src/sandbox/chain/random.ts';
import { type Client, pause, pick, type SoakContext } from '../context.ts';
import { createHttpClient } from '../http-client.ts';
import type { Operation } from '../judge.ts';
import { createAllPricesSubscription } from '../subscriptions/prices.ts';
import { openWebSocket } from '../websocket-client.ts';

/** Creates ticker ids that no market has. */
const UNKNOWN_TICKERS: readonly ((random: Random) => string)[] = [
  (random) => random.hex(32),
  (random) => `${random.hex(8)}/../../pairs`,
  (random) => `?ticker_id=pBTC_PRV&${random.hex(8)}`,
  (random) => `${'ä∞\u0000😀'.repeat(20)}${random.hex(8)}`,
  (random) => random.hex(4_000),
  (random) => `pBTC_PRV ${random.hex(4)}`,
];

const AT_ONCE = 40;

/** Requests the order books of very many unknown tickers at once. */
export const floodOrderBooks: Client = async (context, name, random) => {
  const clients = Array.from({ length: AT_ONCE }, () => createHttpClient(context, name));
  while (!context.signal.aborted) {
    await Promise.all(clients.map((client) => client.execute(unknownOrderBookQuery(random))));
    await pause(random, 0, 3_000 / context.load, context.signal);
  }
  await Promise.all(clients.map((client) => client.close()));
};

function unknownOrderBookQuery(random: Random): Operation {
  return {
    kind: 'an unknown order book',
    query: 'query ($tickerId: String!) { orderBook(tickerId: $tickerId) { message } }',
    variables: { tickerId: pick(random, UNKNOWN_TICKERS)(random) },
    mayFailWith: ['UPSTREAM_BUSY'],
    check: ({ orderBook }) => (orderBook == null ? undefined : 'an order book of an unknown ticker'),
  };
}

const RESUMED = 30;
const HEIGHTS_BACK = 30;

/** Resumes very many subscriptions at once, each after very many missed heights. */
export const resumeManySubscriptions: Client = async (context, name, random) => {
  while (!context.signal.aborted) {
    await pause(random, 5_000, 15_000 / context.load, context.signal);
    await storm(context, name, random);
  }
};

async function storm(context: SoakContext, name: string, random: Random): Promise<void> {
  if (context.signal.aborted) return;
  const socket = await openWebSocket(context, name);
  if (socket === undefined) return;
  const after = context.served.highest() - HEIGHTS_BACK;
  for (let count = 0; count < RESUMED; count++) socket.subscribe(createAllPricesSubscription(context, after));
  context.judge.count('resume storms');
  await pause(random, 1_000, 3_000, context.signal);
  socket.leave('aborted');
}
