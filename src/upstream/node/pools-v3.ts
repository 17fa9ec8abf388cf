import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ExchangeParams, ExchangeState, ExchangeV3 } from '../../domain/exchange.ts';
import type { Instant } from '../../domain/instant.ts';
import { type PoolOrder, sameOrders } from '../../domain/pool-order.ts';
import { orError } from '../../errors.ts';
import { parseJson } from '../json.ts';
import type { ResponseReader } from '../response-body.ts';
import { ShapeError, TooLargeError } from '../wire.ts';
import { type OrderLists, readOrder, readOrders, readPoolRow } from './decode-v3.ts';
import type { ResultOf } from './envelope.ts';
import { createPoolsReader, type PoolDirectories } from './pools-reader.ts';

/** A state of V3 as the node shows it, without the parameters. */
export type PoolsV3 = Omit<ExchangeState, 'v3'> & { readonly v3: Omit<ExchangeV3, 'params'> };

/** Reads responses of `pdexv3_getState` with all pools. */
export type PoolsV3Reader = ReturnType<typeof createPoolsV3Reader>;

/** The orders of a pool, and the time of the block after which it has them; `undefined` if the node does not report it. */
export type TimedOrders = { readonly time: Instant | undefined; readonly orders: readonly PoolOrder[] };

/** The parameters, and the time of the block after which the exchange has them; `undefined` if the node does not report it. */
export type TimedParams = { readonly time: Instant | undefined; readonly params: ExchangeParams };

/** What is known of a response before it arrives. */
type PoolsV3Response = {
  /** Whether it has the orders of the pools: that of verbosity 4 has. */
  readonly hasOrders: boolean;
  /** Whether the next state is similar to this one, so that its orders are stored for the comparison. */
  readonly isNewest: boolean;
};

/** Many times those of the exchange. */
const MAX_POOLS = 20_000;
const MAX_ORDERS = 200_000;

/** An order is in the list of the object `Orderbook` of the object of its pool. */
const ORDERS_DEPTH = 2;

/**
 * Creates a reader, which nodes of the same chain can share. Each order, and each pool without its orders, is parsed as soon as it
 * has arrived.
 *
 * @param directories shared with whatever else reads states of that chain
 */
export function createPoolsV3Reader(directories: PoolDirectories) {
  /** The orders of the pools in the last response, by pool id: lists that are equal are the same. */
  let previousOrders: ReadonlyMap<string, readonly PoolOrder[]> = new Map();

  return {
    /** Starts to read one response. */
    read(beaconHeight: BeaconHeight, resultOf: ResultOf, response: PoolsV3Response): ResponseReader<PoolsV3> {
      const { hasOrders, isNewest } = response;
      const readRow = (poolId: string, pool: unknown, lists: OrderLists) => {
        const row = readPoolRow(poolId, pool, hasOrders ? lists : undefined);
        return { ...row, orders: sameOrders(previousOrders.get(poolId), row.orders) };
      };
      return createReader(resultOf, readRow, (rows, time) => {
        if (hasOrders && isNewest) previousOrders = new Map(rows.map(({ id, orders }) => [id, orders]));
        return {
          beaconHeight,
          time,
          directory: directories.of(rows.map(({ id }) => id)),
          reserves: rows.flatMap(({ virtual1, virtual2 }) => [virtual1, virtual2]),
          v3: {
            values: BigUint64Array.from(rows.flatMap(({ real1, real2 }) => [real1, real2])),
            amplifiers: rows.map(({ amplifier }) => amplifier),
            shareAmounts: BigUint64Array.from(rows, ({ shareAmount }) => shareAmount),
            orders: hasOrders ? rows.map(({ orders }) => orders) : undefined,
          },
        };
      });
    },
    /** Starts to read the orders of one pool; its other members are filler. */
    readOrders(poolId: string, resultOf: ResultOf): ResponseReader<TimedOrders> {
      const readRow = (id: string, pool: unknown, lists: OrderLists) => ({ id, orders: readOrders(pool, lists) });
      return createReader(resultOf, readRow, (pools, time) => {
        const pool = pools.find(({ id }) => id === poolId);
        if (pool === undefined) throw new ShapeError('the pool that was requested', '$.Result.PoolPairs');
        return { time, orders: pool.orders };
      });
    },
  };
}

/**
 * Creates the reader of one response with pools.
 *
 * @param readRow reads a pool with the lists that were cut out of it. @throws ShapeError
 * @param end receives the pools in the order of their ids. @throws ShapeError
 */
function createReader<Row extends { readonly id: string }, T>(
  resultOf: ResultOf,
  readRow: (poolId: string, pool: unknown, lists: OrderLists) => Row,
  end: (rows: readonly Row[], time: Instant | undefined) => T,
): ResponseReader<T> {
  /** The lists of the next pool that can be its orders. */
  let lists: (PoolOrder | ShapeError)[][] = [];
  let orderCount = 0;

  return createPoolsReader({
    resultOf,
    name: 'PoolPairs',
    maxPools: MAX_POOLS,
    collect() {
      const rows = new Map<string, Row>();
      return {
        size: () => rows.size,
        add(poolId, pool) {
          const ownLists = lists;
          lists = [];
          rows.set(poolId, readRow(poolId, pool, ownLists));
        },
        end: (time) =>
          end(
            [...rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
            time,
          ),
      };
    },
    innerLists: {
      depth: ORDERS_DEPTH,
      begin: () => lists.push([]) - 1,
      take(order) {
        lists.at(-1)?.push(parseOrder(order));
        orderCount += 1;
        if (orderCount > MAX_ORDERS) throw new TooLargeError(`${MAX_ORDERS} orders`);
      },
    },
  });
}

/** The order in these bytes, or why it is none. Lists that are no orders can be in the same place. */
function parseOrder(bytes: Buffer): PoolOrder | ShapeError {
  return orError(ShapeError, () => readOrder(parseJson(bytes.toString())));
}
