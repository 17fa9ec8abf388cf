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
  /** The loaders of the groups, each created when it is first needed: most answers load nothing. */
  const loaders = new Map<string, DataLoader<K, V, string>>();

  return (key) => {
    const group = groupOf(key);
    const loader =
      loaders.get(group) ?? new DataLoader<K, V, string>(read, { cacheKeyFn: ({ pool }) => poolPairId(pool) });
    loaders.set(group, loader);
    return loader.load(key);
  };
}
