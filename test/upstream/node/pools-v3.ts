import type { BeaconHeight } from '../../../src/domain/beacon-height.ts';
import { toInstant } from '../../../src/domain/instant.ts';
import { readOrder, readPoolRow } from '../../../src/upstream/node/decode-v3.ts';
import { readResult } from '../../../src/upstream/node/envelope.ts';
import { createPoolDirectories } from '../../../src/upstream/node/pools-reader.ts';
import { createPoolsV3Reader, type PoolsV3, type PoolsV3Reader } from '../../../src/upstream/node/pools-v3.ts';
import type { ResponseReader } from '../../../src/upstream/response-body.ts';
import { readObject, ShapeError, type WireObject } from '../../../src/upstream/wire.ts';
import { readFixture } from '../fixture.ts';

/** The height of the fixtures. */
export const HEIGHT_V3 = 2_150_000;

/** The recorded response with all pools and their orders. */
export const POOLS_V3 = readFixture('node/v3/pool-pairs.verbosity-4').trim();

/** The result of the response to request 1. */
export const resultOf = (document: unknown) => readResult(document, 1);

/** A reader that has read nothing yet. */
export function newPoolsReader(): PoolsV3Reader {
  return createPoolsV3Reader(createPoolDirectories());
}

/** A reader of the response to request 1, as the first that is read or after others. */
export function poolsResponse(
  reader = newPoolsReader(),
  { hasOrders = true, isNewest = true, height = HEIGHT_V3 } = {},
): ResponseReader<PoolsV3> {
  return reader.read(height, resultOf, { hasOrders, isNewest });
}

/** Reads the text of a response to request 1. */
export function readPools(
  text: string,
  reader?: PoolsV3Reader,
  options?: Parameters<typeof poolsResponse>[1],
): PoolsV3 {
  const response = poolsResponse(reader, options);
  response.write(Buffer.from(text));
  return response.end();
}

/** Pools that were parsed as a whole, by id: a response that is read while it arrives must give the same. */
export function readWholePools(result: WireObject, beaconHeight: BeaconHeight) {
  const pools = readObject(result['PoolPairs'], '$.Result.PoolPairs');
  const rows = Object.entries(pools).map(([key, value]) => {
    const pool = readObject(value, '$.Result.PoolPairs[…]');
    const orders = (pool['Orderbook'] as WireObject | null | undefined)?.['orders'];
    const lists = Array.isArray(orders) ? [orders.map(readOrderOrError)] : [];
    const shown = Array.isArray(orders) ? { ...pool, Orderbook: { orders: [0] } } : pool;
    return readPoolRow(key.toLowerCase(), shown, lists);
  });
  const byId = new Map(rows.map((row) => [row.id, row]));
  const time = result['BeaconTimeStamp'];
  return {
    beaconHeight,
    time: Number.isSafeInteger(time) ? toInstant(Number(time)) : undefined,
    pools: [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

/** The pools of a state in the form of {@link readWholePools}. */
export function toRows({ beaconHeight, time, directory, reserves, v3 }: PoolsV3) {
  const pools = directory.ids.map((id, place) => ({
    id,
    real1: v3.values[place * 2],
    real2: v3.values[place * 2 + 1],
    virtual1: reserves[place * 2],
    virtual2: reserves[place * 2 + 1],
    amplifier: v3.amplifiers[place],
    shareAmount: v3.shareAmounts[place],
    orders: v3.orders?.[place],
  }));
  return { beaconHeight, time, pools };
}

function readOrderOrError(order: unknown) {
  try {
    return readOrder(order);
  } catch (error) {
    if (error instanceof ShapeError) return error;
    throw error;
  }
}
