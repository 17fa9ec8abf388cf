import type { ExchangeState } from './exchange.ts';
import type { PoolGraph } from './pool-graph.ts';
import { findBounds, otherSide, type RouteSearch, reserveAt, toHalves } from './route-bounds.ts';
import { isBetterAmount, isBetterBound, noBound, optimisticBound, otherAmount } from './trade-direction.ts';

/** One pool of a route, with the two amounts; the steps are in the order of the search. */
type RouteStep = {
  /** The place of the pool in the directory. */
  readonly place: number;
  /** The amount of the token from which the search comes. */
  readonly known: bigint;
  /** The amount of the pool's other token. */
  readonly other: bigint;
};

/** The longest route for which {@link findBestRoute} is correct. */
export const MAX_HOPS = 4;

/**
 * Finds the best route between two tokens: of all paths of at most `maxHops` pools on which no token comes twice, the one that
 * gives the most, or asks the least. Pools with an empty side take no part.
 *
 * Of equally good routes it is the shortest. Of several such routes, it is the one whose last step uses the pool with the
 * smallest id, and before this step it is the best route of its length to the token between, by the same rules.
 *
 * It is a dynamic program over the number of pools: a pool never gives less for more, so the best amount of a token after `n`
 * pools follows from the best amounts after `n - 1` pools. That alone would allow walks on which a token comes twice. No step
 * of this search enters the start or leaves the end. Then a walk of at most {@link MAX_HOPS} pools can only repeat a token by
 * going through one pool and back at once, because no two pools connect the same tokens. That always loses: a pool gives back
 * less than it was sent. So a shorter walk is at least as good, and it is preferred.
 *
 * First, all amounts are estimated in floating point, as two bounds. Only steps whose bounds allow them to be part of the best
 * route are computed exactly: usually those of the best route.
 *
 * @returns `undefined` if there is no route, or none that gives anything
 */
export function findBestRoute(state: ExchangeState, graph: PoolGraph, search: RouteSearch): RouteStep[] | undefined {
  const { direction, end, amount, maxHops } = search;
  const { placesOf, tokensAt } = graph;
  const none = noBound(direction);
  const reserves = toHalves(state.reserves);
  const bounds = findBounds(graph, search, reserves);
  const solutions = new Map<number, Solution | undefined>();

  /** The best route to a token with exactly that number of pools. */
  function solve(token: number, hops: number): Solution | undefined {
    if (hops === 0) return { amount, place: -1, before: undefined };
    const key = token * (MAX_HOPS + 1) + hops;
    if (!solutions.has(key)) solutions.set(key, findSolution(token, hops));
    return solutions.get(key);
  }

  function findSolution(token: number, hops: number): Solution | undefined {
    const before = bounds[hops - 1]?.optimistic;
    const worst = bounds[hops]?.pessimistic[token] ?? none;
    let best: Solution | undefined;
    for (const place of placesOf[token] ?? []) {
      const side = otherSide(tokensAt, place, token);
      const neighbour = tokensAt[place * 2 + side] ?? 0;
      const known = before?.[neighbour] ?? none;
      if (known === none || neighbour === end) continue;
      const reserveOfOther = reserveAt(reserves, place * 2 + 1 - side);
      const optimum = optimisticBound(direction, known, reserveAt(reserves, place * 2 + side), reserveOfOther);
      if (optimum === none || isBetterBound(direction, worst, optimum)) continue;
      // Places are ascending, and the first of equal solutions counts.
      if (best !== undefined && !isBetterAmount(direction, optimum, best.amount)) continue;
      best = better(best, extend(solve(neighbour, hops - 1), place, side));
    }
    return best;
  }

  /** Adds a pool to a solution for the token that it has on that side. */
  function extend(before: Solution | undefined, place: number, side: number): Solution | undefined {
    if (before === undefined) return undefined;
    const reserveOfKnown = state.reserves[place * 2 + side] ?? 0n;
    const reserveOfOther = state.reserves[place * 2 + 1 - side] ?? 0n;
    const other = otherAmount(direction, before.amount, reserveOfKnown, reserveOfOther);
    return other === undefined ? undefined : { amount: other, place, before };
  }

  /** The better of two solutions, the first one if they are equal. */
  function better(first: Solution | undefined, second: Solution | undefined): Solution | undefined {
    if (first === undefined || second === undefined) return first ?? second;
    return isBetterAmount(direction, second.amount, first.amount) ? second : first;
  }

  let best: Solution | undefined;
  for (let hops = 1; hops <= maxHops; hops++) {
    const optimum = bounds[hops]?.optimistic[end] ?? none;
    if (optimum === none) continue;
    if (best === undefined || isBetterAmount(direction, optimum, best.amount)) best = better(best, solve(end, hops));
  }
  return best && toSteps(best);
}

/** The best amount of a token after some pools, the last of them, and the solution for the token before. */
type Solution = {
  readonly amount: bigint;
  readonly place: number;
  readonly before: Solution | undefined;
};

function toSteps({ amount, place, before }: Solution): RouteStep[] {
  if (before === undefined) return [];
  return [...toSteps(before), { place, known: before.amount, other: amount }];
}
