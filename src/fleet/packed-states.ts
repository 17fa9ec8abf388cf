import type { ExchangeState, PoolDirectory } from '../domain/exchange.ts';

/** A state as it is in Redis: of its directory, it has the ids of the pools. */
export type PackedState = Omit<ExchangeState, 'directory'> & Pick<PoolDirectory, 'ids'>;

/**
 * The format of states in Redis. It is a part of the keys of all values that contain one: a gateway of a version with another
 * format neither reads such a value nor overwrites it.
 */
export const STATE_FORMAT = 3;

/** The directory of pools with these ids, which are in ascending order. */
export type DirectoryOf = (ids: readonly string[]) => PoolDirectory;

/** Packs a state for Redis. */
export function packState({ directory: { ids }, ...state }: ExchangeState): PackedState {
  return { ...state, ids };
}

/** The state that was packed. */
export function unpackState({ ids, ...state }: PackedState, directoryOf: DirectoryOf): ExchangeState {
  return { ...state, directory: directoryOf(ids) };
}
