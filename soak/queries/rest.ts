import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import type { ChainMarket } from '../../src/sandbox/chain/markets.ts';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { marketsWithBook } from '../expected/market.ts';
import { type Book, expectedBook } from '../expected/order-book.ts';
import { expectedPoolPrice } from '../expected/pools.ts';
import type { GraphqlResponse, Operation, RequestTimes } from '../judge.ts';
import { BOOK_MS, bookMismatch, tickersMismatch } from './market.ts';

/** A request to the REST API, and how its response is judged: as that of an operation with the same data. */
export type RestRequest = {
  /** Below the path of the partner. */
  readonly path: string;
  readonly operation: Operation;
  /** The path of an error of the node, as GraphQL names it; by default, all errors are of the market-data host. */
  readonly ofNode?: readonly string[];
  /** The data of GraphQL in a document. @param height the beacon height of its pool prices */
  toData(document: Document, height: number | undefined): NonNullable<GraphqlResponse['data']>;
};

type Document = Readonly<Record<string, unknown>>;
type TickerDocument = Readonly<Record<string, string | number | null>>;
type Sides = { readonly bids: readonly Offer[]; readonly asks: readonly Offer[] };
type Offer = readonly [price: number, quantity: number];

/** The tickers, with the prices of pools of one height. */
export function tickersRequest(context: SoakContext): RestRequest {
  const { shown, served } = context;
  const { chain } = shown;
  return {
    path: 'tickers',
    operation: {
      kind: 'tickers by REST',
      query: 'GET tickers',
      check(data, times) {
        const { tickers, poolPrices, height } = data as Record<string, readonly unknown[]> & { height?: number };
        const mismatch = tickersMismatch(tickers ?? [], served.markets(times.sentAt));
        if (mismatch !== undefined) return mismatch;
        if (height === undefined) return withoutHeight(context, times);
        return served.mismatch(height, times, (block) =>
          pricesMismatch(
            poolPrices ?? [],
            chain.markets.map((market) => expectedPoolPrice(chain, block, market)),
          ),
        );
      },
    },
    toData: ({ tickers }, height) => ({
      tickers: (tickers as TickerDocument[]).map(toTicker),
      poolPrices: (tickers as TickerDocument[]).map((ticker) => ticker['pool_price'] ?? null),
      ...(height !== undefined && { height }),
    }),
  };
}

/**
 * The mismatch of a document without the height of its node data. A gateway may have no height until it has read the first one. In a
 * fleet, a fault can make it start again.
 */
export function withoutHeight(context: SoakContext, { sentAt, minHeight }: RequestTimes): string | undefined {
  const { replicas, outages, served } = context;
  const hasStarted = minHeight > served.start && (replicas === 1 || outages.couldBeRead('NODE', sentAt, sentAt));
  return hasStarted ? 'a document without x-pdex-height' : undefined;
}

function toTicker(ticker: TickerDocument) {
  return {
    poolId: ticker['pool_id'],
    tickerId: ticker['ticker_id'],
    baseId: ticker['base_id'],
    targetId: ticker['target_id'],
    baseCurrency: ticker['base_currency'],
    targetCurrency: ticker['target_currency'],
    lastPrice: ticker['last_price'],
    baseVolume: ticker['base_volume'],
    targetVolume: ticker['target_volume'],
  };
}

function pricesMismatch(actual: readonly unknown[], expected: readonly unknown[]): string | undefined {
  const index = expected.findIndex((price, at) => price !== actual[at]);
  return index < 0 ? undefined : `pool_price of tickers[${index}] is ${actual[index]} instead of ${expected[index]}`;
}

/** An order book, of any depth. */
export function orderBookRequest({ shown }: SoakContext, random: Random): RestRequest {
  const { chain } = shown;
  const market = pick(random, marketsWithBook(chain));
  const depth = pick(random, [0, 2, 7, 20, 100]);
  const path = `orderbook?ticker_id=${market.tickerId}&depth=${depth}`;
  return {
    path,
    operation: {
      kind: 'an order book by REST',
      query: `GET ${path}`,
      check: (data, { sentAt }) =>
        bookMismatch(
          data['book'] as Book,
          (block) => toBook(chain, market, block, depth),
          shown.since(sentAt - BOOK_MS),
        ),
    },
    toData: ({ ticker_id: tickerId, message, timestamp, bids, asks }) => ({
      book: {
        tickerId,
        message,
        timestamp: new Date(Number(timestamp)).toISOString(),
        ...rounded({ bids, asks } as Sides),
      },
    }),
  };
}

function toBook(chain: Chain, market: ChainMarket, block: Block, depth: number): Book {
  const { tickerId, timestamp, bids, asks } = expectedBook(chain, market, block, depth);
  const toOffers = (side: Book['bids']) => side.map(({ price, quantity }): Offer => [price, quantity]);
  const sides = rounded({ bids: toOffers(bids), asks: toOffers(asks) });
  return { tickerId, message: 'OK', timestamp, ...sides } as unknown as Book;
}

/** The gateway adds quantities exactly, and what is expected is a sum of doubles. */
function rounded({ bids, asks }: Sides): Sides {
  const round = ([price, quantity]: Offer): Offer => [price, Number(quantity.toPrecision(12))];
  return { bids: bids.map(round), asks: asks.map(round) };
}
