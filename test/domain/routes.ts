import fc from 'fast-check';
import { MAX_AMOUNT } from '../../src/domain/amount.ts';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import type { TokenId } from '../../src/domain/token.ts';
import { anyReserve, poolOf, tokenId } from './pools.ts';

/** What is traded, and through how many pools at most. */
export type Trade = {
  readonly sellTokenId: TokenId;
  readonly buyTokenId: TokenId;
  readonly sellAmount?: bigint;
  readonly buyAmount?: bigint;
  readonly maxHops: number;
};

/** A path with the amounts before and after each of its pools, in the order of the trade. */
export type Path = { readonly pools: readonly PoolPair[]; readonly amounts: readonly bigint[] };

/** The documented formula, word for word. */
function receivedFrom(pool: PoolPair, sellTokenId: TokenId, sent: bigint): bigint {
  const [paid, bought] =
    pool.token1Id === sellTokenId ? [pool.reserve1, pool.reserve2] : [pool.reserve2, pool.reserve1];
  const remaining = (paid * bought + (paid + sent) - 1n) / (paid + sent);
  return bought - remaining;
}

/** The smallest amount for which the formula gives at least `wanted`, by bisection; `undefined` if no 64-bit amount does. */
export function requiredBy(pool: PoolPair, sellTokenId: TokenId, wanted: bigint): bigint | undefined {
  let [low, high] = [0n, MAX_AMOUNT + 1n];
  while (low < high) {
    const middle = (low + high) / 2n;
    if (middle > MAX_AMOUNT || receivedFrom(pool, sellTokenId, middle) >= wanted) high = middle;
    else low = middle + 1n;
  }
  return low > MAX_AMOUNT ? undefined : low;
}

/** Every path without a repeated token that trades something, by trying them all. */
export function allPaths(pools: readonly PoolPair[], trade: Trade): readonly Path[] {
  const { sellTokenId, buyTokenId, sellAmount, buyAmount, maxHops } = trade;
  const paths: Path[] = [];

  function walk(token: TokenId, visited: readonly TokenId[], path: readonly PoolPair[]): void {
    if (token === buyTokenId) {
      const amounts = amountsOf(path);
      if (amounts !== undefined) paths.push({ pools: path, amounts });
      return;
    }
    if (path.length === maxHops) return;
    for (const pool of pools) {
      if (pool.reserve1 === 0n || pool.reserve2 === 0n) continue;
      if (pool.token1Id !== token && pool.token2Id !== token) continue;
      const next = pool.token1Id === token ? pool.token2Id : pool.token1Id;
      if (!visited.includes(next)) walk(next, [...visited, next], [...path, pool]);
    }
  }

  function amountsOf(path: readonly PoolPair[]): readonly bigint[] | undefined {
    const sellers: TokenId[] = [];
    let token = sellTokenId;
    for (const pool of path) {
      sellers.push(token);
      token = pool.token1Id === token ? pool.token2Id : pool.token1Id;
    }
    if (sellAmount !== undefined) {
      const amounts = [sellAmount];
      for (const [hop, pool] of path.entries()) {
        amounts.push(receivedFrom(pool, sellers[hop] ?? '', amounts.at(-1) ?? 0n));
      }
      return amounts.at(-1) === 0n ? undefined : amounts;
    }
    const amounts = [buyAmount ?? 0n];
    for (const [hop, pool] of [...path.entries()].reverse()) {
      const required = requiredBy(pool, sellers[hop] ?? '', amounts[0] ?? 0n);
      if (required === undefined) return undefined;
      amounts.unshift(required);
    }
    return amounts;
  }

  walk(sellTokenId, [sellTokenId], []);
  return paths;
}

/**
 * Of all paths, the best one by the documented rules: it gives the most or asks the least, then the shortest, then from the end
 * at which the amount is not known, the pool with the smallest id and the best path to the token before it.
 */
