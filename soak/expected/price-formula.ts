/** Two reserves in smallest units, with the decimals of their tokens. */
type Sides = {
  readonly reserve1: bigint;
  readonly reserve2: bigint;
  readonly decimals1: number;
  readonly decimals2: number;
};

/** The prices of a pool, written only from the interface specification. `null` means no price. */
type Quotes = {
  readonly price: number | null;
  readonly exactPrice: string | null;
  readonly inversePrice: number | null;
  readonly spotPrice: number | null;
};

/** The prices of a pool with an empty side, or with a token whose decimals are unknown. */
export const NO_QUOTES: Quotes = { price: null, exactPrice: null, inversePrice: null, spotPrice: null };

/** All prices of a pool. */
export function quotesOf(sides: Sides): Quotes {
  const { reserve1, reserve2, decimals1, decimals2 } = sides;
  if (reserve1 === 0n || reserve2 === 0n) return NO_QUOTES;

  const unit1 = 10 ** decimals1;
  const unit2 = 10 ** decimals2;
  const t1 = Number(reserve1);
  const t2 = Number(reserve2);
  return {
    price: (t1 - Math.ceil((t2 * t1) / (t2 + unit2))) / unit1,
    exactPrice: exactPriceOf(sides),
    inversePrice: (t2 - Math.ceil((t1 * t2) / (t1 + unit1))) / unit2,
    spotPrice: t1 / unit1 / (t2 / unit2),
  };
}

function exactPriceOf({ reserve1, reserve2, decimals1, decimals2 }: Sides): string {
  const divisor = reserve2 + 10n ** BigInt(decimals2);
  const quotient = (reserve1 * reserve2) / divisor;
  const isWhole = quotient * divisor === reserve1 * reserve2;
  const digits = String(reserve1 - (isWhole ? quotient : quotient + 1n)).padStart(decimals1 + 1, '0');
  const point = digits.length - decimals1;
  return decimals1 === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
}
