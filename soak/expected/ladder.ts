import type { Block } from '../../src/sandbox/chain/block.ts';
import type { ChainToken } from '../../src/sandbox/chain/tokens.ts';
import { amountsAt, type TradingPool } from './exchange.ts';
import { isMatchable } from './pool-swap.ts';

/** What is offered beside the pool, in any order. */
type Offers = Readonly<Record<'bids' | 'asks', readonly Offer[]>>;
type Offer = { readonly price: number; readonly quantity: number };

/** The reserves of a pool, in whole tokens. */
type Reserves = { readonly base: number; readonly target: number };

/** The same with what the pool holds: an amplified pool gives no more than that. */
type Pool = Reserves & { readonly held: Reserves };

/** A level of a side: what can be traded up to its price, of pool and book together. */
export type ExpectedLevel = {
  readonly price: number;
  readonly cumulativeQuantity: number;
  readonly cumulativeTotal: number;
};

/** How many levels a side has, and their distance in percent. */
type Steps = { readonly levels: number; readonly stepPercent: number };

/**
 * One side of a depth ladder, each level on its own: on the curve of the pool the product of the reserves is constant, so its
 * reserve of base tokens at a price is the root of the product divided by the price.
 */
export function expectedLevels(
  { base, target, held }: Pool,
  book: Offers,
  { levels, stepPercent }: Steps,
  side: 'bids' | 'asks',
): readonly ExpectedLevel[] {
  const middle = target / base;
  const sign = side === 'asks' ? 1 : -1;
  // The price at which the pool has given all of its base tokens, or of its target tokens.
  const product = base * target;
  const last = side === 'asks' ? product / (base - held.base) ** 2 : (target - held.target) ** 2 / product;
  return Array.from({ length: levels }, (_, index) => {
    const price = middle * (1 + (sign * (index + 1) * stepPercent) / 100);
    const entries = book[side].filter((entry) => sign * (entry.price - price) <= 0);
    const sum = (amount: (entry: Offer) => number) => entries.reduce((total, entry) => total + amount(entry), 0);
    const reached = sign * (price - last) > 0 ? last : price;
    return {
      price,
      cumulativeQuantity: sign * (base - Math.sqrt(product / reached)) + sum(({ quantity }) => quantity),
      cumulativeTotal: sign * (Math.sqrt(product * reached) - target) + sum((entry) => entry.price * entry.quantity),
    };
  });
}

/** The orders of a pool of V3 as offers: those that sell the base token are asks. Orders that nobody can match are left out. */
export function offersOf(pool: TradingPool, block: Block, base: ChainToken): Offers {
  const side = pool.token1.id === base.id ? 0 : 1;
  const other = side === 0 ? 1 : 0;
  const decimals = [pool.token1.decimals, pool.token2.decimals] as const;
  const offers: Record<'bids' | 'asks', Offer[]> = { bids: [], asks: [] };
  for (const order of amountsAt(pool, block).orders.filter(isMatchable)) {
    const { sells, rates, balances } = order;
    const price = (Number(rates[other]) / Number(rates[side])) * 10 ** (decimals[side] - decimals[other]);
    const quantity = sells === side ? balances[side] : (balances[other] * rates[side]) / rates[other];
    offers[sells === side ? 'asks' : 'bids'].push({ price, quantity: Number(quantity) / 10 ** decimals[side] });
  }
  return offers;
}