export function bestPath(pools: readonly PoolPair[], trade: Trade): Path | undefined {
  const isSelling = trade.sellAmount !== undefined;
  const resultOf = ({ amounts }: Path) => (isSelling ? -(amounts.at(-1) ?? 0n) : (amounts[0] ?? 0n));
  const idsOf = (path: Path) => {
    const ids = path.pools.map(({ token1Id, token2Id }) => `${token1Id}-${token2Id}`);
    return isSelling ? ids.reverse() : ids;
  };
  /** From the unknown end: the result, then the pool, then the result before that pool, and so on. */
  const compare = (a: Path, b: Path): number => {
    const [left, right] = [idsOf(a), idsOf(b)];
    const amountsOf = ({ amounts }: Path) => (isSelling ? amounts.toReversed().map((each) => -each) : amounts);
    const [ours, theirs] = [amountsOf(a), amountsOf(b)];
    for (const [index, id] of left.entries()) {
      const [one, other] = [ours[index] ?? 0n, theirs[index] ?? 0n];
      if (one !== other) return one < other ? -1 : 1;
      if (id !== right[index]) return id < (right[index] ?? '') ? -1 : 1;
    }
    return 0;
  };
  return allPaths(pools, trade)
    .toSorted((a, b) => {
      const [one, other] = [resultOf(a), resultOf(b)];
      if (one !== other) return one < other ? -1 : 1;
      return a.pools.length - b.pools.length || compare(a, b);
    })
    .at(0);
}

const TOKENS = ['a', 'b', 'c', 'd', 'e', 'f'].map(tokenId);
const [A = '', B = ''] = TOKENS;

/** Reserves with which whole numbers are rounded, tie and overflow: tiny, ordinary, equal, and near 2^64. */
const anySide = fc.oneof(
  fc.bigInt(0n, 12n),
  fc.bigInt(10n ** 9n, 10n ** 12n),
  fc.constantFrom(10n ** 6n, 2n ** 53n, 2n ** 60n),
  fc.bigInt(MAX_AMOUNT - 1_000n, MAX_AMOUNT),
  anyReserve,
);

/** An exchange of six tokens, from a few pools to all possible ones, often with equal reserves. */
export const anyExchange: fc.Arbitrary<PoolPair[]> = fc
  .record({
    missing: fc.double({ min: 0, max: 0.7, noNaN: true }),
    sides: fc.array(fc.tuple(anySide, anySide, fc.double({ min: 0, max: 1, noNaN: true })), {
      minLength: 15,
      maxLength: 15,
    }),
    repeated: fc.nat(6),
  })
  .map(({ missing, sides, repeated }) => {
    const pairs = TOKENS.flatMap((one, index) => TOKENS.slice(index + 1).map((other) => [one, other].sort()));
    return pairs.flatMap(([token1Id = '', token2Id = ''], index) => {
      const [reserve1 = 0n, reserve2 = 0n] = sides[repeated > 0 ? index % (repeated + 1) : index] ?? [];
      const isMissing = (sides[index]?.[2] ?? 0) < missing;
      return isMissing ? [] : [poolOf(reserve1, reserve2, { token1Id, token2Id })];
    });
  });

const anyAmount = fc.oneof(
  fc.bigInt(1n, 20n),
  fc.bigInt(1n, 10n ** 12n),
  fc.bigInt(1n, MAX_AMOUNT),
  fc.constantFrom(MAX_AMOUNT, 10n ** 6n, 2n ** 53n, 2n ** 53n + 1n),
);

/** A trade of the first two tokens of {@link anyExchange}, in both directions. */
export const anyTrade: fc.Arbitrary<Trade> = fc
  .record({ amount: anyAmount, isSelling: fc.boolean(), maxHops: fc.integer({ min: 1, max: 4 }) })
  .map(({ amount, isSelling, maxHops }) => ({
    sellTokenId: A,
    buyTokenId: B,
    maxHops,
    ...(isSelling ? { sellAmount: amount } : { buyAmount: amount }),
  }));
