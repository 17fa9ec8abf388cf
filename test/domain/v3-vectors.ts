import { readFileSync } from 'node:fs';
import type { PoolOrder } from '../../src/domain/pool-order.ts';
import type { PoolPair } from '../../src/domain/pool-pair.ts';

// Numbers of the node's own trade code: from its tests, or computed by running it.

export type Texts = readonly [string, string];
export type OrderVector = { id: string; owner: string; sells: 0 | 1; rate: Texts; balance: Texts };
export type PoolVectors = Record<
  string,
  { tokens: Texts; real: Texts; virtual: Texts; amplifier: number; shareTotal: string; orders: OrderVector[] }
>;
type TradeVector = { path: string[]; sellToken: string; sellAmount: string; minimumBuy: string };
type Changes = { pairChanges: readonly Texts[]; orderChanges: readonly Record<string, Texts>[] };
type Accepted = Changes & { accepted: true; buyAmount: string; buyToken: string };

export type SwapVector = TradeVector & {
  name: string;
  kind: 'swap';
  pools: PoolVectors;
  expected: { accepted: false; why: string } | (Accepted & { poolsAfter: PoolVectors });
};
export type BlockVector = {
  name: string;
  kind: 'block';
  params: {
    defaultFeeRateBps: number;
    feeRateBps: Record<string, number>;
    prvDiscountPercent: number;
    minPrvReserve: string;
  };
  pools: PoolVectors;
  trades: (TradeVector & { id: string; fee: string; feeInPrv: boolean })[];
  expected: {
    results: ({ trade: string; accepted: false } | (Accepted & { trade: string; rewards: Record<string, string>[] }))[];
    poolsAfter: PoolVectors;
  };
};
export type RateVector = {
  name: string;
  kind: 'prv-rate';
  pools: PoolVectors;
  token: string;
  minPrvReserve: string;
  expected: { tokenReserve: string; prvReserve: string; liquidity: string } | null;
};
export type ListVector = {
  name: string;
  kind: 'order-list';
  orders: readonly OrderVector[];
  expected: { sortedIds: string[]; nextForSellerOfToken0: string | null; nextForSellerOfToken1: string | null };
};
export type OtherVector = { name: string; kind: 'applied' | 'auto-withdraw' } & Record<string, unknown>;
type Vector = SwapVector | BlockVector | RateVector | ListVector | OtherVector;

const { vectors } = JSON.parse(
  readFileSync(new URL('../fixtures/node/v3/swap-vectors.json', import.meta.url), 'utf8'),
) as { vectors: readonly Vector[] };

/** The vectors of a kind, with their names. */
export function vectorsOf<Kind extends Vector['kind']>(kind: Kind) {
  return vectors
    .filter((vector): vector is Extract<Vector, { kind: Kind }> => vector.kind === kind)
    .map((vector) => [vector.name, vector] as const);
}

/** An order of a vector as the gateway reads it from the node. */
export function toOrder({ id, sells, rate, balance }: OrderVector): PoolOrder {
  const [rate1, rate2] = [BigInt(rate[0]), BigInt(rate[1])];
  return { id, sells: sells === 0 ? 1 : 2, rate1, rate2, balance1: BigInt(balance[0]), balance2: BigInt(balance[1]) };
}

/** The pools of a vector as the gateway reads them from the node. */
export function toPools(pools: PoolVectors): PoolPair[] {
  return Object.entries(pools).map(([poolId, { tokens, real, virtual, amplifier, shareTotal, orders }]) => ({
    beaconHeight: 1_000,
    token1Id: tokens[0],
    token2Id: tokens[1],
    reserve1: BigInt(virtual[0]),
    reserve2: BigInt(virtual[1]),
    v3: {
      poolId,
      value1: BigInt(real[0]),
      value2: BigInt(real[1]),
      amplifier,
      shareAmount: BigInt(shareTotal),
      feeRateBps: 25,
      orders: orders.map(toOrder),
    },
  }));
}
