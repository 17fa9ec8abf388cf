import type { ExchangeParams } from '../../domain/exchange.ts';
import type { PoolOrder } from '../../domain/pool-order.ts';
import {
  readArray,
  readInteger,
  readObject,
  readString,
  readTokenId,
  readUint64,
  ShapeError,
  type WireObject,
} from '../wire.ts';

/** The lists of a pool that can be its orders, as they were read before: each order, or why it is none. */
export type OrderLists = readonly (readonly (PoolOrder | ShapeError)[])[];

/**
 * Anybody can create a pool, with any amplifier of 64 bits, so that its virtual amounts have 115 bits. They grow with its
 * shares, which have 64 bits. A pool beyond this limit is not one of this exchange.
 */
const MAX_VIRTUAL = 2n ** 256n - 1n;

const POOL = '$.Result.PoolPairs[…]';
const ORDER = `${POOL}.Orderbook.orders[…]`;

/**
 * Reads a pool, with the names of the domain, and its orders in the order of the response.
 *
 * @param poolId its key in the response, in lower case
 * @param lists what was cut out of it; `undefined` if the response has no orders
 * @throws ShapeError
 */
export function readPoolRow(poolId: string, value: unknown, lists: OrderLists | undefined) {
  const pool = readObject(value, POOL);
  const state = readObject(pool['State'], `${POOL}.State`);
  const amount = (name: string) => readUint64(state[name], `${POOL}.State.${name}`);
  const virtual = (name: string) => readUint64(state[name], `${POOL}.State.${name}`, MAX_VIRTUAL);
  const tokens = [state['Token0ID'], state['Token1ID']].map((id) => readTokenId(id, `${POOL}.State.Token…ID`));
  const [, hash = ''] = /^[0-9a-f]{64}-[0-9a-f]{64}-([0-9a-f]{64})$/.exec(poolId) ?? [];
  if (poolId !== `${tokens.join('-')}-${hash}`)
    throw new ShapeError('keys with the token ids of the pool and a hash', '$.Result.PoolPairs');
  return {
    id: poolId,
    real1: amount('Token0RealAmount'),
    real2: amount('Token1RealAmount'),
    virtual1: virtual('Token0VirtualAmount'),
    virtual2: virtual('Token1VirtualAmount'),
    amplifier: Number(amount('Amplifier')),
    shareAmount: amount('ShareAmount'),
    orders: lists === undefined ? [] : readOrders(pool, lists),
  };
}

/** Reads the orders of a pool, in place of which it has the number of one of the lists. It may have none. @throws ShapeError */
export function readOrders(value: unknown, lists: OrderLists): readonly PoolOrder[] {
  const pool = readObject(value, POOL);
  const { orders } = readObject(pool['Orderbook'], `${POOL}.Orderbook`);
  // An empty list can be absent or null.
  if (orders == null) return [];
  const [number] = readArray(orders, `${POOL}.Orderbook.orders`);
  const listed = lists[Number(number)] ?? [];
  return listed.map((order) => {
    if (order instanceof ShapeError) throw order;
    return order;
  });
}

/** Reads an order. @throws ShapeError */
export function readOrder(value: unknown): PoolOrder {
  const order = readObject(value, ORDER);
  const amount = (name: string) => readUint64(order[name], `${ORDER}.${name}`);
  const rate = (name: string) => {
    const read = amount(name);
    if (read === 0n) throw new ShapeError('an amount above 0', `${ORDER}.${name}`);
    return read;
  };
  const direction = readInteger(order['TradeDirection'], `${ORDER}.TradeDirection`, 1);
  return {
    id: readString(order['Id'], `${ORDER}.Id`),
    sells: direction === 0 ? 1 : 2,
    rate1: rate('Token0Rate'),
    rate2: rate('Token1Rate'),
    balance1: amount('Token0Balance'),
    balance2: amount('Token1Balance'),
  };
}

/** All of a payment: 100 %, in hundredths of a percent. */
const MAX_BPS = 10_000;

/** A discount of 100 % has no least fee. */
const MAX_DISCOUNT_PERCENT = 99;

/** The largest `Int` of GraphQL. */
const MAX_INT32 = 2 ** 31 - 1;

const PARAMS = '$.Result.Params';

/** Reads the parameters in a response of `pdexv3_getState`. @throws ShapeError */
export function readParams(result: WireObject): ExchangeParams {
  const params = readObject(result['Params'], PARAMS);
  const upTo = (max: number, name: string) => readInteger(params[name], `${PARAMS}.${name}`, max);
  // An empty map can be null.
  const rates = params['FeeRateBPS'] === null ? {} : readObject(params['FeeRateBPS'], `${PARAMS}.FeeRateBPS`);
  return {
    defaultFeeRateBps: upTo(MAX_BPS, 'DefaultFeeRateBPS'),
    feeRatesBps: new Map(
      Object.entries(rates).map(([poolId, rate]) => [
        poolId.toLowerCase(),
        readInteger(rate, `${PARAMS}.FeeRateBPS[…]`, MAX_BPS),
      ]),
    ),
    nativeFeeDiscountPercent: upTo(MAX_DISCOUNT_PERCENT, 'PRVDiscountPercent'),
    maxOrdersPerNft: upTo(MAX_INT32, 'MaxOrdersPerNft'),
    minNativeReserve: readUint64(params['MinPRVReserveTradingRate'], `${PARAMS}.MinPRVReserveTradingRate`),
  };
}
