import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { type ExchangeState, toExchangeState } from '../../domain/exchange.ts';
import { toInstant } from '../../domain/instant.ts';
import { type PoolPair, poolPairKey } from '../../domain/pool-pair.ts';
import { Misfit, readObject, readTokenId, readUint64, type WireObject } from '../wire.ts';

const POOLS = '$.Result.PDEPoolPairs';
const POOL = `${POOLS}[…]`;

/**
 * Decodes the result of `getpdestate` at that height. Of its five sections only the pools and the time are read: shares and
 * fees, most of the answer, are not asked for by anyone.
 *
 * @throws Misfit, also where the keys name another height, as the answer to another question would
 */
export function readExchangeState(result: WireObject, beaconHeight: BeaconHeight): ExchangeState {
  const pools = Object.entries(readObject(result['PDEPoolPairs'], POOLS)).map(([key, value]) =>
    readPoolPair(key, readObject(value, POOL), beaconHeight),
  );
  const time = result['BeaconTimeStamp'];
  return toExchangeState(beaconHeight, pools, Number.isSafeInteger(time) ? toInstant(Number(time)) : undefined);
}

function readPoolPair(key: string, value: WireObject, beaconHeight: BeaconHeight): PoolPair {
  const pool: PoolPair = {
    beaconHeight,
    token1Id: readTokenId(value['Token1IDStr'], `${POOL}.Token1IDStr`),
    token2Id: readTokenId(value['Token2IDStr'], `${POOL}.Token2IDStr`),
    reserve1: readUint64(value['Token1PoolValue'], `${POOL}.Token1PoolValue`),
    reserve2: readUint64(value['Token2PoolValue'], `${POOL}.Token2PoolValue`),
  };
  if (key.toLowerCase() !== poolPairKey(pool))
    throw new Misfit(`keys of height ${beaconHeight} and of the pool's tokens`, POOLS);
  return pool;
}
