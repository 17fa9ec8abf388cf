import type { PoolDirectory } from '../domain/exchange.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';
import type { Token, TokenId, TokenList } from '../domain/token.ts';
import { UpstreamNotConfiguredError } from '../errors.ts';
import type { Dependencies } from './dependencies.ts';
import type { HeadPin } from './head-pin.ts';
import type { MarketLoader } from './market.ts';
import type { LoaderInputs } from './sources.ts';

type TokenLoaderInputs = Omit<ResponseInputs, 'tokens'> & { readonly market: MarketLoader };

/**
 * The tokens of one response, from the token list, which stays as it is now. The market-data host adds the symbols that the list
 * does not contain.
 */
export class TokenLoader {
  readonly #inputs: TokenLoaderInputs;
  readonly list: TokenList;
  /** The tokens of the pools of each directory, by symbol: many fields of a response can search them. */
  readonly #bySymbol = new Map<PoolDirectory['placesOfToken'], ReadonlyMap<string, readonly TokenId[]>>();

  constructor(inputs: TokenLoaderInputs) {
    const { current, status } = inputs.sources.tokens;
    this.#inputs = inputs;
    this.list = current();
    if (status !== undefined) inputs.dependencies.dependOnTokens(current, this.list, status.nextAt);
  }

  isCurrent(): boolean {
    return this.#inputs.sources.tokens.current() === this.list;
  }

  /** What is known about a token, without waiting. An unknown token has only its id. */
  get(tokenId: TokenId): Token {
    const listed = this.list.get(tokenId);
    if (listed?.symbol !== undefined) return listed;

    const { pairs, tickers } = this.#inputs.market;
    const symbol = pairs.current()?.symbols.get(tokenId) ?? tickers.current()?.symbols.get(tokenId);
    return { tokenId, symbol, decimals: listed?.decimals };
  }

  /** The decimals of a token. Only the token list contains them. */
  decimalsOf(tokenId: TokenId): number | undefined {
    return this.list.get(tokenId)?.decimals;
  }

  /** A token; `undefined` if neither the token list nor any pool, pair or ticker contains it. @throws UpstreamError */
  find(tokenId: TokenId): MaybePromise<Token | undefined> {
    return this.list.has(tokenId) ? this.get(tokenId) : this.#findAnywhere(tokenId);
  }

  /** All known tokens, without waiting, ascending by id. */
  all(): Token[] {
    return [...this.#named().union(this.#inPools())].sort().map((tokenId) => this.get(tokenId));
  }

  /** The tokens of some pools that have one of these symbols. An empty symbol matches those without a symbol. */
  withSymbols(symbols: readonly string[], { placesOfToken }: PoolDirectory): ReadonlySet<TokenId> {
    let tokenIds = this.#bySymbol.get(placesOfToken);
    if (tokenIds === undefined) {
      tokenIds = Map.groupBy(placesOfToken.keys(), (tokenId) => this.get(tokenId).symbol ?? '');
      this.#bySymbol.set(placesOfToken, tokenIds);
    }
    // A list can name a symbol many times.
    return new Set([...new Set(symbols)].flatMap((symbol) => tokenIds.get(symbol) ?? []));
  }

  /** All tokens that can have a symbol. */
  #named(): ReadonlySet<TokenId> {
    const { pairs, tickers } = this.#inputs.market;
    return new Set([
      ...this.list.keys(),
      ...(pairs.current()?.symbols.keys() ?? []),
      ...(tickers.current()?.symbols.keys() ?? []),
    ]);
  }

  #inPools(): ReadonlySetLike<TokenId> {
    return this.#inputs.head.current()?.exchange.directory.placesOfToken ?? new Set();
  }

  #isKnown(tokenId: TokenId): boolean {
    const { pairs, tickers } = this.#inputs.market;
    const lists = [this.list, pairs.current()?.symbols, tickers.current()?.symbols, this.#inPools()];
    return lists.some((tokenIds) => tokenIds?.has(tokenId));
  }

  async #findAnywhere(tokenId: TokenId): Promise<Token | undefined> {
    const failure = await this.#readEverything();
    if (this.#isKnown(tokenId)) return this.get(tokenId);
    if (failure !== undefined) throw failure;
    return undefined;
  }

  /** Waits for all upstreams that could contain a token. @returns the error of one that cannot be read */
  async #readEverything(): Promise<unknown> {
    const { pairs, tickers } = this.#inputs.market;
    const results = await Promise.allSettled([this.#inputs.head.get(), pairs.all(), tickers.all()]);
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    // An upstream that is not configured contains no token.
    return failures.find((failure) => !(failure instanceof UpstreamNotConfiguredError));
  }
}

/** What the loaders of one response read from, and where they note what it depends on. */
export type ResponseInputs = LoaderInputs & {
  readonly head: HeadPin;
  readonly dependencies: Dependencies;
  readonly tokens: TokenLoader;
};
