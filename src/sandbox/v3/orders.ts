import type { Random } from '../chain/random.ts';
import type { GenesisPool } from './genesis.ts';
import { type Amounts, byPlaceInList, type Order, ofSides, type PoolState, type Side } from './pool.ts';

/** The number of orders of a pool when the exchange begins. */
export const ORDERS_OF_POOL = 8;

/** How many it has at most. */
export const MAX_ORDERS = 14;

/** A new order for a part of the pool, at a price 0.3 to 8 % away from that of the pool. Its owner owns several orders. */
export function orderNear(pool: GenesisPool, { virtual }: PoolState, random: Random): Order {
  const sells: Side = random.chance(0.5) ? 0 : 1;
  const away = 1 + random.between(0.003, 0.08);
  const sold = Math.max(1, Math.round(Number(virtual[sells]) * 10 ** random.between(-5, -3)));
  const ratio = Number(virtual[sells === 0 ? 1 : 0]) / Number(virtual[sells]);
  const bought = Math.max(1, Math.ceil(sold * ratio * away));
  const amount = BigInt(sold);
  return {
    id: random.hex(64),
    nft: nftOf(pool, random.below(8)),
    receivers: [`15${random.base58(142)}`, `15${random.base58(142)}`],
    sells,
    rates: ofSides(sells, amount, BigInt(bought)),
    balances: ofSides(sells, amount, 0n),
  };
}

/** The orders of a pool with one more, in the node's order. */
export function withOrder(orders: readonly Order[], order: Order): readonly Order[] {
  return [...orders, order].sort(byPlaceInList);
}

/** The orders of a pool after a balance of one was withdrawn. An order with nothing left is gone. */
export function withoutBalance(orders: readonly Order[], id: string, side: Side): readonly Order[] {
  return orders.flatMap((order) => {
    if (order.id !== id) return [order];
    const balances: Amounts = side === 0 ? [0n, order.balances[1]] : [order.balances[0], 0n];
    return balances[0] === 0n && balances[1] === 0n ? [] : [{ ...order, balances }];
  });
}

/** The shard of an order's owner, which closes it. */
export function shardOf({ nft }: Order): number {
  return Number.parseInt(nft.slice(-1), 16) % 8;
}

function nftOf(pool: GenesisPool, owner: number): string {
  return `${pool.id.slice(-60)}00f${owner.toString(16)}`;
}
