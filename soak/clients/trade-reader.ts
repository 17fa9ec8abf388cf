import type { Random } from '../../src/sandbox/chain/random.ts';
import { type Client, pause, pick, type SoakContext } from '../context.ts';
import { isV3, tradingPools } from '../expected/exchange.ts';
import { placeOf, type TradePlace } from '../expected/pool-trades.ts';
import { createHttpClient, type HttpClient } from '../http-client.ts';
import { type TradesOfPool, tradesQuery } from '../queries/pool-trades.ts';

/** Reads the trades of pools page by page while new blocks arrive: no trade may be lost, and none may come twice. None in V1. */
export const readTrades: Client = async (context, name, random) => {
  if (!isV3(context.shown.chain)) return;
  const client = createHttpClient(context, name);
  while (!context.signal.aborted) {
    await walk(context, random, client);
    await pause(random, 100, 800 / context.load, context.signal);
  }
  await client.close();
};

async function walk(context: SoakContext, random: Random, client: HttpClient): Promise<void> {
  const { shown, signal, judge } = context;
  const pool = pick(random, tradingPools(shown.chain));
  const first = pick(random, [3, 10, 25]);
  let after: { readonly cursor: string; readonly place: TradePlace } | undefined;
  let pages = 0;
  for (let more = true; more && !signal.aborted && pages < MAX_PAGES; pages++) {
    const answer = await client.execute(tradesQuery(context, { pool, hours: 1, first, after }));
    const { trades } = (answer?.data?.['pool'] ?? {}) as TradesOfPool;
    if (!trades) return;
    const { endCursor: cursor, hasNextPage } = trades.pageInfo;
    const place = placeOf(shown, trades.nodes.at(-1));
    more = hasNextPage && cursor !== null && place !== undefined;
    if (cursor !== null && place !== undefined) after = { cursor, place };
    await pause(random, 0, 1_500, signal);
  }
  if (!signal.aborted) judge.count('walks through the trades of a pool');
}

/** The trades of an hour have a few pages. */
const MAX_PAGES = 12;
