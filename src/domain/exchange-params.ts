/** The parameters of the third version of the exchange that trades depend on. */
export type ExchangeParams = {
  /** In hundredths of a percent. */
  readonly defaultFeeRateBps: number;
  /** The rates of the pools that have one of their own, by pool id. */
  readonly feeRatesBps: ReadonlyMap<string, number>;
  /** By how many percent a fee that is paid in the native coin is lower. */
  readonly nativeFeeDiscountPercent: number;
  /** How many open orders one NFT can have in a pool. */
  readonly maxOrdersPerNft: number;
  /** The native coin that a pool must hold at least, without amplification, to give the rate of a fee. In smallest units. */
  readonly minNativeReserve: bigint;
};

/** The fee rate of a trade through a pool, in hundredths of a percent. */
export function feeRateBps({ defaultFeeRateBps, feeRatesBps }: ExchangeParams, poolId: string): number {
  return feeRatesBps.get(poolId) ?? defaultFeeRateBps;
}
