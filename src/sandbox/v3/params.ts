/** What of the exchange's parameters concerns the fees of trades. */
export type FeeParams = {
  /** The fee of a trade through a pool, in hundredths of a percent, and those of the pools that differ. */
  readonly defaultFeeRateBps: number;
  readonly feeRateBps: ReadonlyMap<string, number>;
  /** By how many percent a fee in the native token is lower. */
  readonly prvDiscountPercent: number;
  /** The least amount of the native token of a pool by which fees are converted. */
  readonly minPrvReserve: bigint;
};

/** The exchange's parameters, as far as they concern trades and orders. */
export type Params = FeeParams & {
  readonly maxOrdersPerNft: number;
  /** How many orders that cannot be matched any more the node closes in a block, for each shard. */
  readonly closedOrdersPerShard: number;
};

/** The blocks between two changes of the parameters: four hours. */
const PERIOD = 360;

/** The parameters at a height. The fees of three pools change every four hours. */
export function paramsAt(height: number, poolIds: readonly string[]): Params {
  const isChanged = Math.floor(height / PERIOD) % 2 === 1;
  const rates = isChanged ? [100, 30, 10] : [80, 35, 10];
  return {
    defaultFeeRateBps: 25,
    feeRateBps: new Map(poolIds.slice(2, 5).map((id, i): [string, number] => [id, rates[i] ?? 25])),
    prvDiscountPercent: 50,
    minPrvReserve: 10_000_000_000_000n,
    maxOrdersPerNft: 10,
    closedOrdersPerShard: 1,
  };
}

/** Whether a block changes the parameters. */
export function changesParams(height: number): boolean {
  return height % PERIOD === 0;
}
