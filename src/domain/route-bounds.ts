import type { PoolGraph } from './pool-graph.ts';
import { isBetterBound, noBound, optimisticBound, pessimisticBound, type TradeDirection } from './trade-direction.ts';

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
export type Bounds = {
  readonly optimistic: Float64Array;
  readonly pessimistic: Float64Array;
  /** The tokens that can have an amount. */
  readonly reached: number[];
};

/**
 * Bounds of the best amounts after 0 to `maxHops` pools, for the tokens from which the end can still be reached. No step enters
 * the start or leaves the end.
 */
export function findBounds(graph: PoolGraph, search: RouteSearch, reserves: ReserveHalves): readonly Bounds[] {
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
    const reserveOfKnown = reserveAt(reserves, place * 2 + side);
    const reserveOfOther = reserveAt(reserves, place * 2 + 1 - side);
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

/** The side of a pool, 0 or 1, on which a token is not. */
export function otherSide(tokensAt: Uint32Array, place: number, token: number): number {
  return tokensAt[place * 2] === token ? 1 : 0;
}

/** Reserves as the halves of their 64 bits. */
type ReserveHalves = Uint32Array;

/** The halves of reserves, in the same memory. */
export function toHalves({ buffer, byteOffset, length }: BigUint64Array): ReserveHalves {
  return new Uint32Array(buffer, byteOffset, length * 2);
}

const LOW_HALF = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 0 : 1;

/** A reserve as the nearest double. A conversion of the whole number would first create it in memory. */
export function reserveAt(halves: ReserveHalves, index: number): number {
  return (halves[index * 2 + LOW_HALF] ?? 0) + (halves[index * 2 + 1 - LOW_HALF] ?? 0) * 2 ** 32;
}
