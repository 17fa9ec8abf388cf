import type { PoolDirectory } from './exchange.ts';
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
 * The exchange has one pool of two tokens, named with the smaller id first. The graph leaves out what a damaged state could
 * contain beside it, because then no two pools connect the same two tokens, and no pool connects a token with itself.
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
