import type { Token, TokenList } from '../domain/token.ts';
import type { TokenId } from '../domain/token-id.ts';
import { UpstreamNotConfiguredError } from '../errors.ts';
import type { HeadPin } from './head-pin.ts';
import type { MarketLoader } from './market.ts';

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

  /** The tokens that can have a symbol. */
  function named(): ReadonlySet<TokenId> {
    return new Set([
      ...list.keys(),
      ...(market.pairs.current()?.symbols.keys() ?? []),
      ...(market.tickers.current()?.symbols.keys() ?? []),
    ]);
  }

  function inPools(): ReadonlySetLike<TokenId> {
    return head.current()?.exchange.directory.placesOfToken ?? new Set();
  }

  function isKnown(tokenId: TokenId): boolean {
    const lists = [list, market.pairs.current()?.symbols, market.tickers.current()?.symbols, inPools()];
    return lists.some((tokenIds) => tokenIds?.has(tokenId));
  }

  async function find(tokenId: TokenId): Promise<Token | undefined> {
    if (list.has(tokenId)) return get(tokenId);

    everywhere ??= lookEverywhere();
    const failure = await everywhere;
    if (isKnown(tokenId)) return get(tokenId);
    if (failure !== undefined) throw failure;
    return undefined;
  }

  /** Reads everything that could hold a token, and gives what could not be. */
  async function lookEverywhere(): Promise<unknown> {
    const readings = await Promise.allSettled([head.get(), market.pairs.all(), market.tickers.all()]);
    const failures = readings.flatMap((reading) => (reading.status === 'rejected' ? [reading.reason] : []));
    return failures.find((failure) => !isAbsent(failure));
  }

  return {
    get,
    decimalsOf: (tokenId) => list.get(tokenId)?.decimals,
    find,
    all: () => [...named().union(inPools())].sort().map(get),
    withSymbols(symbols) {
      const wanted = new Set(symbols);
      const tokenIds = wanted.has('') ? named().union(inPools()) : named();
      return new Set([...tokenIds].filter((tokenId) => wanted.has(get(tokenId).symbol ?? '')));
    },
  };
}

/** An upstream that does not exist cannot know a token; one that fails might. */
function isAbsent(error: unknown): boolean {
  return error instanceof UpstreamNotConfiguredError;
}
