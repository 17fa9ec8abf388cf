import { otherSide, type PoolGraph } from './pool-graph.ts';
import { isBetterBound, noBound, type TradeDirection } from './swap.ts';

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

/**
 * The bound of one step from an amount of the token that a pool has on that side: never worse for the trader than the exact other
 * amount. {@link noBound} for a pool that refuses every trade.
 */
export type StepBound = (place: number, side: number, known: number) => number;

/** The best amount of each token after a number of pools, in floating point, by the numbers of the tokens. */
type Layer = {
  readonly amounts: Float64Array;
  /** The pool that gives it, if the token has an amount. */
  readonly places: Int32Array;
  readonly reached: number[];
};

/**
 * Bounds of the best amounts after 0 to `maxHops` pools. No step enters the start or leaves the end.
 *
 * @param isPath whether steps that would repeat a token are left out. The amounts are then those of some paths, and not bounds of all
 */
export function findLayers(
  graph: PoolGraph,
  { direction, start, end, amount, maxHops }: Omit<RouteSearch, 'amount'> & { readonly amount: number },
  boundOf: StepBound,
  isPath: boolean,
): readonly Layer[] {
  const { placesOf, tokensAt } = graph;
  const none = noBound(direction);
  const first = createLayer(placesOf.length, none);
  first.amounts[start] = amount;
  first.reached.push(start);
  const layers = [first];

  const isNextToEnd = new Uint8Array(placesOf.length);
  for (const place of placesOf[end] ?? []) isNextToEnd[tokensAt[place * 2 + otherSide(tokensAt, place, end)] ?? 0] = 1;

  for (let hops = 1; hops <= maxHops; hops++) {
    const before = layers[hops - 1] ?? first;
    const layer = createLayer(placesOf.length, none);
    const { amounts, places, reached } = layer;
    const step = (token: number, known: number, place: number, side: number, neighbour: number) => {
      if (known === none) return;
      const best = amounts[neighbour] ?? none;
      const optimum = boundOf(place, side, known);
      if (!isBetterBound(direction, optimum, best)) return;
      if (isPath && wayTo(graph, layers, token, hops - 1).tokens.includes(neighbour)) return;
      if (best === none) reached.push(neighbour);
      amounts[neighbour] = optimum;
      places[neighbour] = place;
    };

    layers.push(layer);
    // The last step comes from the pools of the end, which can be far fewer than those of the tokens before.
    for (const place of placesOf[end] ?? []) {
      const side = otherSide(tokensAt, place, end);
      const token = tokensAt[place * 2 + side] ?? 0;
      step(token, before.amounts[token] ?? none, place, side, end);
    }
    if (hops === maxHops) break;
    for (const token of before.reached) {
      if (token === end) continue;
      const known = before.amounts[token] ?? none;
      for (const place of placesOf[token] ?? []) {
        const other = otherSide(tokensAt, place, token);
        const neighbour = tokensAt[place * 2 + other] ?? 0;
        if (neighbour === start || neighbour === end) continue;
        if (hops === maxHops - 1 && isNextToEnd[neighbour] === 0) continue;
        step(token, known, place, 1 - other, neighbour);
      }
    }
  }
  return layers;
}

/** The pools and the tokens of the way to a token of a layer, from the start of the search. */
export function wayTo({ tokensAt }: PoolGraph, layers: readonly Layer[], token: number, hops: number) {
  const places: number[] = [];
  const tokens = [token];
  for (let hop = hops; hop > 0; hop--) {
    const [reached = 0] = tokens;
    const place = layers[hop]?.places[reached] ?? 0;
    places.unshift(place);
    tokens.unshift(tokensAt[place * 2 + otherSide(tokensAt, place, reached)] ?? 0);
  }
  return { places, tokens };
}

function createLayer(tokens: number, none: number): Layer {
  const amounts = new Float64Array(tokens);
  if (none !== 0) amounts.fill(none);
  return { amounts, places: new Int32Array(tokens), reached: [] };
}
