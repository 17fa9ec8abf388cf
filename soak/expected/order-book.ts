import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import type { ChainMarket } from '../../src/sandbox/chain/markets.ts';
import { type Order, ordersOf } from '../../src/sandbox/chain/order-book.ts';

/** The fields of an order book that are requested. */
export const BOOK_FIELDS =
  'tickerId message timestamp bestBid bestAsk midPrice spread bids { price quantity cumulativeQuantity cumulativeTotal exactPrice } asks { price quantity cumulativeQuantity cumulativeTotal exactPrice } quality { isCrossed entriesMerged entriesDropped timestampUnit }';

/** An expected order book. */
export type Book = {
  readonly tickerId: string;
  /** As a date. */
  readonly timestamp: string;
  readonly bids: readonly Entry[];
  readonly asks: readonly Entry[];
};

type Entry = {
  readonly price: number;
  readonly quantity: number;
  readonly cumulativeQuantity: number;
  readonly cumulativeTotal: number;
  readonly exactPrice: string;
};

/** The book of a market at a block, to a depth of both sides together; 0 is everything. */
export function expectedBook(chain: Chain, market: ChainMarket, block: Block, depth: number): Book {
  const orders = ordersOf(chain.seed, market, block);
  const bids = inOrder(orders.bids).reverse();
  const asks = inOrder(orders.asks);
  const [bestBid, bestAsk] = [bids[0]?.[0], asks[0]?.[0]];
  const shown = depth === 0 ? Number.POSITIVE_INFINITY : Math.ceil(depth / 2);

  const book = {
    tickerId: market.tickerId,
    message: 'OK',
    timestamp: new Date(block.time * 1_000).toISOString(),
    bestBid: bestBid ?? null,
    bestAsk: bestAsk ?? null,
    midPrice: bestBid === undefined || bestAsk === undefined ? null : (bestBid + bestAsk) / 2,
    spread: bestBid === undefined || bestAsk === undefined ? null : bestAsk - bestBid,
    bids: cumulated(bids).slice(0, shown),
    asks: cumulated(asks).slice(0, shown),
    quality: {
      isCrossed: bestBid !== undefined && bestAsk !== undefined && bestBid > bestAsk,
      entriesMerged: orders.bids.length + orders.asks.length - bids.length - asks.length,
      entriesDropped: 0,
      timestampUnit: 'SECONDS',
    },
  };
  return book;
}

/** In ascending order of price. The quantities of a price are added in the order in which the host sends them. */
function inOrder(orders: readonly Order[]): [price: number, quantity: number][] {
  const prices = [...new Set(orders.map(([price]) => price))].sort((one, other) => one - other);
  return prices.map((price) => [
    price,
    orders.reduce((sum, [at, quantity]) => (at === price ? sum + quantity : sum), 0),
  ]);
}

function cumulated(side: readonly (readonly [number, number])[]): Entry[] {
  let cumulativeQuantity = 0;
  let cumulativeTotal = 0;
  return side.map(([price, quantity]) => {
    cumulativeQuantity += quantity;
    cumulativeTotal += price * quantity;
    // The sandbox writes numbers as JavaScript does.
    return { price, quantity, cumulativeQuantity, cumulativeTotal, exactPrice: String(price) };
  });
}
