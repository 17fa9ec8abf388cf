import { MAX_AMOUNT } from './amount.ts';
import type { RouteSearch } from './best-route.ts';
import type { ExchangeSwaps, Hop } from './exchange-swaps.ts';
import { otherSide, type PoolGraph } from './pool-graph.ts';
import type { PoolSwap } from './pool-swap.ts';
import { findLayers, optimumOf, placesTo } from './route-bounds.ts';
import { isBetterAmount, isBetterBound, noBound, type TradeDirection } from './swap.ts';
import { leastAlong, sellAlong } from './swap-route.ts';

/** The longest route that the third version of the exchange accepts. */
export const MAX_HOPS_V3 = 5;

/**
 * Maximum number of exact trades through a pool in one search. A search in an exchange whose pools disagree about prices so much that
 * it would need more of them ends with the best route that it has found.
 */
const MAX_TRADES = 20_000;

/** A route, in the order of the trade, and the amount that it gives or needs. */
type Found = { readonly route: readonly Hop[]; readonly amount: bigint };

/**
 * Finds the best route of V3: of all paths of at most `maxHops` pools on which no token comes twice, and whose pools accept the
 * trade, the one that gives the most, or needs the least. Of equally good ones it is the shortest, and then the one whose pools come
 * first by their ids, from the token that is sold.
 *
 * The dynamic program of V1 is not enough: the best amount of a token can be one that the next pool refuses, and two pools of the same
 * tokens can give back more than they were sent. So this is a depth-first search over paths, with exact amounts. It goes no further
 * where even the best continuation could not reach the best route that is known. The bound of all continuations is computed backwards
 * from the end, in floating point and never too strict. It ignores refusals and repeated tokens, which can only make it looser. The
 * search starts with a route from a dynamic program, which is nearly always the best one.
 *
 * The result is exact unless the search ends after {@link MAX_TRADES} trades.
 *
 * @returns `undefined` if there is no route
 */
export function findRoute(swaps: ExchangeSwaps, graph: PoolGraph, search: RouteSearch): Found | undefined {
  const { direction, start, end, amount, maxHops } = search;
  const { placesOf, tokensAt } = graph;
  let best: Found | undefined;
  let trades = 0;
  /** For each number of pools left and each token, the amount from which the best known route can still be reached. */
  let needed: readonly Float64Array[] = [];
  const visited = new Set([start]);

  function require(other: bigint): void {
    const back: TradeDirection = direction === 'SELLING' ? 'BUYING' : 'SELLING';
    const layers = findLayers(
      swaps,
      graph,
      { direction: back, start: end, end: start, amount: Number(other), maxHops },
      false,
    );
    const none = noBound(back);
    const sums: Float64Array[] = [];
    for (const { amounts } of layers) {
      const before = sums.at(-1);
      sums.push(
        before === undefined ? amounts : amounts.map((each, token) => betterOf(back, each, before[token] ?? none)),
      );
    }
    needed = sums;
  }

  function offer(found: Found): void {
    const before = best;
    if (before !== undefined && !isBetter(direction, found, before)) return;
    best = found;
    if (before === undefined || isMuchBetter(direction, found.amount, before.amount)) require(found.amount);
  }

  /** @param pools those of the hops, in the order of the trade */
  function visit(token: number, known: bigint, hops: readonly Hop[], pools: readonly PoolSwap[]): void {
    const left = maxHops - hops.length - 1;
    for (const place of placesOf[token] ?? []) {
      if (trades >= MAX_TRADES) return;
      const side = 1 - otherSide(tokensAt, place, token);
      const neighbour = tokensAt[place * 2 + 1 - side] ?? 0;
      if (visited.has(neighbour) || (left === 0 && neighbour !== end) || !swaps.isTradable(place)) continue;
      const enough = needed[neighbour === end ? 0 : left]?.[neighbour] ?? 0;
      if (isTooLittle(direction, optimumOf(swaps, direction, place, side, Number(known)), enough)) continue;

      trades += 1;
      const hop = { place, side: direction === 'SELLING' ? side : 1 - side };
      const route = direction === 'SELLING' ? [...hops, hop] : [hop, ...hops];
      const pool = swaps.swapOf(hop);
      const through = direction === 'SELLING' ? [...pools, pool] : [pool, ...pools];
      const other = direction === 'SELLING' ? pool.sell(known) : leastAlong(through, amount, 1n, known);
      if (typeof other !== 'bigint' || isTooLittle(direction, Number(other), enough)) continue;
      if (neighbour === end) {
        offer({ route, amount: other });
        continue;
      }
      visited.add(neighbour);
      visit(neighbour, other, route, through);
      visited.delete(neighbour);
    }
  }

  for (const found of likelyRoutes(swaps, graph, search))
    if (best === undefined || isBetter(direction, found, best)) best = found;
  require(best?.amount ?? (direction === 'SELLING' ? 1n : MAX_AMOUNT));
  visit(start, amount, [], []);
  return best;
}

/** Routes that are likely to be the best of their length, with their exact amounts. */
function likelyRoutes(swaps: ExchangeSwaps, graph: PoolGraph, search: RouteSearch): Found[] {
  const { direction, start, end, amount, maxHops } = search;
  const layers = findLayers(swaps, graph, { ...search, amount: Number(amount) }, true);
  const found: Found[] = [];
  for (let hops = 1; hops <= maxHops; hops++) {
    if (layers[hops]?.amounts[end] === noBound(direction)) continue;
    let token = start;
    const route = placesTo(graph, layers, end, hops).map((place): Hop => {
      const side = 1 - otherSide(graph.tokensAt, place, token);
      token = graph.tokensAt[place * 2 + 1 - side] ?? 0;
      return { place, side: direction === 'SELLING' ? side : 1 - side };
    });
    if (direction === 'BUYING') route.reverse();
    const pools = route.map((hop) => swaps.swapOf(hop));
    const other = direction === 'SELLING' ? sellAllAlong(pools, amount) : leastAlong(pools, amount);
    if (other !== undefined) found.push({ route, amount: other });
  }
  return found;
}

function sellAllAlong(pools: readonly PoolSwap[], sold: bigint): bigint | undefined {
  const amounts = sellAlong(pools, sold);
  return typeof amounts === 'string' ? undefined : amounts.at(-1);
}

/** Whether an amount is too little to reach the best known route. Conversions of whole numbers are rounded. */
function isTooLittle(direction: TradeDirection, amount: number, enough: number): boolean {
  return isBetterBound(direction, enough, direction === 'SELLING' ? amount * (1 + 2 ** -50) : amount * (1 - 2 ** -50));
}

function betterOf(direction: TradeDirection, one: number, other: number): number {
  return isBetterBound(direction, one, other) ? one : other;
}

/** Whether the bounds are worth to be computed again. */
function isMuchBetter(direction: TradeDirection, amount: bigint, than: bigint): boolean {
  return direction === 'SELLING' ? amount * 1_000n > than * 1_001n : amount * 1_001n < than * 1_000n;
}

function isBetter(direction: TradeDirection, one: Found, other: Found): boolean {
  if (one.amount !== other.amount) return isBetterAmount(direction, one.amount, other.amount);
  if (one.route.length !== other.route.length) return one.route.length < other.route.length;
  const index = one.route.findIndex(({ place }, hop) => place !== other.route[hop]?.place);
  return index >= 0 && (one.route[index]?.place ?? 0) < (other.route[index]?.place ?? 0);
}
