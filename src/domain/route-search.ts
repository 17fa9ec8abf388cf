import { MAX_AMOUNT } from './amount.ts';
import { type ExchangeSwaps, type FoundRoute, type Hop, leastAlong, sellAlong } from './exchange-swaps.ts';
import { otherSide, type PoolGraph } from './pool-graph.ts';
import type { PoolSwap } from './pool-swap.ts';
import { findLayers, type RouteSearch, type StepBound, wayTo } from './route-bounds.ts';
import { isBetterAmount, isBetterBound, noBound, type TradeDirection } from './swap.ts';

/** The longest route that the third version of the exchange accepts. */
export const MAX_HOPS_V3 = 5;

/**
 * Maximum numbers of exact trades through a pool, and of steps whose bounds are computed, in one search. A search in an exchange
 * whose pools disagree about prices so much that it would need more ends with the best route that it has found.
 */
const MAX_TRADES = 5_000;
const MAX_STEPS = 50_000;

/**
 * After this number of steps, the bounds of continuations are not computed for a better route any more: anybody can create pools of
 * which each gives a little more than the one before. Those of the last route stay valid, but stop fewer paths.
 */
const MAX_BACKWARD_STEPS = 50_000;

/**
 * Finds the best route of V3: of all paths of at most `maxHops` pools on which no token comes twice, and whose pools accept the
 * trade, the one that gives the most, or needs the least. Of equally good ones it is the shortest. Of several such ones it is the one
 * whose pools come first by their ids, from the pool of the known amount on: the first one when selling, the last one when buying.
 *
 * It is a depth-first search over paths, with exact amounts. It goes no further where even the best continuation could not reach the best
 * route that is known, by bounds in floating point: see docs/decisions/quotes.md. It starts with a route from a dynamic program, which is
 * nearly always the best one.
 *
 * The result is exact unless the search ends after {@link MAX_TRADES} trades or {@link MAX_STEPS} steps.
 *
 * @returns `undefined` if there is no route
 */
export function findRouteV3(swaps: ExchangeSwaps, graph: PoolGraph, search: RouteSearch): FoundRoute | undefined {
  const { direction, start, end, amount, maxHops } = search;
  const { placesOf, tokensAt } = graph;
  const isSelling = direction === 'SELLING';
  const boundOf = boundsOf(swaps, direction);
  const backwardBoundOf = boundsOf(swaps, backwards(direction));
  let best: Steps | undefined;
  let trades = 0;
  let steps = 0;
  let backwardSteps = 0;
  const countedBoundOf: StepBound = (place, side, known) => {
    backwardSteps += 1;
    return backwardBoundOf(place, side, known);
  };
  /** The amounts from which a better route than the best known one can be reached, and those for one that is as good. */
  let forBetter = continuations(backwardBoundOf, graph, search, isSelling ? 1n : MAX_AMOUNT);
  let forEqual = forBetter;
  const visited = new Set([start]);

  function offer(found: Steps): void {
    const before = best;
    if (before !== undefined && !isBetter(direction, found, before)) return;
    best = found;
    if (backwardSteps > MAX_BACKWARD_STEPS) return;
    if (before !== undefined && !isMuchBetter(direction, found.amount, before.amount)) return;
    forEqual = continuations(countedBoundOf, graph, search, found.amount);
    const isExact = found.amount < EXACT_ENOUGH;
    forBetter = isExact
      ? continuations(countedBoundOf, graph, search, found.amount + (isSelling ? 1n : -1n))
      : forEqual;
  }

  /** Whether an amount of a token is enough to get to a better route through at most that many other pools. */
  function isEnough(token: number, other: number, places: readonly number[], left: number): boolean {
    if (!isTooLittle(direction, other, forBetter[left]?.[token])) return true;
    if (best === undefined) return false;
    const shorter = best.places.length - places.length - (isAfter(places, best.places) ? 1 : 0);
    return shorter >= 0 && !isTooLittle(direction, other, forEqual[Math.min(left, shorter)]?.[token]);
  }

  /** @param places the pools so far, and their trades in the order of the trade */
  function visit(token: number, known: bigint, places: readonly number[], pools: readonly PoolSwap[]): void {
    const left = maxHops - places.length - 1;
    for (const place of placesOf[token] ?? []) {
      steps += 1;
      if (trades >= MAX_TRADES || steps > MAX_STEPS) return;
      const side = 1 - otherSide(tokensAt, place, token);
      const neighbour = tokensAt[place * 2 + 1 - side] ?? 0;
      if (visited.has(neighbour) || (left === 0 && neighbour !== end) || !swaps.isTradable(place)) continue;
      const through = [...places, place];
      const leftThen = neighbour === end ? 0 : left;
      if (!isEnough(neighbour, boundOf(place, side, Number(known)), through, leftThen)) continue;

      trades += 1;
      const pool = swaps.swapOf({ place, side: isSelling ? side : 1 - side });
      const all = isSelling ? [...pools, pool] : [pool, ...pools];
      const other = isSelling ? pool.sell(known) : leastAlong(all, amount, known);
      if (typeof other !== 'bigint' || !isEnough(neighbour, Number(other), through, leftThen)) continue;
      if (neighbour === end) {
        offer({ places: through, amount: other });
        continue;
      }
      visited.add(neighbour);
      visit(neighbour, other, through, all);
      visited.delete(neighbour);
    }
  }

  const [likely] = likelyRoutes(swaps, graph, search).sort((a, b) => (isBetter(direction, a, b) ? -1 : 1));
  if (likely !== undefined) offer(likely);
  visit(start, amount, [], []);
  return best && { route: toHops(graph, search, best.places), amount: best.amount };
}

