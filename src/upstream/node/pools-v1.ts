import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { poolPairId } from '../../domain/pool-pair.ts';
import type { ResponseReader } from '../response-body.ts';
import { readObject, readTokenId, readUint64, ShapeError } from '../wire.ts';
import type { ResultOf } from './envelope.ts';
import { createPoolsReader, type PoolCollector, type PoolDirectories } from './pools-reader.ts';

/** Ten times the pools of a large exchange. */
const MAX_POOLS = 100_000;

const FIRST_CAPACITY = 64;

const POOLS = '$.Result.PDEPoolPairs';
const POOL = `${POOLS}[…]`;

/**
 * Creates the reader of a response of `getpdestate`, which has up to 30 MB.
 *
 * @param directories shared with whatever else reads states of that chain
 */
export function createPoolsV1Reader(
  beaconHeight: BeaconHeight,
  directories: PoolDirectories,
  resultOf: ResultOf,
): ResponseReader<ExchangeState> {
  const collect = () => collectPools(beaconHeight, directories);
  return createPoolsReader({ resultOf, name: 'PDEPoolPairs', maxPools: MAX_POOLS, collect });
}

/**
 * Collects the pools of a state. Usually they are those of the previous state, in order. Then only their reserves are stored: an
 * object for each pool would be 4 MB of garbage for each height with 10,000 pools.
 */
function collectPools(beaconHeight: BeaconHeight, directories: PoolDirectories): PoolCollector<ExchangeState> {
  const previousIds = directories.newestIds();
  /** The ids that were added; `undefined` while they are those of the previous state. */
  let ownIds: string[] | undefined;
  let count = 0;
  let reserves = new BigUint64Array(2 * Math.max(previousIds.length, FIRST_CAPACITY));
  let isInOrder = true;

  return {
    size: () => count,
    add(key, value) {
      const { id, reserve1, reserve2 } = readPool(key, value, beaconHeight);
      if (ownIds === undefined && previousIds[count] !== id) ownIds = previousIds.slice(0, count);
      isInOrder &&= ownIds === undefined || count === 0 || (ownIds[count - 1] ?? '') < id;
      ownIds?.push(id);
      if (2 * count === reserves.length) reserves = resized(reserves, 4 * count);
      reserves[2 * count] = reserve1;
      reserves[2 * count + 1] = reserve2;
      count += 1;
    },
    end(time) {
      const ids = ownIds ?? previousIds.slice(0, count);
      if (isInOrder)
        return { beaconHeight, time, directory: directories.of(ids), reserves: resized(reserves, 2 * count) };

      // The last of each id, in the order of the ids.
      const sorted = [...new Map(ids.map((id, place) => [id, place]))].sort(([a], [b]) => (a < b ? -1 : 1));
      const both = sorted.flatMap(([, place]) => [...reserves.subarray(2 * place, 2 * place + 2)]);
      const directory = directories.of(sorted.map(([id]) => id));
      return { beaconHeight, time, directory, reserves: BigUint64Array.from(both) };
    },
  };
}

/** @throws ShapeError */
function readPool(key: string, value: unknown, beaconHeight: BeaconHeight) {
  const pool = readObject(value, POOL);
  const token1Id = readTokenId(pool['Token1IDStr'], `${POOL}.Token1IDStr`);
  const token2Id = readTokenId(pool['Token2IDStr'], `${POOL}.Token2IDStr`);
  const reserve1 = readUint64(pool['Token1PoolValue'], `${POOL}.Token1PoolValue`);
  const reserve2 = readUint64(pool['Token2PoolValue'], `${POOL}.Token2PoolValue`);
  const id = poolPairId({ token1Id, token2Id });
  if (key !== `pdepool-${beaconHeight}-${id}`)
    throw new ShapeError('keys with the height of the state and the token ids of the pool', POOLS);
  return { id, reserve1, reserve2 };
}

function resized({ buffer }: BigUint64Array<ArrayBuffer>, length: number): BigUint64Array<ArrayBuffer> {
  return new BigUint64Array(buffer.transfer(length * BigUint64Array.BYTES_PER_ELEMENT));
}
