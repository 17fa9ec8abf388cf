import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { poolPairId } from '../../domain/pool-pair.ts';
import type { ResponseReader } from '../response-body.ts';
import { readObject, readTokenId, readUint64, ShapeError } from '../wire.ts';
import type { ResultOf } from './envelope.ts';
import { createPoolsReader, type PoolDirectories } from './pools-reader.ts';

/** Ten times the pools of a large exchange. */
const MAX_POOLS = 100_000;

const POOLS = '$.Result.PDEPoolPairs';
const POOL = `${POOLS}[…]`;

/**
 * Creates the reader of a response of `getpdestate`, which has up to 30 MB.
 *
 * @param directories shared with whatever else reads states of that chain
 */
export function createStateReader(
  beaconHeight: BeaconHeight,
  directories: PoolDirectories,
  resultOf: ResultOf,
): ResponseReader<ExchangeState> {
  return createPoolsReader({
    resultOf,
    name: 'PDEPoolPairs',
    maxPools: MAX_POOLS,
    readRow: (key, value) => readPool(key, value, beaconHeight),
    end(rows, time) {
      const reserves = new BigUint64Array(2 * rows.length);
      for (const [place, { reserve1, reserve2 }] of rows.entries()) reserves.set([reserve1, reserve2], 2 * place);
      return { beaconHeight, time, directory: directories.of(rows.map(({ id }) => id)), reserves };
    },
  });
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
    throw new ShapeError(`keys with height ${beaconHeight} and the token ids of the pool`, POOLS);
  return { id, reserve1, reserve2 };
}
