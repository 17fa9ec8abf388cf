import type { PoolDirectory, ReserveColumn } from './exchange.ts';
import type { TokenId } from './token.ts';

/** The pools of a directory as a graph, in which each token is a number and each pool connects two tokens. */
export type PoolGraph = {
  /** The number of a token; `undefined` if no pool contains it. */
  find(tokenId: TokenId): number | undefined;
  /** The places of the pools of each token, ascending. */
  readonly placesOf: readonly (readonly number[])[];
  /** The numbers of token 1 and of token 2 at each place: two for each place. */
  readonly tokensAt: Uint32Array;
};

/**
 * Creates the graph of a directory, whose lists it shares.
 *
 * The exchange names the token of a pool with the smaller id first. The graph leaves out what a damaged state could contain beside
 * it. So no pool connects a token with itself, and in V1 no two pools connect the same two tokens. In V3, several can.
 */
export function toPoolGraph(directory: PoolDirectory): PoolGraph {
  const { token1Ids, token2Ids, placesOfToken } = directory;
  const isInOrder = (place: number) => (token1Ids[place] ?? '') < (token2Ids[place] ?? '');
  const placesOf: (readonly number[])[] = [];
  const tokensAt = new Uint32Array(token1Ids.length * 2);

  for (const [tokenId, places] of placesOfToken) {
    for (const place of places) tokensAt[place * 2 + (token1Ids[place] === tokenId ? 0 : 1)] = placesOf.length;
    placesOf.push(places.every(isInOrder) ? places : places.filter(isInOrder));
  }

  function find(tokenId: TokenId): number | undefined {
    const place = placesOfToken.get(tokenId)?.[0];
    return place === undefined ? undefined : tokensAt[place * 2 + (token1Ids[place] === tokenId ? 0 : 1)];
  }

  return { find, placesOf, tokensAt };
}

/** The side of a pool, 0 or 1, on which a token is not. */
export function otherSide(tokensAt: Uint32Array, place: number, token: number): number {
  return tokensAt[place * 2] === token ? 1 : 0;
}

const LOW_HALF = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 0 : 1;

/** Reserves as the nearest doubles. For 64 bits, the halves are read: a conversion would first create each whole number in memory. */
export function toDoubles(reserves: ReserveColumn): Float64Array {
  if (!(reserves instanceof BigUint64Array)) return Float64Array.from(reserves, Number);
  const halves = new Uint32Array(reserves.buffer, reserves.byteOffset, reserves.length * 2);
  const doubles = new Float64Array(reserves.length);
  for (let index = 0; index < doubles.length; index++)
    doubles[index] = (halves[index * 2 + LOW_HALF] ?? 0) + (halves[index * 2 + 1 - LOW_HALF] ?? 0) * 2 ** 32;
  return doubles;
}
