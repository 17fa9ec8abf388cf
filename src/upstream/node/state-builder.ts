import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { type ExchangeState, hasPools, type PoolDirectory, placeOf, toPoolDirectory } from '../../domain/exchange.ts';
import type { Instant } from '../../domain/instant.ts';
import { type PoolPair, poolPairId } from '../../domain/pool-pair.ts';

/** Builds a state from its pools, which arrive one by one. */
type StateBuilder = {
  /** How many pools were added. */
  poolCount(): number;
  /** The place of the pool that comes next if this state has the same pools in the same order as the previous one. */
  expectedPlace(): number | undefined;
  /** Adds the pool that was expected. */
  addExpected(reserve1: bigint, reserve2: bigint): void;
  /** Adds any pool. @returns its place in the directory of the previous state; `undefined` for a new pool */
  add(pool: PoolPair): number | undefined;
  /** The state with all pools that were added; of several pools with one id, the last. */
  build(time: Instant | undefined): ExchangeState;
};

/** The directories of the states that were read last. States with the same pools share one. */
export type PoolDirectories = {
  /** The directory of the previous state. */
  newest(): PoolDirectory | undefined;
  /** The directory of these pools. @param ids in ascending order, each once */
  of(ids: readonly string[]): PoolDirectory;
};

/** Earlier heights can have other pools than the newest. */
const MAX_DIRECTORIES = 8;

/** Creates an empty collection of directories. */
export function createPoolDirectories(): PoolDirectories {
  let directories: readonly PoolDirectory[] = [];

  return {
    newest: () => directories[0],
    of(ids) {
      const directory = directories.find((known) => hasPools(known, ids)) ?? toPoolDirectory(ids, directories[0]);
      directories = [directory, ...directories.filter((other) => other !== directory)].slice(0, MAX_DIRECTORIES);
      return directory;
    },
  };
}

const FIRST_CAPACITY = 64;

/**
 * Creates the builder of the state at that height.
 *
 * Usually the pools are those of the previous state, in order. Then only their reserves are stored, and nothing is left to
 * do after the last one.
 */
export function createStateBuilder(beaconHeight: BeaconHeight, directories: PoolDirectories): StateBuilder {
  const previous = directories.newest();
  const previousIds = previous?.ids ?? [];
  /** The ids that were added; `undefined` while they are those of the previous state. */
  let ownIds: string[] | undefined;
  let count = 0;
  let reserves = new BigUint64Array(2 * Math.max(previousIds.length, FIRST_CAPACITY));
  let expected = 0;
  let isInOrder = true;

  function append(id: string, reserve1: bigint, reserve2: bigint): void {
    if (ownIds === undefined && previousIds[count] !== id) ownIds = previousIds.slice(0, count);
    isInOrder &&= ownIds === undefined || count === 0 || (ownIds[count - 1] ?? '') < id;
    ownIds?.push(id);
    if (count * 2 === reserves.length) reserves = resize(reserves, count * 4);
    reserves[count * 2] = reserve1;
    reserves[count * 2 + 1] = reserve2;
    count += 1;
  }

  return {
    poolCount: () => count,
    expectedPlace: () => (expected < previousIds.length ? expected : undefined),
    addExpected: (reserve1, reserve2) => append(previousIds[expected++] ?? '', reserve1, reserve2),
    add(pool) {
      const id = poolPairId(pool);
      // After a new pool the same one is expected, after a known pool the one behind it.
      const place = previous && placeOf(previous, pool);
      if (place !== undefined) expected = place + 1;
      append(previousIds[place ?? -1] ?? id, pool.reserve1, pool.reserve2);
      return place;
    },
    build(time) {
      const ids = ownIds ?? (count === previousIds.length ? previousIds : previousIds.slice(0, count));
      if (isInOrder)
        return { beaconHeight, time, directory: directories.of(ids), reserves: resize(reserves, count * 2) };

      const indexes = sortedIndexes(ids);
      const directory = directories.of(indexes.map((index) => ids[index] ?? ''));
      return { beaconHeight, time, directory, reserves: pick(reserves, indexes) };
    },
  };
}

/** The index of the last of each id, in order of ids. */
function sortedIndexes(ids: readonly string[]): number[] {
  const indexes = new Map(ids.map((id, index) => [id, index]));
  return [...indexes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, index]) => index);
}

function pick(reserves: BigUint64Array, indexes: readonly number[]): BigUint64Array<ArrayBuffer> {
  return BigUint64Array.from(indexes.flatMap((index) => [...reserves.subarray(index * 2, index * 2 + 2)]));
}

function resize(reserves: BigUint64Array<ArrayBuffer>, length: number): BigUint64Array<ArrayBuffer> {
  if (reserves.length === length) return reserves;
  const copy = new BigUint64Array(length);
  copy.set(reserves.subarray(0, length));
  return copy;
}
