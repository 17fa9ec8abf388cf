import type { ExchangeState } from './exchange.ts';
import { otherSide, type PoolGraph, toDoubles } from './pool-graph.ts';
import {
  isBetterAmount,
  isBetterBound,
  noBound,
  optimisticBound,
  otherAmount,
  pessimisticBound,
  type TradeDirection,
} from './swap.ts';

/** One pool of a route, with the two amounts; the steps are in the order of the search. */
type RouteStep = {
  /** The place of the pool in the directory. */
  readonly place: number;
  /** The amount of the token from which the search comes. */
  readonly known: bigint;
  /** The amount of the pool's other token. */
  readonly other: bigint;
};

/** The longest route for which {@link findBestRoute} is correct: the longest one of V1. */
export const MAX_HOPS = 4;

/**
 * Finds the best route of V1 between two tokens: of all paths of at most `maxHops` pools on which no token comes twice, the one that
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
  const reserves = toDoubles(state.reserves);
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
      const reserveOfOther = reserves[place * 2 + 1 - side] ?? 0;
      const optimum = optimisticBound(direction, known, reserves[place * 2 + side] ?? 0, reserveOfOther);
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

/** A search for the best route between two tokens, from one of its ends. */
export type RouteSearch = {
  readonly direction: TradeDirection;
  /** The number of the token whose amount is known: the one that is sold when selling, else the one that is bought. */
  readonly start: number;
  /** The number of the other token. */
  readonly end: number;
  /** The known amount, above 0. */
  readonly amount: bigint;
  /** Maximum number of pools. */
  readonly maxHops: number;
};

/** The bounds of the best amount of each token after a number of pools, by the numbers of the tokens. */
type Bounds = {
  readonly optimistic: Float64Array;
  readonly pessimistic: Float64Array;
  /** The tokens that can have an amount. */
  readonly reached: number[];
};

/**
 * Bounds of the best amounts after 0 to `maxHops` pools, for the tokens from which the end can still be reached. No step enters
 * the start or leaves the end.
 */
function findBounds(graph: PoolGraph, search: RouteSearch, reserves: Float64Array): readonly Bounds[] {
  const { direction, start, end, amount, maxHops } = search;
  const { placesOf, tokensAt } = graph;
  const none = noBound(direction);
  const first = createBounds(placesOf.length, none);
  first.reached.push(start);
  first.optimistic[start] = Number(amount);
  first.pessimistic[start] = Number(amount);
  const layers = [first];

  /** Adds to a layer what a token of the layer before gives in one pool. @param side the side of the pool that is this token */
  function step(before: Bounds, layer: Bounds, token: number, neighbour: number, place: number, side: number): void {
    const reserveOfKnown = reserves[place * 2 + side] ?? 0;
    const reserveOfOther = reserves[place * 2 + 1 - side] ?? 0;
    if (reserveOfKnown === 0 || reserveOfOther === 0) return;
    const { optimistic, pessimistic, reached } = layer;
    const optimum = optimisticBound(direction, before.optimistic[token] ?? none, reserveOfKnown, reserveOfOther);
    if (optimum === none) return;
    const known = optimistic[neighbour] ?? none;
    if (known === none) reached.push(neighbour);
    if (isBetterBound(direction, optimum, known)) optimistic[neighbour] = optimum;
    const worst = pessimisticBound(direction, before.pessimistic[token] ?? none, reserveOfKnown, reserveOfOther);
    if (isBetterBound(direction, worst, pessimistic[neighbour] ?? none)) pessimistic[neighbour] = worst;
  }

  const isNextToEnd = new Uint8Array(placesOf.length);
  for (const place of placesOf[end] ?? []) isNextToEnd[tokensAt[place * 2 + otherSide(tokensAt, place, end)] ?? 0] = 1;

  for (let hops = 1; hops <= maxHops; hops++) {
    const before = layers[hops - 1] ?? first;
    const layer = createBounds(placesOf.length, none);
    layers.push(layer);
    // The last step comes from the pools of the end, which can be far fewer than those of the tokens before.
    for (const place of placesOf[end] ?? []) {
      const side = otherSide(tokensAt, place, end);
      const token = tokensAt[place * 2 + side] ?? 0;
      if (before.optimistic[token] !== none) step(before, layer, token, end, place, side);
    }
    if (hops === maxHops) break;
    for (const token of before.reached) {
      if (token === end) continue;
      for (const place of placesOf[token] ?? []) {
        const side = otherSide(tokensAt, place, token);
        const neighbour = tokensAt[place * 2 + side] ?? 0;
        if (neighbour === start || neighbour === end) continue;
        if (hops === maxHops - 1 && isNextToEnd[neighbour] === 0) continue;
        step(before, layer, token, neighbour, place, 1 - side);
      }
    }
  }
  return layers;
}

function createBounds(tokens: number, none: number): Bounds {
  const [optimistic, pessimistic] = [new Float64Array(tokens), new Float64Array(tokens)];
  if (none !== 0) {
    optimistic.fill(none);
    pessimistic.fill(none);
  }
  return { optimistic, pessimistic, reached: [] };
}
