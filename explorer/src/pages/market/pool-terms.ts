/** What distinguishes pools of the same two tokens, apart from their amounts. */
type PoolTerms = { readonly amplifier: number; readonly feeRateBps: number | null };

/** The amplifier of a pool whose virtual amounts are the real ones. */
const NO_AMPLIFICATION = 10_000;

/** The fee of a trade in percent: 0.25%. @param rateBps in hundredths of a percent */
export function formatFeeRate(rateBps: number): string {
  return `${rateBps / 100}%`;
}

/** How many pools two tokens have, for the line that lists them. @param hasMore whether not all pools of one token were read */
export function textOfPools(names: string, count: number, hasMore: boolean): string {
  if (count >= 2) return `${hasMore ? 'At least ' : ''}${count} pools of ${names}, the most liquid first:`;
  return hasMore ? `No other pool of ${names} is among the most liquid ones.` : `No other pool has ${names}.`;
}

/** How often the virtual amounts were the real ones when the pool was created: 2.2×. Null for none. */
export function amplificationOf({ amplifier }: Pick<PoolTerms, 'amplifier'>): string | null {
  return amplifier === NO_AMPLIFICATION ? null : `${amplifier / NO_AMPLIFICATION}×`;
}

/** Fee and amplification in short: fee 0.25% · 2.2×. */
export function termsOfPool(pool: PoolTerms): string {
  const fee = pool.feeRateBps === null ? null : `fee ${formatFeeRate(pool.feeRateBps)}`;
  return [fee, amplificationOf(pool)].filter((part) => part !== null).join(' · ');
}
