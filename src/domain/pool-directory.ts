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
  return ids.length === others.length && ids.every((id, place) => id === others[place]);
}

/** The texts are those of the directory before, as far as it has them: each is then in memory once. */
function toPoolDirectory(ids: readonly string[], before: PoolDirectory | undefined): PoolDirectory {
  const texts = new Map<string, string>();
  for (const text of [...(before?.ids ?? []), ...(before?.tokenIds ?? [])]) texts.set(text, text);
  const one = (text: string) => {
    const known = texts.get(text) ?? text;
    texts.set(known, known);
    return known;
  };

  const ownIds = ids.map(one);
  const tokens = ownIds.map((id) => id.split('-').map(one));
  return {
    ids: ownIds,
    token1Ids: tokens.map(([token1Id = '']) => token1Id),
    token2Ids: tokens.map(([, token2Id = '']) => token2Id),
    places: new Map(ownIds.map((id, place) => [id, place])),
    tokenIds: new Set(tokens.flat()),
  };
}
