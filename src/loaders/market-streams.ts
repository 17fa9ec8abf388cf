import { type Pair, selectPairs, type Ticker } from '../domain/market.ts';
import { UpstreamError } from '../errors.ts';
import type { MarketSnapshot } from '../live/market/lists.ts';
import { noTicker, type OrderBookSnapshot } from '../live/market/order-books.ts';
import { createDivergenceSelector, type DivergenceArguments } from './divergence.ts';
import type { DivergenceRanking } from './divergence-ranking.ts';
import { type PairFilterInput, toFilter } from './market.ts';
import { type CutOrderBook, cutBook, type OrderBookArguments, readOrderBookArguments } from './order-book.ts';
import {
  createSourceStream,
  type SourceStream,
  startWithError,
  subscribeTo,
  toSeveral,
  valueOrError,
} from './source-stream.ts';
import type { LoaderInputs } from './sources.ts';

// The source streams of subscriptions: the current value, then each change. If its upstream cannot be read, a stream starts
// with the error and stays open. All throw UpstreamNotConfiguredError.

/** The tickers that match a filter, each time that a ticker has changed. */
export async function createTickerStream(
  filter: PairFilterInput | null | undefined,
  { sources }: Pick<LoaderInputs, 'sources'>,
): Promise<SourceStream<MarketSnapshot<Ticker>, readonly Ticker[]>> {
  return createSourceStream<MarketSnapshot<Ticker>, readonly Ticker[]>({
    subscribe: await subscribeTo(sources.market.tickers),
    isSame: (a, b) => a.market === b.market,
    toUpdate: ({ market }) => selectPairs(market.rows, toFilter(filter)),
  });
}

/**
 * The pairs whose sources differ most. An update is sent if it differs from the one before.
 *
 * @throws BadUserInputError for arguments that are not valid
 */
export async function createDivergenceStream(
  args: DivergenceArguments,
  { sources, options }: LoaderInputs,
): Promise<SourceStream<DivergenceRanking, readonly Pair[]>> {
  const toUpdate = createDivergenceSelector(args, options.maxPageSize);
  const { head, market, divergences } = sources;
  const first = await valueOrError(Promise.all([head.get(), market.pairs.get(), market.tickers.get()]));
  // The newest ranking can be of the previous head, while that of the current one is computed. The height of a subscription must not
  // be below that of an earlier response.
  const height = head.current()?.beaconHeight ?? 0;
  const subscribe = toSeveral(
    divergences.subscribe,
    () => (ranking: DivergenceRanking) => (ranking.head.beaconHeight < height ? [] : [ranking]),
  );
  return createSourceStream<DivergenceRanking, readonly Pair[]>({
    subscribe: first instanceof UpstreamError ? startWithError(first, subscribe) : subscribe,
    toUpdate,
    skipsEqualUpdates: true,
    headOf: (ranking) => ranking.head,
  });
}

/** The order book of a ticker. @throws BadUserInputError for arguments that are not valid or a ticker that does not exist */
export async function createOrderBookStream(
  tickerId: string,
  args: OrderBookArguments,
  { sources, options }: LoaderInputs,
): Promise<SourceStream<OrderBookSnapshot, CutOrderBook>> {
  const cut = readOrderBookArguments(args);
  const first = await valueOrError(sources.orderBooks.read(tickerId, options.requester));
  if (first === undefined) throw noTicker(tickerId);
  const subscribe = sources.orderBooks.subscribe(tickerId);
  return createSourceStream<OrderBookSnapshot, CutOrderBook>({
    subscribe: first instanceof UpstreamError ? startWithError(first, subscribe) : subscribe,
    toUpdate: (snapshot) => cutBook(snapshot, tickerId, cut),
  });
}
