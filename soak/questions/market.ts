import type { Random } from '../../src/sandbox/chain/random.ts';
import type { Question } from '../judge.ts';
import { pick, type Stage } from '../stage.ts';
import { listMisfit, marketsWithBook, PAIR_FIELDS, pairsOf, TICKER_FIELDS } from '../truth/market.ts';
import { BOOK_FIELDS, type Book, bookOf } from '../truth/order-book.ts';
import { POOL_FIELDS, type PoolTold, poolsAt } from '../truth/pools.ts';

/** All tickers and pairs: every ticker must be of one answer of the host. */
export function askTickers({ shown, served }: Stage): Question {
  return {
    kind: 'tickers and pairs',
    query: `{ tickers { ${TICKER_FIELDS} } pairs { ${PAIR_FIELDS} } }`,
    check(data, { sentAt }) {
      const { tickers, pairs } = data as { tickers?: readonly unknown[]; pairs?: readonly unknown[] };
      return (
        (pairs && listMisfit(pairs, pairsOf(shown.chain), 'pairs')) ??
        (tickers && tickersMisfit(tickers, served.markets(sentAt)))
      );
    },
  };
}

/** Why tickers are of no answer that the host gave meanwhile. */
export function tickersMisfit(
  rows: readonly unknown[],
  shown: readonly { readonly tickers: readonly unknown[] }[],
): string | undefined {
  let misfit: string | undefined = 'the host showed nothing';
  for (const { tickers } of shown) {
    misfit = listMisfit(rows, tickers, 'tickers');
    if (misfit === undefined) return undefined;
  }
  return `not what the host said at any of ${shown.length} blocks, at the first: ${misfit}`;
}

/** A ticker with its order book, and the node's pool of the same two tokens: both upstreams in one answer. */
export function askTicker({ shown, served }: Stage, random: Random): Question {
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
    check(data, moment) {
      const { beaconHeight, ticker, orderBook, pair } = data as {
        beaconHeight?: number;
        ticker?: object;
        orderBook?: Book | null;
        pair?: { readonly poolPair: PoolTold | null };
      };
      const markets = served.markets(moment.sentAt);
      const id = `PoolPair:${market.token1.id}-${market.token2.id}`;
      return (
        (ticker &&
          tickersMisfit(
            [ticker],
            markets.map(({ tickers }) => ({ tickers: tickers.slice(place, place + 1) })),
          )) ??
        (orderBook === undefined
          ? undefined
          : bookMisfit(
              orderBook,
              (block) => bookOf(chain, market, block, depth),
              shown.since(moment.sentAt - BOOK_MS),
            )) ??
        (beaconHeight === undefined || pair === undefined
          ? undefined
          : served.misfit(beaconHeight, moment, (block) =>
              listMisfit([pair.poolPair], [poolsAt(chain, block).get(id) ?? null], 'poolPair'),
            ))
      );
    },
  };
}

/** A book is read again when it is asked for: none that is older is given, whatever happens to the host. */
const BOOK_MS = 4_000;

type Shown = ReturnType<Stage['shown']['since']>;

/** Why a book is not what the host showed at any of these blocks. */
export function bookMisfit(
  book: Book | null,
  expected: (block: Shown[number]['block']) => Book,
  shown: Shown,
): string | undefined {
  if (book === null) return 'there is such a ticker';
  const blocks = shown.filter(({ block }) => new Date(block.time * 1_000).toISOString() === book.timestamp);
  let misfit: string | undefined = `a book of ${book.timestamp}, which the host did not show meanwhile`;
  for (const { block } of blocks) {
    misfit = listMisfit([book], [expected(block)], 'orderBook');
    if (misfit === undefined) return undefined;
  }
  return misfit;
}
