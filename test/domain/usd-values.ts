import type { PoolPair } from '../../src/domain/pool-pair.ts';
import type { TokenId } from '../../src/domain/token.ts';

type Value = { readonly price: number; readonly depth: number };

/**
 * US dollars for the smallest unit of each token, by the documented rules and without any index: again and again, the token with
 * the deepest route gets its price.
 *
 * @param pools in the order of their ids
 * @param decimals of the stable coins
 */
export function usdValues(
  pools: readonly PoolPair[],
  decimals: ReadonlyMap<TokenId, number>,
): ReadonlyMap<TokenId, number> {
  const tokens = new Set(pools.flatMap(({ token1Id, token2Id }) => [token1Id, token2Id]));
  const coins = [...tokens, ...decimals.keys()].filter((token) => decimals.has(token));
  const values = new Map<TokenId, Value>(
    coins.map((token) => [token, { price: Number(`1e-${decimals.get(token)}`), depth: Number.POSITIVE_INFINITY }]),
  );

  /** The pools of a token with tokens that have a price. */
  function routesOf(token: TokenId) {
    return [...values].flatMap(([other, { price, depth }]) =>
      pools.flatMap(({ token1Id, token2Id, reserve1, reserve2 }) => {
        const isFirst = token1Id === token && token2Id === other;
        if (!isFirst && !(token2Id === token && token1Id === other)) return [];
        const [own, others] = isFirst ? [Number(reserve1), Number(reserve2)] : [Number(reserve2), Number(reserve1)];
        if (own === 0 || others === 0) return [];
        return [{ own, value: others * price, depth: Math.min(others * price, depth) }];
      }),
    );
  }

  for (;;) {
    const reached = [...tokens]
      .filter((token) => !values.has(token))
      .map((token) => ({ token, routes: routesOf(token) }))
      .filter(({ routes }) => routes.length > 0)
      .map(({ token, routes }) => ({ token, routes, depth: Math.max(...routes.map((route) => route.depth)) }))
      .toSorted((a, b) => b.depth - a.depth);
    const [deepest] = reached;
    if (deepest === undefined) return new Map([...values].map(([token, { price }]) => [token, price]));
    const { token, routes, depth } = deepest;
    const dollars = routes.reduce((sum, route) => sum + route.depth, 0);
    const amount = routes.reduce((sum, route) => sum + route.own * (route.depth / route.value), 0);
    values.set(token, { price: dollars / amount, depth });
  }
}
