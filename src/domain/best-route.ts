import type { ExchangeSwaps, FoundRoute, Hop } from './exchange-swaps.ts';
import { otherSide, type PoolGraph, toDoubles } from './pool-graph.ts';
import { findLayers, type RouteSearch, type StepBound } from './route-bounds.ts';
import { isBetterAmount, noBound, optimisticBound } from './swap.ts';

/** The longest route for which {@link findRouteV1} is correct: the longest one of V1. */
export const MAX_HOPS_V1 = 4;

/**
 * Finds the best route of V1 between two tokens: of all paths of at most `maxHops` pools on which no token comes twice, the one that
 * gives the most, or needs the least. Pools with an empty side take no part.
 *
 * Of equally good routes it is the shortest. Of several such routes, it is the one whose last step uses the pool with the
 * smallest id, and before this step it is the best route of its length to the token between, by the same rules.
 *
 * It is a dynamic program over the number of pools, first in floating point with bounds, then exact where the bounds leave a choice:
 * see docs/decisions/quotes.md. No step enters the start or leaves the end.
 *
 * @returns `undefined` if there is no route, or none that gives anything
 */
export function findRouteV1(swaps: ExchangeSwaps, graph: PoolGraph, search: RouteSearch): FoundRoute | undefined {
  const { direction, end, amount, maxHops } = search;
  const { placesOf, tokensAt } = graph;
  const isSelling = direction === 'SELLING';
  const none = noBound(direction);
  const reserves = toDoubles(swaps.state.reserves);
  const boundOf: StepBound = (place, side, known) => {
    const reserveOfKnown = reserves[place * 2 + side] ?? 0;
    const reserveOfOther = reserves[place * 2 + 1 - side] ?? 0;
    const isEmpty = reserveOfKnown === 0 || reserveOfOther === 0;
    return isEmpty ? none : optimisticBound(direction, known, reserveOfKnown, reserveOfOther);
  };
  const layers = findLayers(graph, { ...search, amount: Number(amount) }, boundOf, false);
  const solutions = new Map<number, Solution | undefined>();

  /** The best route to a token with exactly that number of pools. */
  function solve(token: number, hops: number): Solution | undefined {
    if (hops === 0) return { amount, hop: { place: -1, side: 0 }, before: undefined };
    const key = token * (MAX_HOPS_V1 + 1) + hops;
    if (!solutions.has(key)) solutions.set(key, findSolution(token, hops));
    return solutions.get(key);
  }

  function findSolution(token: number, hops: number): Solution | undefined {
    const before = layers[hops - 1]?.amounts;
    let best = extend(token, hops, layers[hops]?.places[token] ?? 0);
    for (const place of placesOf[token] ?? []) {
      const side = otherSide(tokensAt, place, token);
      const neighbour = tokensAt[place * 2 + side] ?? 0;
      const known = before?.[neighbour] ?? none;
      if (known === none || neighbour === end) continue;
      const optimum = boundOf(place, side, known);
      if (optimum === none || (best !== undefined && !isBetter(optimum, place, best))) continue;
      const found = extend(token, hops, place);
      if (found !== undefined && (best === undefined || isBetter(found.amount, place, best))) best = found;
    }
    return best;
  }

  /** Of equal amounts, the one of the pool with the smallest id is better. */
  function isBetter(amount: bigint | number, place: number, than: Solution): boolean {
    return (
      isBetterAmount(direction, amount, than.amount) ||
      (place < than.hop.place && !isBetterAmount(direction, than.amount, amount))
    );
  }

  /** The best route to a token with that number of pools whose last one is the pool at that place. */
  function extend(token: number, hops: number, place: number): Solution | undefined {
    const side = otherSide(tokensAt, place, token);
    const before = solve(tokensAt[place * 2 + side] ?? 0, hops - 1);
    if (before === undefined) return undefined;
    const hop = { place, side: isSelling ? side : 1 - side };
    const pool = swaps.swapOf(hop);
    const other = isSelling ? pool.sell(before.amount) : pool.least(before.amount);
    return typeof other === 'bigint' ? { amount: other, hop, before } : undefined;
  }

  let best: Solution | undefined;
  for (let hops = 1; hops <= maxHops; hops++) {
    const optimum = layers[hops]?.amounts[end] ?? none;
    if (optimum === none || (best !== undefined && !isBetterAmount(direction, optimum, best.amount))) continue;
    const found = solve(end, hops);
    if (found !== undefined && (best === undefined || isBetterAmount(direction, found.amount, best.amount)))
      best = found;
  }
  if (best === undefined) return undefined;
  const route = toHops(best);
  return { route: isSelling ? route : route.reverse(), amount: best.amount };
}

/** The best amount of a token after some pools, the last of them, and the solution for the token before. */
type Solution = {
  readonly amount: bigint;
  readonly hop: Hop;
  readonly before: Solution | undefined;
};

function toHops({ hop, before }: Solution): Hop[] {
  return before === undefined ? [] : [...toHops(before), hop];
}
