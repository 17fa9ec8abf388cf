import type { BeaconHeight } from './beacon-height.ts';
import { type ExchangeState, placeOfId } from './exchange.ts';
import { powerOf10 } from './price.ts';
import { addTraded, type Traded } from './reserves.ts';

/** A trade through one pool of V3, as the instructions of a block record it. All amounts are in smallest units. */
export type PoolTrade = {
  readonly poolId: string;
  /** The hash of the transaction that requested it. */
  readonly transactionId: string;
  /** The place of this pool in the route, from 0, and the number of pools of the route. */
  readonly step: number;
  readonly steps: number;
  /** The token of the pool that came in. The other one went out. */
  readonly sells: 1 | 2;
  /** What came in, into the pool and its orders together. */
  readonly sellAmount: bigint;
  /** What went out, of the pool and its orders together. */
  readonly buyAmount: bigint;
  /** The part of the orders. */
  readonly sellAmountToOrders: bigint;
  readonly buyAmountFromOrders: bigint;
};

/** The place of a trade on the chain. `place` counts the trades of its block from 0. */
export type TradePlace = { readonly beaconHeight: BeaconHeight; readonly place: number };

/** The sum of trades, in smallest units, and their number. */
export type Volume = Traded & { readonly trades: number };

/** What a trade moved, and in which direction. */
export type TradedAmounts = Pick<PoolTrade, 'sells' | 'sellAmount' | 'buyAmount'>;

/** What a trade moved of both tokens of the pool. */
export function tradedBy({ sells, sellAmount, buyAmount }: TradedAmounts): Traded {
  return sells === 1 ? { traded1: sellAmount, traded2: buyAmount } : { traded1: buyAmount, traded2: sellAmount };
}

/** The volume of a single trade. */
export function volumeOf(trade: TradedAmounts): Volume {
  return { ...tradedBy(trade), trades: 1 };
}

/** The sums of volumes by their keys. */
export function sumVolumes<K>(volumes: Iterable<readonly [key: K, volume: Volume]>): ReadonlyMap<K, Volume> {
  const sums = new Map<K, Volume>();
  for (const [key, volume] of volumes) {
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? volume : { ...addTraded(sum, volume), trades: sum.trades + volume.trades });
  }
  return sums;
}

/** The average price over a trade: whole tokens of the other token of the pool for one whole token `base`. */
export function averagePrice(trade: TradedAmounts, decimals1: number, decimals2: number, base: 1 | 2): number {
  const { traded1, traded2 } = tradedBy(trade);
  const [whole1, whole2] = [Number(traded1) / powerOf10(decimals1), Number(traded2) / powerOf10(decimals2)];
  return base === 2 ? whole1 / whole2 : whole2 / whole1;
}

/** What the instructions of a block say about the pools of V3. */
export type BlockTrades = {
  /** The accepted trades, in the order of the block. */
  readonly trades: readonly PoolTrade[];
  /** Whether every accepted trade could be decoded. If not, there are no trades. */
  readonly isComplete: boolean;
  /** The ids of the pools whose providers have added or removed liquidity. */
  readonly poolsWithLiquidityChanges: ReadonlySet<string>;
};

/**
 * The pools whose amounts differ from what the trades of the block give. A state and the instructions of the next block give the
 * next state, so a pool is returned only if the node or the gateway is wrong. New pools are left out, and those with changed liquidity.
 *
 * @param before the state of the block below
 * @returns the ids of the pools
 */
export function mismatches(before: ExchangeState, after: ExchangeState, block: BlockTrades): string[] {
  const { trades, isComplete, poolsWithLiquidityChanges } = block;
  if (!isComplete || before.v3 === undefined || after.v3 === undefined) return [];
  const changes = new Map<string, readonly [bigint, bigint]>();
  for (const trade of trades) {
    const [change1, change2] = changeOfPool(trade);
    const [sum1, sum2] = changes.get(trade.poolId) ?? [0n, 0n];
    changes.set(trade.poolId, [sum1 + change1, sum2 + change2]);
  }

  return after.directory.ids.filter((id, placeAfter) => {
    const place = after.directory === before.directory ? placeAfter : placeOfId(before.directory, id);
    if (place === undefined || poolsWithLiquidityChanges.has(id)) return false;
    const change = changes.get(id) ?? [0n, 0n];
    return !change.every((each, side) => {
      const [i, j] = [2 * place + side, 2 * placeAfter + side];
      const isVirtual = (after.reserves[j] ?? 0n) - (before.reserves[i] ?? 0n) === each;
      return isVirtual && (after.v3?.values[j] ?? 0n) - (before.v3?.values[i] ?? 0n) === each;
    });
  });
}

/** By how much a trade changes the amounts of the pool itself. */
function changeOfPool(trade: PoolTrade): readonly [bigint, bigint] {
  const paid = trade.sellAmount - trade.sellAmountToOrders;
  const got = trade.buyAmountFromOrders - trade.buyAmount;
  return trade.sells === 1 ? [paid, got] : [got, paid];
}
