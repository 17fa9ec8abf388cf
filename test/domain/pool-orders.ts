import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { PoolOrder } from '../../src/domain/pool-order.ts';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import { MAX_RESERVE, poolOf } from './pools.ts';

/** An order with an id that ends in these letters. */
export function orderOf(
  end: string,
  sells: 1 | 2,
  [rate1, rate2]: readonly [bigint, bigint],
  [balance1, balance2]: readonly [bigint, bigint],
): PoolOrder {
  return { id: end.padStart(64, '0'), sells, rate1, rate2, balance1, balance2 };
}

/** A pool of V3 with these amounts, real and virtual the same unless others are named. */
export function poolWithOrders(
  reserves: readonly [bigint, bigint],
  orders: readonly PoolOrder[] | undefined,
  values: readonly [bigint, bigint] = reserves,
): PoolPair {
  const pool = poolOf(reserves[0], reserves[1]);
  const poolId = `${pool.token1Id}-${pool.token2Id}-${'c'.repeat(64)}`;
  const [value1, value2] = values;
  return { ...pool, v3: { poolId, value1, value2, amplifier: 10_000, shareAmount: 1n, feeRateBps: 30, orders } };
}

/** Amounts of every magnitude up to 2^64 - 1, without 0 among the rates. */
const anyRate = fc.oneof(fc.bigInt(1n, 5n), fc.bigInt(1n, 10n ** 12n), fc.bigInt(1n, MAX_RESERVE));
const anyBalance = fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, MAX_RESERVE));

/** Orders in any order, of every size, dust and spent ones among them, whose rates are often the same. */
export const anyOrders: fc.Arbitrary<PoolOrder[]> = fc
  .array(
    fc.record({
      sells: fc.constantFrom<1 | 2>(1, 2),
      rate1: anyRate,
      rate2: anyRate,
      balance1: anyBalance,
      balance2: anyBalance,
    }),
    { maxLength: 30 },
  )
  .chain((orders) =>
    fc
      .shuffledSubarray(
        orders.map((_, index) => index.toString(16).padStart(64, '0')),
        { minLength: orders.length },
      )
      .map((ids) => orders.map((order, index) => ({ ...order, id: ids[index] ?? '' }))),
  );

type WireOrder = Readonly<Record<string, bigint | string>>;

/** The pools of the sample of the node's answer, by the last four letters of their ids, as the node lists their orders. */
export function readSamplePools(): ReadonlyMap<string, PoolPair> {
  const text = readFileSync(new URL('../fixtures/node/v3/pool-pairs.verbosity-4.json', import.meta.url), 'utf8');
  // Numbers beyond 2^53 stay exact as texts.
  const { Result } = JSON.parse(text.replace(/(?<=": )\d{10,}/g, '"$&"'));
  const pools = Object.entries<{ State: WireOrder; Orderbook: { orders?: WireOrder[] } }>(Result.PoolPairs);
  return new Map(
    pools.map(([poolId, { State, Orderbook }]) => {
      const amount = (of: WireOrder, name: string) => BigInt(of[name] ?? 0);
      const orders = (Orderbook.orders ?? []).map((order) => ({
        id: String(order['Id']),
        sells: amount(order, 'TradeDirection') === 0n ? (1 as const) : (2 as const),
        rate1: amount(order, 'Token0Rate'),
        rate2: amount(order, 'Token1Rate'),
        balance1: amount(order, 'Token0Balance'),
        balance2: amount(order, 'Token1Balance'),
      }));
      const pool = poolWithOrders(
        [amount(State, 'Token0VirtualAmount'), amount(State, 'Token1VirtualAmount')],
        orders,
        [amount(State, 'Token0RealAmount'), amount(State, 'Token1RealAmount')],
      );
      const [token1Id = '', token2Id = ''] = poolId.split('-');
      return [poolId.slice(-4), { ...pool, token1Id, token2Id, v3: { ...pool.v3, poolId } } as PoolPair];
    }),
  );
}
