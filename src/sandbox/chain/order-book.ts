import type { Order as V3Order } from '../v3/pool.ts';
import type { Block } from './block.ts';
import type { ChainMarket } from './markets.ts';
import { createRandom, type Random } from './random.ts';
import { priceOf } from './tickers.ts';
import type { ChainToken } from './tokens.ts';

/** An order: its price in target tokens per base token, and its quantity in base tokens. */
export type Order = readonly [price: number, quantity: number];

/** Both sides of an order book in the order in which the host sends them: the best price first, except in unsorted books. */
export type Orders = { readonly bids: readonly Order[]; readonly asks: readonly Order[] };

/**
 * The orders of a market at a block. Books are sorted and uncrossed, unless the market has another oddity. The same block
 * always has the same orders.
 */
export function ordersOf(seed: number, market: ChainMarket, block: Block): Orders {
  const pool = block.v3?.states.get(market.poolId);
  if (pool !== undefined) return ordersOnChain(market, pool.orders);
  switch (market.oddity) {
    case 'empty book':
      return { bids: [], asks: [] };
    case 'unsorted book':
      return unsortedOrders(seed, market, block, 0.999);
    case 'crossed book':
      return unsortedOrders(seed, market, block, 1.04);
    default:
      return { bids: sortedSide(seed, market, block, -1), asks: sortedSide(seed, market, block, 1) };
  }
}

/** The orders of a pool of the exchange with their original amounts, as the host shows them. */
function ordersOnChain({ token1, token2, base, target }: ChainMarket, orders: readonly V3Order[]): Orders {
  const side = (sold: ChainToken, direction: 1 | -1) =>
    orders
      .filter(({ sells }) => (sells === 0 ? token1 : token2) === sold)
      .map(({ rates: [rate1, rate2] }): Order => {
        const [inBase, inTarget] = base === token1 ? [rate1, rate2] : [rate2, rate1];
        const quantity = Number(inBase) / 10 ** base.decimals;
        return [significant(Number(inTarget) / 10 ** target.decimals / quantity, 12), quantity];
      })
      .sort(([one], [another]) => (one - another) * direction);
  return { bids: side(target, -1), asks: side(base, 1) };
}

// The fee of a trade with a pool. Nobody places orders within this distance of the pool's price.
const POOL_FEE = 0.003;

// The distances of the levels from the price never change. Each block changes some quantities.
function sortedSide(seed: number, market: ChainMarket, block: Block, direction: 1 | -1): readonly Order[] {
  const levels = createRandom(seed, 'levels', market.index, direction);
  const changes = createRandom(seed, 'levels', market.index, direction, block.height, block.version);
  const { usd, decimals } = market.base;
  const price = priceOf(market, block);
  const orders: Order[] = [];

  let away = POOL_FEE;
  for (let left = market.oddity === 'thin book' ? 1 + levels.below(8) : 51 + levels.below(60); left > 0; left--) {
    const worth = 10 ** levels.between(1, 4) * (changes.chance(0.2) ? changes.between(0.3, 1) : 1);
    orders.push([significant(price * (1 + direction * away), 6), wholeUnits(worth / usd, decimals)]);
    away += levels.between(0.0002, 0.003);
  }
  return orders;
}

// At least one smallest unit, with at most six decimals.
function wholeUnits(quantity: number, decimals: number): number {
  const shown = Math.min(decimals, 6);
  return Math.max(10 ** -shown, Number(quantity.toFixed(shown)));
}

// Like the recorded book: repeated prices, bids of 1e-8, asks far away, quantities with floating-point noise.
function unsortedOrders(seed: number, market: ChainMarket, block: Block, crossing: number): Orders {
  const random = createRandom(seed, 'orders', market.index, block.height, block.version);
  const price = priceOf(market, block);
  const bids = recordedSide(random, price * crossing, -1);
  const asks = recordedSide(random, price / crossing, 1);

  bids.push([1e-8, 1], [1e-8, 1]);
  asks.push([significant(price * 15_000, 12), 4e-9]);
  return { bids: shuffled(bids, random), asks: shuffled(asks, random) };
}

function recordedSide(random: Random, best: number, direction: 1 | -1): Order[] {
  const count = 51 + random.below(60);
  const orders: Order[] = [[significant(best, 12), dusty(random)]];
  while (orders.length < count) {
    const previous = orders.at(-1)?.[0] ?? best;
    const away = direction * (random.unit() ** 3 * 0.3 + 0.0001);
    orders.push([random.chance(0.1) ? previous : significant(best * (1 + away), 12), dusty(random)]);
  }
  return orders;
}

// A multiple of 1e-9 in floating point, which has the noise of the recorded quantities.
function dusty(random: Random): number {
  return Math.ceil(10 ** random.between(0, 10)) * 1e-9;
}

function significant(price: number, digits: number): number {
  return Number(price.toPrecision(digits));
}

function shuffled(orders: Order[], random: Random): readonly Order[] {
  for (let i = orders.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    const [one, other] = [orders[i], orders[j]];
    if (one && other) [orders[i], orders[j]] = [other, one];
  }
  return orders;
}
