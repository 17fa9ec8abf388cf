import type { Block } from './block.ts';
import type { WorldMarket } from './markets.ts';
import { createRandom, type Random } from './random.ts';
import { priceOf } from './tickers.ts';

/** One order: its price, in target tokens for one base token, and its quantity of base tokens. */
export type Order = readonly [price: number, quantity: number];

/** Both sides of a book, each in no order at all, as the host sends them. */
export type Orders = { readonly bids: readonly Order[]; readonly asks: readonly Order[] };

/**
 * The orders of a market at a block, as odd as the recorded ones: unsorted, for every third market crossed, with prices
 * that repeat, bids of 1e-8, asks far away, dust in the quantities. The same block always has the same orders.
 */
export function ordersOf(seed: number, market: WorldMarket, block: Block): Orders {
  if (market.oddity === 'empty book') return { bids: [], asks: [] };

  const random = createRandom(seed, 'orders', market.index, block.height, block.version);
  const price = priceOf(market, block);
  const thin = market.oddity === 'thin book';
  const count = () => (thin ? 1 + random.below(8) : 51 + random.below(60));
  const crossing = market.index % 3 === 0 && !thin ? 1.04 : 0.999;
  const bids = sideOf(random, count(), price * crossing, -1);
  const asks = sideOf(random, count(), price / crossing, 1);

  if (!thin) {
    bids.push([1e-8, 1], [1e-8, 1]);
    asks.push([significant(price * 15_000), 4e-9]);
  }
  return { bids: shuffled(bids, random), asks: shuffled(asks, random) };
}

function sideOf(random: Random, count: number, best: number, direction: 1 | -1): Order[] {
  const orders: Order[] = [[significant(best), quantityOf(random)]];
  while (orders.length < count) {
    const previous = orders.at(-1)?.[0] ?? best;
    const away = direction * (random.unit() ** 3 * 0.3 + 0.0001);
    orders.push([random.chance(0.1) ? previous : significant(best * (1 + away)), quantityOf(random)]);
  }
  return orders;
}

// A multiple of 1e-9 in floating point, which is where the dust of the recorded quantities comes from.
function quantityOf(random: Random): number {
  return Math.ceil(10 ** random.between(0, 10)) * 1e-9;
}

function significant(price: number): number {
  return Number(price.toPrecision(12));
}

function shuffled(orders: Order[], random: Random): readonly Order[] {
  for (let i = orders.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    const [one, other] = [orders[i], orders[j]];
    if (one && other) [orders[i], orders[j]] = [other, one];
  }
  return orders;
}
