import { maxPercent } from '../domain/divergence.ts';
import type { Pair } from '../domain/market.ts';
import { midPrice } from '../domain/order-book.ts';
import { basePrice } from '../domain/price.ts';
import { BadUserInputError } from '../errors.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { Dependencies } from './dependencies.ts';
import type { DivergenceRanking } from './divergence-ranking.ts';
import type { ExchangeLoader } from './exchange.ts';
import type { HeadPin } from './head-pin.ts';
import type { MarketLoader } from './market.ts';
import type { OrderBookLoader } from './order-book.ts';
import { readPageSize } from './page-arguments.ts';
import { poolPrice } from './pool-price.ts';
import type { Sources } from './sources.ts';
import type { TokenLoader } from './token.ts';

/** The prices of a pair from its three sources. Those of the market-data host are read when a field needs them. */
export type PairPrices = {
  readonly poolPrice: number | undefined;
  /** @throws UpstreamError */
  lastPrice(): MaybePromise<number | undefined>;
  /** @throws UpstreamError */
  bookMidPrice(): MaybePromise<number | undefined>;
};

/** The arguments of a list of pairs by divergence. */
export type DivergenceArguments = {
  readonly minPercent?: number | null | undefined;
  readonly first?: number | null | undefined;
};

/** The divergence from which a pair is listed if the argument is not set, in percent. */
export const DEFAULT_MIN_PERCENT = 1;

/** How far the sources of pairs differ, in one answer. */
export type DivergenceLoader = {
  /** The prices of a pair; `undefined` without a pool. @throws UpstreamError */
  of(pair: Pair): MaybePromise<PairPrices | undefined>;
  /**
   * The pairs whose sources differ most. Of order books, it uses those that are followed already.
   *
   * @throws BadUserInputError, UpstreamError
   */
  select(args: DivergenceArguments): Promise<readonly Pair[]>;
};

type DivergenceLoaderOptions = {
  readonly head: HeadPin;
  readonly dependencies: Dependencies;
  readonly market: MarketLoader;
  readonly exchange: ExchangeLoader;
  readonly tokens: TokenLoader;
  readonly orderBooks: OrderBookLoader;
  readonly sources: Pick<Sources, 'divergences' | 'orderBooks'>;
  readonly maxPageSize: number;
};

/** Creates the divergence loader of one answer. */
export function createDivergenceLoader(options: DivergenceLoaderOptions): DivergenceLoader {
  const { head, dependencies, market, exchange, tokens, orderBooks, sources, maxPageSize } = options;
  const followed = () => sources.orderBooks.followedBooks();

  return {
    of(pair) {
      const { divergence: known } = pair;
      if (known !== undefined)
        return { ...known, lastPrice: () => known.lastPrice, bookMidPrice: () => known.bookMidPrice };

      return andThen(
        exchange.poolPair(pair.baseId, pair.targetId),
        (pool) =>
          pool && {
            poolPrice: poolPrice((_pool, d1, d2) => basePrice(pool, pair.baseId, d1, d2), pool, {}, tokens),
            lastPrice: () => andThen(market.tickers.byPoolId(pair.poolId), (ticker) => ticker?.lastPrice),
            bookMidPrice: () => orderBooks.complete(pair.tickerId).then((book) => book && midPrice(book)),
          },
      );
    },
    async select(args) {
      const select = createDivergenceSelector(args, maxPageSize);
      const [newest, pairs, tickers] = await Promise.all([head.get(), market.pairs.all(), market.tickers.all()]);
      const { books, freshUntil } = followed();
      dependencies.dependOn(
        () => followed().books,
        books,
        () => freshUntil,
      );
      // A response is stored until then at the latest: it does not notice that a book changes.
      dependencies.expireAt(freshUntil);
      return select(await sources.divergences.rank({ head: newest, pairs, tickers, books }));
    },
  };
}

/** Creates the function that selects the pairs that the arguments mean. @throws BadUserInputError */
export function createDivergenceSelector(
  { minPercent, first }: DivergenceArguments,
  maxPageSize: number,
): (ranking: DivergenceRanking) => readonly Pair[] {
  const least = minPercent ?? DEFAULT_MIN_PERCENT;
  if (!(least >= 0)) throw new BadUserInputError(`minPercent is ${least}. It must be 0 or greater.`);
  const size = readPageSize({ first }, maxPageSize);

  return ({ pairs }) => {
    const selected: Pair[] = [];
    for (const { pair, maxPercent: percent } of pairs) {
      if (percent < least || selected.length === size) break;
      selected.push(pair);
    }
    return selected;
  };
}

/** The larger distance of the two prices from the pool's, in percent. @throws UpstreamError if one cannot be read */
export async function maxPercentOf({ poolPrice, ...prices }: PairPrices): Promise<number | undefined> {
  const [lastPrice, bookMidPrice] = await Promise.all([prices.lastPrice(), prices.bookMidPrice()]);
  return maxPercent({ poolPrice, lastPrice, bookMidPrice });
}
