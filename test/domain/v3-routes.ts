import { type PoolPair, poolPairId } from '../../src/domain/pool-pair.ts';
import type { TradeDirection } from '../../src/domain/swap.ts';
import type { TokenId } from '../../src/domain/token.ts';
import { swapSlowly } from './v3-swap.ts';

/** Pools in the order of a trade. */
type Path = readonly PoolPair[];

/** All paths from one token to another on which no token comes twice. */
export function pathsOf(pools: readonly PoolPair[], from: string, to: string, maxHops: number): Path[] {
  const found: Path[] = [];
  function walk(token: string, visited: readonly string[], path: Path): void {
    if (token === to) found.push(path);
    if (token === to || path.length === maxHops) return;
    for (const pool of pools) {
      if (pool.token1Id !== token && pool.token2Id !== token) continue;
      const next = pool.token1Id === token ? pool.token2Id : pool.token1Id;
      if (!visited.includes(next)) walk(next, [...visited, next], [...path, pool]);
    }
  }
  walk(from, [from], []);
  return found;
}

/** What an amount of a token buys along a path, by the rules of the exchange; `undefined` if it is refused. */
export function sellSlowly(path: Path, from: TokenId, amount: bigint): bigint | undefined {
  let [token, rest] = [from, amount];
  for (const pool of path) {
    const swapped = swapSlowly(pool, token, rest);
    if (typeof swapped === 'string') return undefined;
    token = pool.token1Id === token ? pool.token2Id : pool.token1Id;
    rest = swapped.bought;
  }
  return rest;
}

/** The best path: by its amount, then the shortest, then the first by the ids of its pools, from the known amount on. */
export function bestOf(direction: TradeDirection, paths: readonly (readonly [Path, bigint | undefined])[]) {
  const sign = direction === 'SELLING' ? -1 : 1;
  const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
  return paths
    .flatMap(([path, amount]) => (amount === undefined ? [] : [{ ids: path.map(poolPairId), amount }]))
    .toSorted((one, other) => {
      if (one.amount !== other.amount) return one.amount < other.amount ? -sign : sign;
      const textOf = ({ ids }: typeof one) => (direction === 'SELLING' ? ids : ids.toReversed()).join();
      return one.ids.length - other.ids.length || compare(textOf(one), textOf(other));
    })
    .at(0);
}
