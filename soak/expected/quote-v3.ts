import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import { amountsAt, tradingPools } from './exchange.ts';
import { swappedBy } from './pool-swap.ts';

/** What is sold and bought in V3. */
type Trade = { readonly sell: string; readonly buy: string; readonly maxHops: number };

/** The most that selling an amount can give after a block, by trying all routes; `undefined` if each of them is refused. */
export function mostBought(chain: Chain, block: Block, trade: Trade, amount: bigint): bigint | undefined {
  const { sell, buy, maxHops } = trade;
  const pools = Map.groupBy(
    tradingPools(chain).flatMap((pool) => [
      { pool, token: pool.token1.id },
      { pool, token: pool.token2.id },
    ]),
    ({ token }) => token,
  );
  let best: bigint | undefined;

  function walk(token: string, known: bigint, visited: readonly string[]): void {
    if (token === buy) {
      if (best === undefined || known > best) best = known;
      return;
    }
    if (visited.length > maxHops) return;
    for (const { pool } of pools.get(token) ?? []) {
      const next = pool.token1.id === token ? pool.token2.id : pool.token1.id;
      if (visited.includes(next) || (next !== buy && visited.length === maxHops)) continue;
      const got = swappedBy(amountsAt(pool, block), pool.token1.id === token ? 0 : 1, known);
      if (got !== undefined) walk(next, got, [...visited, next]);
    }
  }

  walk(sell, amount, [sell]);
  return best;
}
