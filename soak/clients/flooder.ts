import type { Random } from '../../src/sandbox/chain/random.ts';
import { createHttpClient } from '../ask.ts';
import type { Question } from '../judge.ts';
import { openSocket } from '../socket.ts';
import { type Client, pause, pick, type Stage } from '../stage.ts';
import { createAllPricesStream } from '../streams/prices-stream.ts';

/** Ticker ids that no market has. */
const ABSURD: readonly ((random: Random) => string)[] = [
  (random) => random.hex(32),
  (random) => `${random.hex(8)}/../../pairs`,
  (random) => `?ticker_id=pBTC_PRV&${random.hex(8)}`,
  (random) => `${'ä∞\u0000😀'.repeat(20)}${random.hex(8)}`,
  (random) => random.hex(4_000),
  (random) => `pBTC_PRV ${random.hex(4)}`,
];

const AT_ONCE = 40;

/** Asks for the order books of very many tickers that there are not, at once. */
export const floodOrderBooks: Client = async (stage, name, random) => {
  const clients = Array.from({ length: AT_ONCE }, () => createHttpClient(stage, name));
  while (!stage.signal.aborted) {
    await Promise.all(clients.map((client) => client.ask(askAbsurdBook(random))));
    await pause(random, 0, 3_000 / stage.load, stage.signal);
  }
  await Promise.all(clients.map((client) => client.close()));
};

function askAbsurdBook(random: Random): Question {
  return {
    kind: 'an absurd order book',
    query: 'query ($tickerId: String!) { orderBook(tickerId: $tickerId) { message } }',
    variables: { tickerId: pick(random, ABSURD)(random) },
    mayFailWith: ['UPSTREAM_BUSY'],
    check: ({ orderBook }) => (orderBook == null ? undefined : 'there is no such ticker'),
  };
}

const RESUMED = 50;
const HEIGHTS_BACK = 30;

/** Comes back with very many subscriptions at once, each of which is owed very many heights. */
export const stormBack: Client = async (stage, name, random) => {
  while (!stage.signal.aborted) {
    await pause(random, 5_000, 15_000 / stage.load, stage.signal);
    await storm(stage, name, random);
  }
};

async function storm(stage: Stage, name: string, random: Random): Promise<void> {
  if (stage.signal.aborted) return;
  const socket = await openSocket(stage, name);
  if (socket === undefined) return;
  const after = stage.served.highest() - HEIGHTS_BACK;
  for (let count = 0; count < RESUMED; count++) socket.follow(createAllPricesStream(stage, after));
  stage.judge.count('resume storms');
  await pause(random, 1_000, 3_000, stage.signal);
  socket.leave('breaking off');
}
