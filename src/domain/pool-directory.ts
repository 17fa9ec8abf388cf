import { type PoolPair, poolPairId } from './pool-pair.ts';
import type { TokenId } from './token-id.ts';

/**
 * Which pools an exchange has, each at its place in ascending order of ids.
 *
 * Pools come seldom and never go, so the states of many heights share one.
 */
export type PoolDirectory = {
  readonly ids: readonly string[];
  readonly token1Ids: readonly TokenId[];
  readonly token2Ids: readonly TokenId[];
  /** The place of each pool, by its id. */
  readonly places: ReadonlyMap<string, number>;
  /** Every token that a pool holds. */
  readonly tokenIds: ReadonlySet<TokenId>;
};

/** Finds the directory of a list of pools among those that were made before, or makes it. */
export type PoolDirectories = {
  /** @param pools in ascending order of their ids, each once */
  of(pools: readonly PoolPair[]): PoolDirectory;
};

/** Past heights can have several, beside that of the newest. */
const MAX_DIRECTORIES = 8;

/** Makes an empty collection of directories: the last few that were asked for stay in it. */
export function createPoolDirectories(): PoolDirectories {
  let directories: readonly PoolDirectory[] = [];

  return {
    of(pools) {
      const ids = pools.map(poolPairId);
      const directory =
        directories.find((known) => isSame(known.ids, ids)) ?? toPoolDirectory(ids, pools, directories[0]);
      directories = [directory, ...directories.filter((other) => other !== directory)].slice(0, MAX_DIRECTORIES);
      return directory;
    },
  };
}

function isSame(ids: readonly string[], others: readonly string[]): boolean {
  return ids.length === others.length && ids.every((id, place) => id === others[place]);
}

/** The texts are those of the directory before, as far as it has them: each is then in memory once. */
function toPoolDirectory(
  ids: readonly string[],
  pools: readonly PoolPair[],
  before: PoolDirectory | undefined,
): PoolDirectory {
  const texts = new Map<string, string>();
  for (const text of [...(before?.ids ?? []), ...(before?.tokenIds ?? [])]) texts.set(text, text);
  const one = (text: string) => {
    const known = texts.get(text) ?? text;
    texts.set(known, known);
    return known;
  };

  const token1Ids = pools.map(({ token1Id }) => one(token1Id));
  const token2Ids = pools.map(({ token2Id }) => one(token2Id));
  const ownIds = ids.map(one);
  return {
    ids: ownIds,
    token1Ids,
    token2Ids,
    places: new Map(ownIds.map((id, place) => [id, place])),
    tokenIds: new Set([...token1Ids, ...token2Ids]),
  };
}
