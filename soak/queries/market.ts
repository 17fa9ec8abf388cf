import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { idOfMarket } from '../expected/exchange.ts';
import {
  expectedPairs,
  fieldMismatch,
  listMismatch,
  marketsWithBook,
  PAIR_FIELDS,
  TICKER_FIELDS,
} from '../expected/market.ts';
import { BOOK_FIELDS, type Book, expectedBook } from '../expected/order-book.ts';
import { expectedPools, POOL_FIELDS, type PoolResult } from '../expected/pools.ts';
import type { Operation } from '../judge.ts';

/** All tickers and pairs: all tickers must be of one response of the host. */
export function tickersQuery({ shown, served }: SoakContext): Operation {
  return {
    kind: 'tickers and pairs',
    query: `{ tickers { ${TICKER_FIELDS} } pairs { ${PAIR_FIELDS} } }`,
    check(data, { sentAt }) {
      const { tickers, pairs } = data as { tickers?: readonly unknown[] | null; pairs?: readonly unknown[] | null };
      return (
        fieldMismatch(pairs, 'pairs', (rows) => listMismatch(rows, expectedPairs(shown.chain), 'pairs')) ??
        fieldMismatch(tickers, 'tickers', (rows) => tickersMismatch(rows, served.markets(sentAt)))
      );
    },
  };
}

/** The mismatch of tickers with every response of the host meanwhile. */
export function tickersMismatch(
  rows: readonly unknown[],
  shown: readonly { readonly tickers: readonly unknown[] }[],
): string | undefined {
  let mismatch: string | undefined = 'the host showed no tickers';
  for (const { tickers } of shown) {
    mismatch = listMismatch(rows, tickers, 'tickers');
    if (mismatch === undefined) return undefined;
  }
  return `no match with the tickers of ${shown.length} blocks, with the first: ${mismatch}`;
}

/** A ticker with its order book, and the node's pool of the same two tokens: both upstreams in one response. */
export function tickerQuery({ shown, served }: SoakContext, random: Random): Operation {
  const { chain } = shown;
  const market = pick(random, marketsWithBook(chain));
  const place = chain.markets.indexOf(market);
  const depth = pick(random, [0, 2, 7, 20, 100]);
  return {
    kind: 'a ticker with its book and its pool',
    query: `query ($poolId: String!, $tickerId: String!, $depth: Int!) {
      beaconHeight
      ticker(poolId: $poolId) { ${TICKER_FIELDS} }
      orderBook(tickerId: $tickerId, depth: $depth) { ${BOOK_FIELDS} }
      pair(poolId: $poolId) { poolPair { ${POOL_FIELDS} } }
    }`,
    variables: { poolId: market.poolId, tickerId: market.tickerId, depth },
    check(data, times) {
      const { beaconHeight, ticker, orderBook, pair } = data as {
        beaconHeight?: number;
        ticker?: object | null;
        orderBook?: Book | null;
        pair?: { readonly poolPair: PoolResult | null } | null;
      };
      const markets = served.markets(times.sentAt);
      const id = `PoolPair:${idOfMarket(chain, market)}`;
      return (
        fieldMismatch(ticker, 'ticker', (actual) =>
          tickersMismatch(
            [actual],
            markets.map(({ tickers }) => ({ tickers: tickers.slice(place, place + 1) })),
          ),
        ) ??
        (orderBook === undefined
          ? undefined
          : bookMismatch(
              orderBook,
              (block) => expectedBook(chain, market, block, depth),
              shown.since(times.sentAt - BOOK_MS),
            )) ??
        (beaconHeight === undefined
          ? undefined
          : fieldMismatch(pair, 'pair', ({ poolPair }) =>
              served.mismatch(beaconHeight, times, (block) =>
                listMismatch([poolPair], [expectedPools(chain, block).get(id) ?? null], 'poolPair'),
              ),
            ))
      );
    },
  };
}

/** Maximum age of an order book. The gateway reads it on demand, and never serves an older one. */
export const BOOK_MS = 4_000;

type Shown = ReturnType<SoakContext['shown']['since']>;

/** The mismatch of an order book with those of the host at these blocks. */
export function bookMismatch(
  book: Book | null,
  expected: (block: Shown[number]['block']) => Book,
  shown: Shown,
): string | undefined {
  if (book === null) return 'null, though the ticker exists';
  const blocks = shown.filter(({ block }) => new Date(block.time * 1_000).toISOString() === book.timestamp);
  let mismatch: string | undefined = `a book of ${book.timestamp}, which the host did not show meanwhile`;
  for (const { block } of blocks) {
    mismatch = listMismatch([book], [expected(block)], 'orderBook');
    if (mismatch === undefined) return undefined;
  }
  return mismatch;
}
