import type { BeaconHeight } from './beacon-height.ts';
import type { ExchangeState } from './exchange.ts';
import type { Instant } from './instant.ts';
import type { PoolDirectories } from './pool-directory.ts';
import { type PoolPair, poolPairId } from './pool-pair.ts';

/** A state of which the pools come one by one. */
export type ExchangeDraft = {
  /** How many pools have come. */
  length(): number;
  /** Where the pool that comes next stands in the newest directory, if the height before had the same pools in this order. */
  expectedPlace(): number | undefined;
  /** The pool that is expected has come. */
  addExpected(reserve1: bigint, reserve2: bigint): void;
  add(pool: PoolPair): void;
  /** The state of what has come, in order of ids; of several pools with one id, the last. */
  toState(time: Instant | undefined): ExchangeState;
};

const FIRST_ROOM = 64;

/**
 * Makes a draft of the state at that height.
 *
 * As a rule the pools are those of the height before and come in order. Then nothing is left to do when the last has come,
 * and nothing was kept of each but its reserves.
 */
export function createExchangeDraft(beaconHeight: BeaconHeight, directories: PoolDirectories): ExchangeDraft {
  const newest = directories.newest();
  const known = newest?.ids ?? [];
  /** The ids of what has come; `undefined` for as long as these are the known ones. */
  let own: string[] | undefined;
  let length = 0;
  let reserves = new BigUint64Array(2 * Math.max(known.length, FIRST_ROOM));
  let expected = 0;
  let isInOrder = true;

  function put(id: string, reserve1: bigint, reserve2: bigint): void {
    if (own === undefined && known[length] !== id) own = known.slice(0, length);
    isInOrder &&= own === undefined || length === 0 || (own[length - 1] ?? '') < id;
    own?.push(id);
    if (length * 2 === reserves.length) reserves = toLength(reserves, length * 4);
    reserves[length * 2] = reserve1;
    reserves[length * 2 + 1] = reserve2;
    length += 1;
  }

  return {
    length: () => length,
    expectedPlace: () => (expected < known.length ? expected : undefined),
    addExpected: (reserve1, reserve2) => put(known[expected++] ?? '', reserve1, reserve2),
    add(pool) {
      const id = poolPairId(pool);
      // After one that is new, the same is expected; after one that is known, the one behind it.
      const place = newest?.places.get(id);
      if (place !== undefined) expected = place + 1;
      put(known[place ?? -1] ?? id, pool.reserve1, pool.reserve2);
    },
    toState(time) {
      const ids = own ?? (length === known.length ? known : known.slice(0, length));
      if (isInOrder)
        return { beaconHeight, time, directory: directories.of(ids), reserves: toLength(reserves, length * 2) };

      const places = placesInOrder(ids);
      const directory = directories.of(places.map((place) => ids[place] ?? ''));
      return { beaconHeight, time, directory, reserves: pick(reserves, places) };
    },
  };
}

/** The place of the last of each id, in order of ids. */
function placesInOrder(ids: readonly string[]): number[] {
  const places = new Map(ids.map((id, place) => [id, place]));
  return [...places].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, place]) => place);
}

function pick(reserves: BigUint64Array, places: readonly number[]): BigUint64Array<ArrayBuffer> {
  return BigUint64Array.from(places.flatMap((place) => [...reserves.subarray(place * 2, place * 2 + 2)]));
}

function toLength(reserves: BigUint64Array<ArrayBuffer>, length: number): BigUint64Array<ArrayBuffer> {
  if (reserves.length === length) return reserves;
  const copy = new BigUint64Array(length);
  copy.set(reserves.subarray(0, length));
  return copy;
}
