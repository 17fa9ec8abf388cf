import { maxPercent, type Pair } from '../domain/market.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import { midPrice } from '../domain/order-book.ts';
import { basePrice, tokenPrice } from '../domain/price.ts';
import { readPageSize, requireAtLeast, type SentArguments } from './arguments.ts';
import type { RankedPair, RankingInputs } from './divergence-ranking.ts';
import type { Loaders } from './loaders.ts';
import { withPoolOf } from './pool-price.ts';
import { createSourceStream, type SourceStream, startWith } from './source-stream.ts';
import type { LoaderInputs } from './sources.ts';
import { tradedPriceOf } from './trades.ts';

/** The prices of a pair from its three sources. Those of the market-data host are read when a field needs them. */
export type PairPrices = {
  readonly poolPrice: number | undefined;
  /** @throws UpstreamError */
  lastPrice(): MaybePromise<number | undefined>;
  /** @throws UpstreamError */
  bookMidPrice(): MaybePromise<number | undefined>;
  /** @throws HistoryUnavailableError, UpstreamError */
  tradedPrice(): MaybePromise<number | undefined>;
};

type DivergenceArguments = SentArguments<{ minPercent: number; first: number }>;

/** The divergence from which a pair is listed if the argument is not set, in percent. */
export const DEFAULT_MIN_PERCENT = 1;

/** The prices of a pair; `undefined` without a pool. @throws UpstreamError */
export function pricesOf(pair: Pair, loaders: Loaders): MaybePromise<PairPrices | undefined> {
  const { exchange, market, tokens } = loaders;
  const { divergence: known } = pair;
  const tradedPrice = () => tradedPriceOf(pair, loaders);
  if (known !== undefined)
    return { ...known, lastPrice: () => known.lastPrice, bookMidPrice: () => known.bookMidPrice, tradedPrice };

  return withPoolOf(pair, exchange, (pool) => ({
    poolPrice: tokenPrice(basePrice, pool, pair.baseId, tokens.list),
    lastPrice: () => andThen(market.tickers.byPoolId(pair.poolId), (ticker) => ticker?.lastPrice),
    bookMidPrice: () => loaders.orderBooks.complete(pair.tickerId).then((book) => book && midPrice(book)),
    tradedPrice,
  }));
}

/**
 * The pairs whose sources differ most. Of order books, it uses those that are followed already.
 *
 * @throws BadUserInputError, UpstreamError
 */
export async function divergentPairs(
  args: DivergenceArguments,
  { head, dependencies, market, sources, tokens, options }: Loaders,
): Promise<readonly Pair[]> {
  const followed = () => sources.orderBooks.followedBooks();
  const select = createDivergenceSelector(args, options.maxPageSize);
  const [newest, pairs, tickers] = await Promise.all([head.get(), market.pairs.all(), market.tickers.all()]);
  const { books } = followed();
  dependencies.dependOn(
    () => followed().books,
    books,
    () => followed().freshUntil,
  );
  return select(await sources.divergences.rank({ head: newest, pairs, tickers, books, tokens: tokens.list }));
}

/**
 * The same, when they have changed. If an upstream cannot be read, the stream starts with the error and stays open.
 *
 * @throws BadUserInputError for arguments that are not valid, UpstreamNotConfiguredError
 */
export async function createDivergenceStream(
  args: DivergenceArguments,
  { sources, options }: LoaderInputs,
): Promise<SourceStream<RankingInputs, Promise<readonly Pair[]>>> {
  const select = createDivergenceSelector(args, options.maxPageSize);
  const { head, market, divergences } = sources;
  const first = Promise.all([head.get(), market.pairs.get(), market.tickers.get()]);
  return createSourceStream<RankingInputs, Promise<readonly Pair[]>>({
    subscribe: await startWith(first, divergences.subscribe, divergences.newest),
    toUpdate: (inputs) => divergences.rank(inputs).then(select),
    skipsEqualUpdates: true,
    headOf: (inputs) => inputs.head,
  });
}

/** Creates the function that selects the pairs that the arguments mean. @throws BadUserInputError */
function createDivergenceSelector(
  { minPercent, first }: DivergenceArguments,
  maxPageSize: number,
): (ranking: readonly RankedPair[]) => readonly Pair[] {
  const least = minPercent ?? DEFAULT_MIN_PERCENT;
  requireAtLeast(0, 'minPercent', least);
  const size = readPageSize({ first }, maxPageSize);

  // The largest differences come first.
  return (ranking) => ranking.slice(0, size).flatMap((each) => (each.maxPercent >= least ? [each.pair] : []));
}

/** The larger distance of the two prices from the pool's, in percent. @throws UpstreamError if one cannot be read */
export async function maxPercentOf({ poolPrice, ...prices }: PairPrices): Promise<number | undefined> {
  const [lastPrice, bookMidPrice] = await Promise.all([prices.lastPrice(), prices.bookMidPrice()]);
  return maxPercent({ poolPrice, lastPrice, bookMidPrice });
}
