import DataLoader from 'dataloader';
import { type ExactDecimal, formatExactDecimal, parseExactDecimal } from '../domain/exact-decimal.ts';
import { atDepth, groupBook, type OrderBook } from '../domain/order-book.ts';
import { BadUserInputError } from '../errors.ts';
import { noTicker, type OrderBookSnapshot } from '../live/market/order-books.ts';
import { createTurnQueue } from '../turns/turns.ts';
import { createSourceStream, type SourceStream, startWith } from './source-stream.ts';
import type { LoaderInputs } from './sources.ts';
import type { ResponseInputs } from './token.ts';

/** An order book, and the entries of it that a client gets. */
export type CutOrderBook = OrderBookSnapshot & {
  /** The ticker id that was requested. */
  readonly tickerId: string;
  /** What makes {@link shown} differ from the complete book: the number of entries, and the grouping unless there is none. */
  readonly cut: string;
  readonly shown: Pick<OrderBook, 'bids' | 'asks'>;
};

type OrderBookArguments = { readonly depth?: Depth; readonly groupBy?: string | null | undefined };

/** The argument `depth`: the maximum number of entries of both sides together; 0 is the complete book. */
export type Depth = number | null | undefined;

type OrderBookCut = { readonly depth: number; readonly groupBy: ExactDecimal | undefined };

/** The depth if the argument is not set. */
export const DEFAULT_DEPTH = 100;

/** The order books of one response. */
export type OrderBookLoader = ReturnType<typeof createOrderBookLoader>;

/** Creates the order-book loader of one response. All fields with the same ticker id show the same snapshot, at any depth. */
export function createOrderBookLoader({
  sources: { orderBooks },
  options,
  dependencies,
}: Omit<ResponseInputs, 'tokens'>) {
  const { requester } = options;
  const takeTurn = createTurnQueue();
  const books = new DataLoader<string, OrderBookSnapshot | undefined>((tickerIds) =>
    Promise.all(tickerIds.map((tickerId) => orderBooks.read(tickerId, requester).catch((error: Error) => error))),
  );

  async function load(tickerId: string): Promise<OrderBookSnapshot | undefined> {
    const snapshot = await books.load(tickerId);
    // Nothing shows when the ticker starts to exist.
    if (snapshot === undefined) return dependencies.expireNow(undefined);
    dependencies.expireAt(snapshot.freshUntil, snapshot.observedAt);
    return snapshot;
  }

  return {
    /**
     * The best entries of a book; `undefined` for a ticker that does not exist.
     *
     * @throws BadUserInputError for a negative depth or a grouping that is not valid, UpstreamError
     */
    async get(tickerId: string, args: OrderBookArguments): Promise<CutOrderBook | undefined> {
      const cut = readOrderBookArguments(args);
      const snapshot = await load(tickerId);
      // All fields that wait for a book get it in the same turn of the event loop.
      if (cut.groupBy !== undefined) await takeTurn();
      return snapshot && cutBook(snapshot, tickerId, cut);
    },
    /** Yields before work on a book that takes a while. One field of the response continues in each turn of the event loop. */
    takeTurn,
    /** The complete book; `undefined` for a ticker that does not exist. @throws UpstreamError */
    complete: async (tickerId: string): Promise<OrderBook | undefined> => (await load(tickerId))?.book,
  };
}

/**
 * The order book of a ticker: the current one, then each change. If it cannot be read, the stream starts with the error and stays open.
 *
 * @throws BadUserInputError for arguments that are not valid or a ticker that does not exist, UpstreamNotConfiguredError
 */
export async function createOrderBookStream(
  tickerId: string,
  args: OrderBookArguments,
  { sources, options }: LoaderInputs,
): Promise<SourceStream<OrderBookSnapshot, CutOrderBook>> {
  const cut = readOrderBookArguments(args);
  const first = sources.orderBooks.read(tickerId, options.requester).then((snapshot) => {
    if (snapshot === undefined) throw noTicker(tickerId);
  });
  return createSourceStream<OrderBookSnapshot, CutOrderBook>({
    subscribe: await startWith(first, sources.orderBooks.subscribe(tickerId, options.requester)),
    identityOf: ({ book }) => book,
    toUpdate: (snapshot) => cutBook(snapshot, tickerId, cut),
  });
}

/** Digits of a grouping before the decimal point, and after it: prices have fewer. */
const MAX_GROUPING_DIGITS = 30;

/** What the arguments of a book mean. @throws BadUserInputError for a negative depth or a grouping that is not valid */
export function readOrderBookArguments({ depth, groupBy }: OrderBookArguments): OrderBookCut {
  const entries = depth ?? DEFAULT_DEPTH;
  if (!(entries >= 0)) throw new BadUserInputError(`depth is ${depth}. It must be 0 (the complete book) or greater.`);
  return { depth: entries, groupBy: groupBy == null ? undefined : readGrouping(groupBy) };
}

function readGrouping(text: string): ExactDecimal {
  const step = parseExactDecimal(text);
  if (step !== undefined && step.units <= 0n) throw new BadUserInputError(`groupBy is ${text}. It must be above 0.`);
  if (
    step === undefined ||
    step.scale > MAX_GROUPING_DIGITS ||
    step.units >= 10n ** BigInt(MAX_GROUPING_DIGITS + step.scale)
  ) {
    throw new BadUserInputError(
      `groupBy is ${text}. The maximum is ${MAX_GROUPING_DIGITS} digits before the decimal point, and as many after it.`,
    );
  }
  return step;
}

function cutBook(snapshot: OrderBookSnapshot, tickerId: string, { depth, groupBy }: OrderBookCut): CutOrderBook {
  const { book } = snapshot;
  if (groupBy === undefined) return { ...snapshot, tickerId, cut: `${depth}`, shown: atDepth(book, depth) };

  const grouped = groupBook(book, groupBy, depth === 0 ? Number.POSITIVE_INFINITY : Math.ceil(depth / 2));
  return { ...snapshot, tickerId, cut: `${depth}/${formatExactDecimal(groupBy)}`, shown: grouped };
}
