import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ExchangeState, ExchangeV3 } from '../../domain/exchange.ts';
import { toInstant } from '../../domain/instant.ts';
import { type PoolOrder, sameOrders } from '../../domain/pool-order.ts';
import type { ResponseReader } from '../body.ts';
import { parseJson } from '../json.ts';
import { createFilteredReader } from '../json-filter.ts';
import { parseMember } from '../json-member.ts';
import { readObject, ShapeError, TooLargeError } from '../wire.ts';
import type { ResultOf } from './envelope.ts';
import { type ListedOrders, type PoolRow, readOrder, readOrders, readPoolRow } from './pool-v3.ts';
import type { PoolDirectories } from './state-builder.ts';

/** A state of V3 as the node shows it, without the parameters. */
export type PoolsV3 = Omit<ExchangeState, 'v3'> & { readonly v3: Omit<ExchangeV3, 'params'> };

/** Reads responses of `pdexv3_getState` with all pools. */
export type PoolsV3Reader = {
  /** Starts to read one response. */
  read(height: BeaconHeight, resultOf: ResultOf, response: PoolsV3Response): ResponseReader<PoolsV3>;
  /** Starts to read the orders of one pool; its other members are filler. */
  readOrders(poolId: string, resultOf: ResultOf): ResponseReader<readonly PoolOrder[]>;
};

/** What is known of a response before it arrives. */
type PoolsV3Response = {
  /** Whether it has the orders of the pools: that of verbosity 4 has. */
  readonly hasOrders: boolean;
  /** Whether the next state is similar to this one, so that its orders are stored for the comparison. */
  readonly isNewest: boolean;
};

/** Bytes that are kept beside the pools. */
const MAX_KEPT_BYTES = 2 ** 20;

/** Many times those of the exchange. */
const MAX_POOLS = 20_000;
const MAX_ORDERS = 200_000;

const POOLS = '$.Result.PoolPairs';

/** An order is in the list of the object `Orderbook` of the object of its pool. */
const ORDERS_DEPTH = 2;

/**
 * Creates a reader, which nodes of the same chain can share. Each order, and each pool without its orders, is parsed as soon as it
 * has arrived, so that no response blocks the event loop.
 *
 * @param directories shared with whatever else reads states of that chain
 */
export function createPoolsV3Reader(directories: PoolDirectories): PoolsV3Reader {
  /** The orders of the pools in the last response, by pool id: lists that are equal are the same. */
  let previousOrders: ReadonlyMap<string, readonly PoolOrder[]> = new Map();

  function toState(
    beaconHeight: BeaconHeight,
    time: unknown,
    rows: readonly PoolRow[],
    { hasOrders, isNewest }: PoolsV3Response,
  ): PoolsV3 {
    const sorted = rows.toSorted((a, b) => (a.poolId < b.poolId ? -1 : 1));
    const orders = sorted.map((row) => sameOrders(previousOrders.get(row.poolId), row.orders));
    if (hasOrders && isNewest)
      previousOrders = new Map(sorted.map(({ poolId }, place) => [poolId, orders[place] ?? []]));
    return {
      beaconHeight,
      time: Number.isSafeInteger(time) ? toInstant(Number(time)) : undefined,
      directory: directories.of(sorted.map(({ poolId }) => poolId)),
      reserves: sorted.flatMap(({ virtual1, virtual2 }) => [virtual1, virtual2]),
      v3: {
        values: BigUint64Array.from(sorted.flatMap(({ real1, real2 }) => [real1, real2])),
        amplifiers: sorted.map(({ amplifier }) => amplifier),
        shareAmounts: BigUint64Array.from(sorted, ({ shareAmount }) => shareAmount),
        orders: hasOrders ? orders : undefined,
      },
    };
  }

  return {
    read(beaconHeight, resultOf, response) {
      const readRow = (poolId: string, pool: unknown, orders: ListedOrders) =>
        readPoolRow(poolId, pool, response.hasOrders ? orders : undefined);
      return createPoolsReader(resultOf, readRow, (rows, time) =>
        toState(beaconHeight, time, [...rows.values()], response),
      );
    },
    readOrders(poolId, resultOf) {
      const readRow = (_: string, pool: unknown, orders: ListedOrders) => readOrders(pool, orders);
      return createPoolsReader(resultOf, readRow, (pools) => pools.get(poolId) ?? []);
    },
  };
}

/**
 * Creates the reader of one response with pools.
 *
 * @param readRow reads a pool, from which its orders were taken out. Both throw ShapeError
 */
function createPoolsReader<Row, T>(
  resultOf: ResultOf,
  readRow: (poolId: string, pool: unknown, orders: ListedOrders) => Row,
  end: (rows: ReadonlyMap<string, Row>, time: unknown) => T,
): ResponseReader<T> {
  /** By pool id, or why it cannot be read: that is thrown at the end, because the envelope may contain an error. */
  let rows = new Map<string, Row>();
  let errors = new Map<string, ShapeError>();
  let orders: (PoolOrder | ShapeError)[] = [];
  let orderCount = 0;

  function take(member: Buffer): void {
    const { key, value } = parseMember(member.toString());
    const poolId = key.toLowerCase();
    const listed = orders;
    orders = [];
    rows.delete(poolId);
    errors.delete(poolId);
    try {
      rows.set(poolId, readRow(poolId, value, listed));
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      errors.set(poolId, error);
    }
    if (rows.size + errors.size > MAX_POOLS) throw new TooLargeError(`${MAX_POOLS} pools`);
  }

  const parts = {
    name: 'PoolPairs',
    isList: false,
    // A document can have the member twice. Then the last one counts.
    begin() {
      rows = new Map();
      errors = new Map();
    },
    take,
    innerLists: {
      depth: ORDERS_DEPTH,
      begin() {
        orders = [];
      },
      take(order: Buffer) {
        orders.push(parseOrder(order));
        orderCount += 1;
        if (orderCount > MAX_ORDERS) throw new TooLargeError(`${MAX_ORDERS} orders`);
      },
    },
  };

  const filter = { within: 'Result', keep: ['BeaconTimeStamp'], parts, maxBytes: MAX_KEPT_BYTES };
  return createFilteredReader(filter, (document) => {
    const result = resultOf(document);
    readObject(result['PoolPairs'], POOLS);
    const [error] = errors.values();
    if (error !== undefined) throw error;
    return end(rows, result['BeaconTimeStamp']);
  });
}

/** The order in these bytes, or why it is none. Lists that are no orders can be in the same place. */
function parseOrder(bytes: Buffer): PoolOrder | ShapeError {
  try {
    return readOrder(parseJson(bytes.toString()));
  } catch (error) {
    if (error instanceof ShapeError) return error;
    throw error;
  }
}
