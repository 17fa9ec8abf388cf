import type { BeaconHeight } from '../../../src/domain/beacon-height.ts';
import type { ExchangeState } from '../../../src/domain/exchange.ts';
import { toInstant } from '../../../src/domain/instant.ts';
import { type PoolPair, poolPairKey } from '../../../src/domain/pool-pair.ts';
import { readResult } from '../../../src/upstream/node/envelope.ts';
import { createPoolDirectories, type PoolDirectories } from '../../../src/upstream/node/pools-reader.ts';
import { createPoolsV1Reader } from '../../../src/upstream/node/pools-v1.ts';
import type { ResponseReader } from '../../../src/upstream/response-body.ts';
import { readObject, readTokenId, readUint64, ShapeError, type WireObject } from '../../../src/upstream/wire.ts';
import { exchangeStateOf } from '../../domain/pools.ts';

const POOLS = '$.Result.PDEPoolPairs';
const POOL = `${POOLS}[…]`;

/** Reads the state out of a result that was parsed as a whole: a response that is read while it arrives must give the same. */
export function readWholeState(result: WireObject, beaconHeight: BeaconHeight): ExchangeState {
  const members = Object.entries(readObject(result['PDEPoolPairs'], POOLS));
  const pools = members.map(([key, member]): PoolPair => {
    const value = readObject(member, POOL);
    const pool = {
      beaconHeight,
      token1Id: readTokenId(value['Token1IDStr'], `${POOL}.Token1IDStr`),
      token2Id: readTokenId(value['Token2IDStr'], `${POOL}.Token2IDStr`),
      reserve1: readUint64(value['Token1PoolValue'], `${POOL}.Token1PoolValue`),
      reserve2: readUint64(value['Token2PoolValue'], `${POOL}.Token2PoolValue`),
    };
    if (key.toLowerCase() === poolPairKey(pool)) return pool;
    throw new ShapeError('keys with the height of the state and the token ids of the pool', POOLS);
  });
  const time = result['BeaconTimeStamp'];
  return exchangeStateOf(beaconHeight, pools, Number.isSafeInteger(time) ? toInstant(Number(time)) : undefined);
}

/** A reader of the response to request 1, as the first that is read or after others. */
export function stateResponse(
  height: BeaconHeight,
  directories: PoolDirectories = createPoolDirectories(),
): ResponseReader<ExchangeState> {
  return createPoolsV1Reader(height, directories, (document) => readResult(document, 1));
}

/** Reads the text of a response to request 1. */
export function readState(text: string, height: BeaconHeight, directories?: PoolDirectories): ExchangeState {
  const reader = stateResponse(height, directories);
  reader.write(Buffer.from(text));
  return reader.end();
}
