import type { PoolOrder } from '../../src/domain/pool-order.ts';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import type { OrderVector, PoolVectors } from '../fixtures/node/v3/swap-vectors.ts';

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
