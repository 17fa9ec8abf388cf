import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ExchangeState, ExchangeV3 } from '../../domain/exchange.ts';
import { type Instant, toInstant } from '../../domain/instant.ts';
import { type PoolOrder, sameOrders } from '../../domain/pool-order.ts';
import type { ResponseReader } from '../body.ts';
import { parseJson } from '../json.ts';
import { createFilteredReader } from '../json-filter.ts';
import { parseMember } from '../json-member.ts';
import { readObject, ShapeError, TooLargeError } from '../wire.ts';
import type { ResultOf } from './envelope.ts';
import { type OrderLists, type PoolRow, readOrder, readOrders, readPoolRow } from './pool-v3.ts';
import type { PoolDirectories } from './state-builder.ts';

/** A state of V3 as the node shows it, without the parameters. */
export type PoolsV3 = Omit<ExchangeState, 'v3'> & { readonly v3: Omit<ExchangeV3, 'params'> };

/** Reads responses of `pdexv3_getState` with all pools. */
export type PoolsV3Reader = {
  /** Starts to read one response. */
  read(height: BeaconHeight, resultOf: ResultOf, response: PoolsV3Response): ResponseReader<PoolsV3>;
  /** Starts to read the orders of one pool; its other members are filler. */
  readOrders(poolId: string, resultOf: ResultOf): ResponseReader<TimedOrders>;
};

/** The orders of a pool, and the time of the block after which it has them; `undefined` if the node does not report it. */
export type TimedOrders = { readonly time: Instant | undefined; readonly orders: readonly PoolOrder[] };

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
    time: Instant | undefined,
    rows: readonly PoolRow[],
    { hasOrders, isNewest }: PoolsV3Response,
  ): PoolsV3 {
    const sorted = rows.toSorted((a, b) => (a.poolId < b.poolId ? -1 : 1));
    if (hasOrders && isNewest) previousOrders = new Map(sorted.map(({ poolId, orders }) => [poolId, orders]));
    return {
      beaconHeight,
      time,
      directory: directories.of(sorted.map(({ poolId }) => poolId)),
      reserves: sorted.flatMap(({ virtual1, virtual2 }) => [virtual1, virtual2]),
      v3: {
        values: BigUint64Array.from(sorted.flatMap(({ real1, real2 }) => [real1, real2])),
        amplifiers: sorted.map(({ amplifier }) => amplifier),
        shareAmounts: BigUint64Array.from(sorted, ({ shareAmount }) => shareAmount),
        orders: hasOrders ? sorted.map(({ orders }) => orders) : undefined,
      },
    };
  }

  return {
    read(beaconHeight, resultOf, response) {
      const readRow = (poolId: string, pool: unknown, lists: OrderLists) => {
        const row = readPoolRow(poolId, pool, response.hasOrders ? lists : undefined);
        return { ...row, orders: sameOrders(previousOrders.get(poolId), row.orders) };
      };
      return createPoolsReader(resultOf, readRow, (rows, time) =>
        toState(beaconHeight, time, [...rows.values()], response),
      );
    },
    readOrders(poolId, resultOf) {
      const readRow = (_: string, pool: unknown, lists: OrderLists) => readOrders(pool, lists);
      return createPoolsReader(resultOf, readRow, (pools, time) => {
        const orders = pools.get(poolId);
        if (orders === undefined) throw new ShapeError('the pool that was requested', POOLS);
        return { time, orders };
      });
    },
  };
}

/**
 * Creates the reader of one response with pools.
 *
 * @param readRow reads a pool with the lists that were cut out of it. Both throw ShapeError
 */
function createPoolsReader<Row, T>(
  resultOf: ResultOf,
  readRow: (poolId: string, pool: unknown, lists: OrderLists) => Row,
  end: (rows: ReadonlyMap<string, Row>, time: Instant | undefined) => T,
): ResponseReader<T> {
  /** By pool id, or why it cannot be read: that is thrown at the end, because the envelope may contain an error. */
  let rows = new Map<string, Row>();
  let errors = new Map<string, ShapeError>();
  /** The lists of the next pool that can be its orders. */
  let lists: (PoolOrder | ShapeError)[][] = [];
  let orderCount = 0;

  function take(member: Buffer): void {
    const { key, value } = parseMember(member.toString());
    const poolId = key.toLowerCase();
    const ownLists = lists;
    lists = [];
    rows.delete(poolId);
    errors.delete(poolId);
    try {
      rows.set(poolId, readRow(poolId, value, ownLists));
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
      begin: () => lists.push([]) - 1,
      take(order: Buffer) {
        lists.at(-1)?.push(parseOrder(order));
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
    const time = result['BeaconTimeStamp'];
    return end(rows, Number.isSafeInteger(time) ? toInstant(Number(time)) : undefined);
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
