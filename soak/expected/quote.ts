import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import type { ChainPool } from '../../src/sandbox/chain/pools.ts';

/** A trade of one amount, in smallest units. */
export type Trade = {
  readonly sell: string;
  readonly buy: string;
  readonly amount: bigint;
  /** Whether the amount is the one that is sold. */
  readonly isSelling: boolean;
  readonly maxHops: number;
};

/** The amounts of the best route at a block, by trying all routes; `undefined` if there is none. */
export function expectedAmounts(chain: Chain, block: Block, trade: Trade) {
  const { sell, buy, amount, isSelling, maxHops } = trade;
  // Amounts are computed from the end where one is known.
  const [from, to] = isSelling ? [sell, buy] : [buy, sell];
  const pools = Map.groupBy(
    chain.poolsAt(block.height).flatMap((pool) => [
      { pool, token: pool.token1.id },
      { pool, token: pool.token2.id },
    ]),
    ({ token }) => token,
  );
  let best: bigint | undefined;

  function walk(token: string, known: bigint, visited: readonly string[]): void {
    if (token === to) {
      if (best === undefined || (isSelling ? known > best : known < best)) best = known;
      return;
    }
    if (visited.length > maxHops) return;
    for (const { pool } of pools.get(token) ?? []) {
      const next = pool.token1.id === token ? pool.token2.id : pool.token1.id;
      const other = visited.includes(next) ? undefined : otherAmount(pool, token, known);
      if (other !== undefined) walk(next, other, [...visited, next]);
    }
  }

  function otherAmount(pool: ChainPool, token: string, known: bigint): bigint | undefined {
    const side = pool.token1.id === token ? 0 : 1;
    const reserve = block.reserves[pool.index * 2 + side] ?? 0n;
    const other = block.reserves[pool.index * 2 + 1 - side] ?? 0n;
    if (reserve === 0n || other === 0n) return undefined;
    if (isSelling) return other - divideUp(reserve * other, reserve + known) || undefined;
    if (known >= reserve) return undefined;
    const required = divideUp(other * known, reserve - known);
    return required < 2n ** 64n ? required : undefined;
  }

  walk(from, amount, [from]);
  if (best === undefined) return undefined;
  return isSelling ? { sellAmount: amount, buyAmount: best } : { sellAmount: best, buyAmount: amount };
}

function divideUp(divided: bigint, divisor: bigint): bigint {
  return (divided + divisor - 1n) / divisor;
}
