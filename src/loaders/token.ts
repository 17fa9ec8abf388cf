import type { Token, TokenList } from '../domain/token.ts';
import type { TokenId } from '../domain/token-id.ts';
import { UpstreamNotConfiguredError } from '../errors.ts';
import type { MarketLoader } from './market.ts';
import type { HeadPin } from './pin.ts';

/** What is known of tokens: by the token list first, then by what the market-data host calls them. */
export type TokenLoader = {
  /** What is known of that token now, without waiting; of an unknown one, its id. */
  get(tokenId: TokenId): Token;
  /** The decimals of that token, which only the token list knows. */
  decimalsOf(tokenId: TokenId): number | undefined;
  /** The token, or `undefined` for one that neither the list nor any pool or pair holds. @throws UpstreamError */
  find(tokenId: TokenId): Promise<Token | undefined>;
  /** Every token known now, without waiting, by id. */
  all(): Token[];
  withSymbols(symbols: readonly string[]): ReadonlySet<TokenId>;
};

/** Makes the token loader of one answer. */
export function createTokenLoader(list: TokenList, head: HeadPin, market: MarketLoader): TokenLoader {
  let everywhere: ReturnType<typeof lookEverywhere> | undefined;

  function get(tokenId: TokenId): Token {
    const listed = list.get(tokenId);
    if (listed?.symbol !== undefined) return listed;

    const symbol = market.pairs.current()?.symbols.get(tokenId) ?? market.tickers.current()?.symbols.get(tokenId);
    return { tokenId, symbol, decimals: listed?.decimals };
  }

  function known(): Set<TokenId> {
    const tokenIds = new Set(list.keys());
    for (const pool of head.current()?.exchange.poolPairs.values() ?? []) {
      tokenIds.add(pool.token1Id).add(pool.token2Id);
    }
    for (const tokenId of market.pairs.current()?.symbols.keys() ?? []) tokenIds.add(tokenId);
    for (const tokenId of market.tickers.current()?.symbols.keys() ?? []) tokenIds.add(tokenId);
    return tokenIds;
  }

  async function find(tokenId: TokenId): Promise<Token | undefined> {
    if (list.has(tokenId)) return get(tokenId);

    everywhere ??= lookEverywhere();
    const { tokenIds, failure } = await everywhere;
    if (tokenIds.has(tokenId)) return get(tokenId);
    if (failure !== undefined) throw failure;
    return undefined;
  }

  /** All tokens once everything that could hold one was read, and what could not be. */
  async function lookEverywhere(): Promise<{ tokenIds: ReadonlySet<TokenId>; failure: unknown }> {
    const readings = await Promise.allSettled([head.get(), market.pairs.all(), market.tickers.all()]);
    const failures = readings.flatMap((reading) => (reading.status === 'rejected' ? [reading.reason] : []));
    return { tokenIds: known(), failure: failures.find((failure) => !isAbsent(failure)) };
  }

  return {
    get,
    decimalsOf: (tokenId) => list.get(tokenId)?.decimals,
    find,
    all: () => [...known()].sort().map(get),
    withSymbols(symbols) {
      const wanted = new Set(symbols);
      return new Set([...known()].filter((tokenId) => wanted.has(get(tokenId).symbol ?? '')));
    },
  };
}

/** An upstream that does not exist cannot know a token; one that fails might. */
function isAbsent(error: unknown): boolean {
  return error instanceof UpstreamNotConfiguredError;
}
