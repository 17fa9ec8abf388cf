import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ExchangeState, PoolDirectory } from '../domain/exchange.ts';
import type { Redis } from './redis.ts';

/** A state as it is in Redis: its directory is stored once for many states, under its hash. */
export type PackedState = Omit<ExchangeState, 'directory'> & { readonly directory: string };

/**
 * The format of states in Redis. It is a part of the keys of all values that contain one: a gateway of a version with another
 * format neither reads such a value nor overwrites it.
 */
export const STATE_FORMAT = 2;

/** Packs the states of the exchange for Redis. */
export type PackedStates = ReturnType<typeof createPackedStates>;

/** A directory expires this time after the last state that was packed with it: later than all such states. */
const TTL_MS = 2 * 3_600_000;

const MAX_DIRECTORIES = 8;

/** Creates the packing of states. @param directoryOf the directory of pools with these ids, which are in ascending order */
export function createPackedStates(
  redis: Pick<Redis, 'command' | 'key'>,
  directoryOf: (ids: readonly string[]) => PoolDirectory,
) {
  const known = new LRUCache<string, PoolDirectory>({ max: MAX_DIRECTORIES });
  const digests = new WeakMap<PoolDirectory, string>();
  const keyOf = (digest: string) => redis.key('pools', digest);

  async function write(directory: PoolDirectory): Promise<string> {
    const text = directory.ids.join();
    const digest = digests.get(directory) ?? digestOf(text);
    digests.set(directory, digest);
    const key = keyOf(digest);
    if ((await redis.command(key, 'PEXPIRE', key, String(TTL_MS))) !== 1)
      await redis.command(key, 'SET', key, text, 'PX', String(TTL_MS));
    return digest;
  }

  async function read(digest: string): Promise<PoolDirectory | undefined> {
    const directory = known.get(digest);
    if (directory !== undefined) return directory;
    const key = keyOf(digest);
    const text = String((await redis.command(key, 'GET', key).catch(() => null)) ?? '');
    if (digestOf(text) !== digest) {
      await redis.command(key, 'UNLINK', key);
      return undefined;
    }
    const ids = directoryOf(text === '' ? [] : text.split(','));
    known.set(digest, ids);
    digests.set(ids, digest);
    return ids;
  }

  return {
    /** @throws Error if Redis cannot be used */
    pack: async (state: ExchangeState): Promise<PackedState> => ({ ...state, directory: await write(state.directory) }),
    /** `undefined` if Redis does not have the directory. @throws Error if Redis cannot be used */
    async unpack(packed: PackedState): Promise<ExchangeState | undefined> {
      const directory = await read(packed.directory);
      return directory && { ...packed, directory };
    },
  };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
