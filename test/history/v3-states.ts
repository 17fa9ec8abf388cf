import { type ExchangeState, toPoolDirectory } from '../../src/domain/exchange.ts';
import type { Instant } from '../../src/domain/instant.ts';
import { tokenId } from '../domain/pools.ts';

/** A pool of V3 with the amounts that prices are computed with. It holds a hundredth of them. */
export type PoolOfV3 = { readonly id: string; readonly reserves: readonly [bigint, bigint] };

/** The id of a pool of V3. @param number makes it different from the other pools of the same tokens */
export function poolIdOf(token1: string, token2: string, number: number): string {
  return [tokenId(token1), tokenId(token2), number.toString(16).padStart(64, '0')].join('-');
}

/** A state of V3 as the gateway reads it from a node. */
export function v3StateOf(beaconHeight: number, pools: readonly PoolOfV3[], time?: Instant): ExchangeState {
  const sorted = pools.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const reserves = sorted.flatMap((pool) => pool.reserves);
  return {
    beaconHeight,
    time,
    directory: toPoolDirectory(sorted.map(({ id }) => id)),
    reserves,
    v3: {
      values: BigUint64Array.from(reserves, (reserve) => reserve / 100n),
      amplifiers: sorted.map(() => 1_000_000),
      shareAmounts: BigUint64Array.from(sorted, () => 1n),
      orders: undefined,
      params: {
        defaultFeeRateBps: 25,
        feeRatesBps: new Map(),
        nativeFeeDiscountPercent: 50,
        maxOrdersPerNft: 10,
        minNativeReserve: 10n ** 13n,
      },
    },
  };
}
