import type { ExchangeState } from '../domain/exchange.ts';
import type { TokenId, TokenList } from '../domain/token.ts';
import { type UsdPrices, usdPrices } from '../domain/usd-prices.ts';
import type { PoolCache } from './pool-cache.ts';

/** What tokens are worth in a state, with the decimals of a token list. It is computed once, when it is first read. */
export type UsdPricesOf = (state: ExchangeState, tokens: TokenList) => UsdPrices;

/** Creates the prices in US dollars. Those of a state are dropped together with it. */
export function createUsdPrices(stableCoins: readonly TokenId[], { graphOf }: Pick<PoolCache, 'graphOf'>): UsdPricesOf {
  const computed = new WeakMap<ExchangeState, { readonly tokens: TokenList; readonly prices: UsdPrices }>();

  return (state, tokens) => {
    const known = computed.get(state);
    if (known?.tokens === tokens) return known.prices;
    const coins = stableCoins.flatMap((tokenId) => tokens.get(tokenId) ?? []);
    const prices = usdPrices(state, graphOf(state.directory), coins);
    computed.set(state, { tokens, prices });
    return prices;
  };
}