/** The places of the pools of a route, in the order of the search, and the amount that it gives or needs. */
type Steps = { readonly places: readonly number[]; readonly amount: bigint };

/** Below this amount, one unit more is more in floating point too, also after the errors of bounds. */
const EXACT_ENOUGH = 2n ** 30n;

/** The bounds of the pools: the token of a step is sold when selling, and bought when buying. */
function boundsOf(swaps: ExchangeSwaps, direction: TradeDirection): StepBound {
  const isSelling = direction === 'SELLING';
  return (place, side, known) =>
    swaps.isTradable(place)
      ? swaps.boundOf(place, isSelling ? side : 1 - side).optimum(direction, known)
      : noBound(direction);
}

/** The direction in which amounts are followed from the end of a search to its start. */
function backwards(direction: TradeDirection): TradeDirection {
  return direction === 'SELLING' ? 'BUYING' : 'SELLING';
}

/** For each number of pools left and each token, the amount from which a route with that result can be reached at best. */
function continuations(
  boundOf: StepBound,
  graph: PoolGraph,
  { direction, start, end, maxHops }: RouteSearch,
  result: bigint,
): readonly Float64Array[] {
  const back = backwards(direction);
  const search = { direction: back, start: end, end: start, amount: Number(result), maxHops };
  const best: Float64Array[] = [];
  for (const { amounts } of findLayers(graph, search, boundOf, false)) {
    const before = (token: number) => best.at(-1)?.[token] ?? noBound(back);
    best.push(amounts.map((each, token) => (isBetterBound(back, each, before(token)) ? each : before(token))));
  }
  return best;
}

/** Routes that are likely to be the best of their length. */
function likelyRoutes(swaps: ExchangeSwaps, graph: PoolGraph, search: RouteSearch): Steps[] {
  const { direction, end, amount, maxHops } = search;
  const layers = findLayers(graph, { ...search, amount: Number(amount) }, boundsOf(swaps, direction), true);
  const found: Steps[] = [];
  for (let hops = 1; hops <= maxHops; hops++) {
    if (layers[hops]?.amounts[end] === noBound(direction)) continue;
    const { places } = wayTo(graph, layers, end, hops);
    const pools = toHops(graph, search, places).map((hop) => swaps.swapOf(hop));
    const amounts = direction === 'SELLING' ? sellAlong(pools, amount) : [leastAlong(pools, amount)];
    const other = typeof amounts === 'string' ? undefined : amounts.at(-1);
    if (other !== undefined) found.push({ places, amount: other });
  }
  return found;
}

/** The route through pools that are in the order of the search. */
function toHops({ tokensAt }: PoolGraph, { direction, start }: RouteSearch, places: readonly number[]): Hop[] {
  let token = start;
  const hops = places.map((place): Hop => {
    const other = otherSide(tokensAt, place, token);
    token = tokensAt[place * 2 + other] ?? 0;
    return { place, side: direction === 'SELLING' ? 1 - other : other };
  });
  return direction === 'SELLING' ? hops : hops.reverse();
}

/** Whether an amount is less than enough, or more than enough when buying. Conversions of whole numbers are rounded. */
function isTooLittle(direction: TradeDirection, amount: number, enough: number | undefined): boolean {
  if (enough === undefined) return true;
  return isBetterBound(direction, enough, direction === 'SELLING' ? amount * (1 + 2 ** -50) : amount * (1 - 2 ** -50));
}

/** Whether the bounds are worth to be computed again. */
function isMuchBetter(direction: TradeDirection, amount: bigint, than: bigint): boolean {
  return direction === 'SELLING' ? amount * 1_000n > than * 1_001n : amount * 1_001n < than * 1_000n;
}

function isBetter(direction: TradeDirection, one: Steps, other: Steps): boolean {
  if (one.amount !== other.amount) return isBetterAmount(direction, one.amount, other.amount);
  if (one.places.length !== other.places.length) return one.places.length < other.places.length;
  return isAfter(other.places, one.places);
}

/** Whether the first of two lists comes after the other one, as far as both go. */
function isAfter(places: readonly number[], other: readonly number[]): boolean {
  const index = places.findIndex((place, hop) => place !== other[hop]);
  return index >= 0 && (places[index] ?? 0) > (other[index] ?? Number.POSITIVE_INFINITY);
}
