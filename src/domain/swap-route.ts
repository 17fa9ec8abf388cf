import type { PoolSwap, SwapRefusal } from './pool-swap.ts';

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
 * A pool does not give less for more. So the least amount buys at least the least one that the rest of the route needs. It can buy
 * more, and the rest of the route can refuse that: then the next larger amount that the rest accepts is what is needed.
 *
 * @param wanted above 0
 * @param from amounts below it do not count
 * @param known the least amount that the rest of the route needs, if it is known: that of the route without its first pool
 */
export function leastAlong(route: readonly PoolSwap[], wanted: bigint, from = 1n, known?: bigint): bigint | undefined {
  const [pool, ...rest] = route;
  if (pool === undefined) return wanted > from ? wanted : from;
  let needed = known ?? leastAlong(rest, wanted);
  while (needed !== undefined) {
    const sold = pool.least(needed, from);
    const bought = sold === undefined ? undefined : pool.sell(sold);
    if (typeof bought !== 'bigint') return undefined;
    if (bought === needed || typeof sellAlong(rest, bought) !== 'string') return sold;
    needed = leastAlong(rest, wanted, bought);
  }
  return undefined;
}
