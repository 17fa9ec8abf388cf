import DataLoader from 'dataloader';
import { type PoolPair, poolPairId } from '../domain/pool-pair.ts';

/**
 * Creates the function that loads something of pools. Pools that are requested at the same time are read together, each group
 * at once, and each pool of a group once.
 *
 * @param groupOf what is read, without the pool itself. It contains the height of the pool.
 * @param read reads the keys of one group. @returns the values in the order of the keys
 */
export function createPoolBatches<K extends { readonly pool: PoolPair }, V>(
  groupOf: (key: K) => string,
  read: (keys: readonly K[]) => Promise<readonly V[]>,
): (key: K) => Promise<V> {
  let loader: DataLoader<K, V, string> | undefined;

  return (key) => {
    // Most answers load nothing, and each pool of a page can have loaders of its own.
    loader ??= new DataLoader<K, V, string>((keys) => readGroups(keys, groupOf, read), {
      cacheKeyFn: (each) => `${poolPairId(each.pool)} ${groupOf(each)}`,
    });
    return loader.load(key);
  };
}

/** Reads keys in groups, each group at once. @returns the values in the order of the keys */
async function readGroups<K, V>(
  keys: readonly K[],
  groupOf: (key: K) => string,
  read: (keys: readonly K[]) => Promise<readonly V[]>,
): Promise<(V | Error)[]> {
  const groups = Map.groupBy(keys, groupOf);
  const values = new Map<K, V | Error>();
  await Promise.all(
    [...groups.values()].map(async (group) => {
      try {
        const found = await read(group);
        for (const [index, key] of group.entries()) values.set(key, found[index] as V);
      } catch (error) {
        for (const key of group) values.set(key, error as Error);
      }
    }),
  );
  return keys.map((key) => values.get(key) as V | Error);
}
