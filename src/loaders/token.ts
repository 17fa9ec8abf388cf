import type { Token, TokenId } from '../domain/token.ts';
import { UpstreamNotConfiguredError } from '../errors.ts';
import type { TokenSource } from '../live/tokens.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Dependencies } from './dependencies.ts';
import type { HeadPin } from './head-pin.ts';
import type { MarketLoader } from './market.ts';

/** The tokens, from the token list. The market-data host adds the symbols that the list does not contain. */
export type TokenLoader = {
  /** Whether the token list is still the one that is served. */
  isCurrent(): boolean;
  /** What is known about a token, without waiting. An unknown token has only its id. */
  get(tokenId: TokenId): Token;
  /** The decimals of a token. Only the token list contains them. */
  decimalsOf(tokenId: TokenId): number | undefined;
  /** A token; `undefined` if neither the token list nor any pool, pair or ticker contains it. @throws UpstreamError */
  find(tokenId: TokenId): MaybePromise<Token | undefined>;
  /** All known tokens, without waiting, ascending by id. */
  all(): Token[];
  /** The tokens that have one of these symbols. An empty symbol matches the tokens without a symbol. */
  withSymbols(symbols: readonly string[]): ReadonlySet<TokenId>;
};

/** Creates the token loader of one answer. The token list stays as it is now. */
export function createTokenLoader(
  source: TokenSource,
  head: HeadPin,
  market: MarketLoader,
  dependencies: Dependencies,
): TokenLoader {
  const list = source.current();
  if (source.service !== undefined) dependencies.dependOnTokens(source.current, list, source.service.nextAt);
  let everythingRead: ReturnType<typeof readEverything> | undefined;

  function get(tokenId: TokenId): Token {
    const listed = list.get(tokenId);
    if (listed?.symbol !== undefined) return listed;

    const symbol = market.pairs.current()?.symbols.get(tokenId) ?? market.tickers.current()?.symbols.get(tokenId);
    return { tokenId, symbol, decimals: listed?.decimals };
  }

  /** All tokens that can have a symbol. */
  function namedTokens(): ReadonlySet<TokenId> {
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

  async function findAnywhere(tokenId: TokenId): Promise<Token | undefined> {
    everythingRead ??= readEverything();
    const failure = await everythingRead;
    if (isKnown(tokenId)) return get(tokenId);
    if (failure !== undefined) throw failure;
    return undefined;
  }

  /** Waits for all upstreams that could contain a token. @returns the error of one that cannot be read */
  async function readEverything(): Promise<unknown> {
    const results = await Promise.allSettled([head.get(), market.pairs.all(), market.tickers.all()]);
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    // An upstream that is not configured contains no token.
    return failures.find((failure) => !(failure instanceof UpstreamNotConfiguredError));
  }

  return {
    isCurrent: () => source.current() === list,
    get,
    decimalsOf: (tokenId) => list.get(tokenId)?.decimals,
    find: (tokenId) => (list.has(tokenId) ? get(tokenId) : findAnywhere(tokenId)),
    all: () => [...namedTokens().union(inPools())].sort().map(get),
    withSymbols(symbols) {
      const wanted = new Set(symbols);
      const tokenIds = wanted.has('') ? namedTokens().union(inPools()) : namedTokens();
      return new Set([...tokenIds].filter((tokenId) => wanted.has(get(tokenId).symbol ?? '')));
    },
  };
}
