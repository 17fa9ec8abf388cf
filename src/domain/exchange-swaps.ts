import { MAX_AMOUNT } from './amount.ts';
import type { ExchangeState } from './exchange.ts';
import { matchableTerms, ordersSelling, type PoolOrder } from './pool-order.ts';
import { PoolSwap, type SwapRefusal, type SwapSide } from './pool-swap.ts';
import { SwapBound } from './swap-bound.ts';

/** One pool of a route: its place in the directory, and which of its tokens is sold to it: 0 for token 1, 1 for token 2. */
export type Hop = { readonly place: number; readonly side: number };

/** A route, in the order of the trade, and the amount that it gives or needs. */
export type FoundRoute = { readonly route: readonly Hop[]; readonly amount: bigint };

/** One direction of a pool: what it needs to be computed, and what has been computed of it. */
type Direction = { readonly parts: SwapSide; swap?: PoolSwap; bound?: SwapBound };

/**
 * The trades through the pools of a state. A pool of V1 is one of V3 without amplification and orders.
 *
 * What is computed of a pool is computed when a trade first needs it, and used again by later trades. So keep this object as long
 * as the state is in use. It takes up to a few hundred bytes for each order.
 */
export class ExchangeSwaps {
  readonly state: ExchangeState;
  readonly #ordersAt: (place: number) => readonly PoolOrder[];
  readonly #directions: (Direction | undefined)[] = [];
  #isTradable: readonly boolean[] | undefined;

  /** @param ordersAt the orders of a pool; by default those of the state, which can have none */
  constructor(state: ExchangeState, ordersAt = (place: number) => state.v3?.orders?.[place] ?? []) {
    this.state = state;
    this.#ordersAt = ordersAt;
  }

  /** Whether the pool holds both of its tokens: it refuses every trade otherwise. */
  isTradable(place: number): boolean {
    const { directory, reserves, v3 } = this.state;
    const values = v3?.values ?? reserves;
    this.#isTradable ??= directory.ids.map((_, each) => values[each * 2] !== 0n && values[each * 2 + 1] !== 0n);
    return this.#isTradable[place] ?? false;
  }

  /** The exact trades through a pool. */
  swapOf({ place, side }: Hop): PoolSwap {
    const direction = this.#directionOf(place, side);
    direction.swap ??= new PoolSwap(direction.parts);
    return direction.swap;
  }

  /** The bounds of the trades through a pool that sell its token of that side. */
  boundOf(place: number, side: number): SwapBound {
    const direction = this.#directionOf(place, side);
    direction.bound ??= new SwapBound(direction.parts);
    return direction.bound;
  }

  #directionOf(place: number, side: number): Direction {
    const index = place * 2 + side;
    const known = this.#directions[index];
    if (known !== undefined) return known;
    const { reserves, v3 } = this.state;
    const values = v3?.values ?? reserves;
    const other = place * 2 + 1 - side;
    const parts = {
      virtualIn: reserves[index] ?? 0n,
      virtualOut: reserves[other] ?? 0n,
      realIn: values[index] ?? 0n,
      realOut: values[other] ?? 0n,
      // The exchange would take a trade of V1 after which an amount is too large to be stored.
      ...(v3 === undefined && { maxIn: 2n * MAX_AMOUNT }),
      orders: matchableTerms(ordersSelling(this.#ordersAt(place), side === 0 ? 2 : 1)),
    };
    const created: Direction = { parts };
    this.#directions[index] = created;
    return created;
  }
}

/** The amounts of a trade along a route, before and after each pool, or why the first pool that refuses it does so. */
export function sellAlong(route: readonly PoolSwap[], sold: bigint): bigint[] | SwapRefusal {
  const amounts = [sold];
  let amount = sold;
  for (const pool of route) {
    const bought = pool.sell(amount);
    if (typeof bought === 'string') return bought;
    amounts.push(bought);
    amount = bought;
  }
  return amounts;
}

/**
 * The least amount whose trade along a route is accepted by all pools and buys at least `wanted`; `undefined` if there is none up to
 * 2^64 - 1.
 *
 * If it buys more than the rest of the route needs, and the rest refuses that, the next larger amount that the rest accepts is needed.
 *
 * @param wanted above 0
 * @param known the least amount that the rest of the route needs, if it is known: that of the route without its first pool
 */
export function leastAlong(route: readonly PoolSwap[], wanted: bigint, known?: bigint): bigint | undefined {
  // The least amount that is needed from each pool on. Computed again for each amount that a pool refuses, it would take quadratic time.
  const needs: (bigint | undefined)[] = [undefined, known];

  function leastFrom(index: number, minimum: bigint): bigint | undefined {
    const pool = route[index];
    if (pool === undefined) return wanted > minimum ? wanted : minimum;
    needs[index + 1] ??= leastFrom(index + 1, 1n);
    let needed = needs[index + 1];
    while (needed !== undefined) {
      const sold = pool.least(needed, minimum);
      const bought = sold === undefined ? undefined : pool.sell(sold);
      if (typeof bought !== 'bigint') return undefined;
      if (bought === needed || typeof sellAlong(route.slice(index + 1), bought) !== 'string') return sold;
      needed = leastFrom(index + 1, bought);
    }
    return undefined;
  }

  return leastFrom(0, 1n);
}
