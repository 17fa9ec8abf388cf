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
  /** Every token that a pool holds, with the places of the pools that hold it on either side, ascending. */
  readonly placesOfToken: ReadonlyMap<TokenId, readonly number[]>;
};

/** The directories of the last few states: where the next has the same pools, it has the same directory. */
export type PoolDirectories = {
  /** That of the state before. */
  newest(): PoolDirectory | undefined;
  /** The one with these pools. @param ids in ascending order, each once */
  of(ids: readonly string[]): PoolDirectory;
};

/** Past heights can have several, beside that of the newest. */
const MAX_DIRECTORIES = 8;

/** Makes an empty collection of directories. */
export function createPoolDirectories(): PoolDirectories {
  let directories: readonly PoolDirectory[] = [];

  return {
    newest: () => directories[0],
    of(ids) {
      const directory = directories.find((known) => isSame(known.ids, ids)) ?? toPoolDirectory(ids, directories[0]);
      directories = [directory, ...directories.filter((other) => other !== directory)].slice(0, MAX_DIRECTORIES);
      return directory;
    },
  };
}

function isSame(ids: readonly string[], others: readonly string[]): boolean {
  return ids === others || (ids.length === others.length && ids.every((id, place) => id === others[place]));
}

/** The texts are those of the directory before, as far as it has them: each is then in memory once. */
function toPoolDirectory(ids: readonly string[], before: PoolDirectory | undefined): PoolDirectory {
  const tokens = new Map<string, TokenId>();
  for (const tokenId of before?.placesOfToken.keys() ?? []) tokens.set(tokenId, tokenId);
  const one = (text: string) => {
    const known = tokens.get(text);
    if (known === undefined) tokens.set(text, text);
    return known ?? text;
  };

  const ownIds: string[] = [];
  const token1Ids: TokenId[] = [];
  const token2Ids: TokenId[] = [];
  const places = new Map<string, number>();
  for (const [place, id] of ids.entries()) {
    const placeBefore = before?.places.get(id) ?? -1;
    const dash = id.indexOf('-');
    const ownId = before?.ids[placeBefore] ?? id;
    ownIds.push(ownId);
    token1Ids.push(before?.token1Ids[placeBefore] ?? one(id.slice(0, dash)));
    token2Ids.push(before?.token2Ids[placeBefore] ?? one(id.slice(dash + 1)));
    places.set(ownId, place);
  }
  return { ids: ownIds, token1Ids, token2Ids, places, placesOfToken: indexByToken(token1Ids, token2Ids) };
}

function indexByToken(token1Ids: readonly TokenId[], token2Ids: readonly TokenId[]): Map<TokenId, number[]> {
  const index = new Map<TokenId, number[]>();
  const add = (tokenId: TokenId, place: number) => {
    const places = index.get(tokenId);
    if (places === undefined) index.set(tokenId, [place]);
    else if (places.at(-1) !== place) places.push(place);
  };
  for (const [place, token1Id] of token1Ids.entries()) {
    add(token1Id, place);
    add(token2Ids[place] ?? '', place);
  }
  return index;
}
