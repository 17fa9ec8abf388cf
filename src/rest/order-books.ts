import { atDepth, exactPrice, exactQuantity, type Offer, type OrderBook, type Sides } from '../domain/order-book.ts';
import { uncross } from '../domain/pool-book.ts';
import type { TakeTurn } from '../live/broadcast/turn-limit.ts';
import type { OrderBookSnapshot } from '../live/market/order-books.ts';
import { Dependencies } from '../loaders/dependencies.ts';
import type { Requester } from '../upstream/fair-queue.ts';
import { type DocumentOptions, type RestDocument, writeBody } from './document.ts';
import type { readOrderBookParameters } from './parameters.ts';

type OrderBookRequest = ReturnType<typeof readOrderBookParameters>;

/** Maximum number of documents of one snapshot that are kept: one for each combination of parameters. */
const MAX_DOCUMENTS = 8;

/**
 * Creates the function that reads the document of an order book; `undefined` for a ticker that does not exist. The documents of a
 * snapshot are written once for all clients. It rejects with the UpstreamError.
 */
export function createOrderBookDocuments({ sources, takeTurn }: DocumentOptions) {
  const { orderBooks } = sources;
  const documents = new WeakMap<OrderBookSnapshot, Map<string, Promise<RestDocument>>>();

  return async (request: OrderBookRequest, requester: Requester): Promise<RestDocument | undefined> => {
    const { tickerId, depth, isUncrossed } = request;
    const snapshot = await orderBooks.read(tickerId, requester);
    if (snapshot === undefined) return undefined;

    const ofSnapshot = documents.get(snapshot) ?? new Map<string, Promise<RestDocument>>();
    documents.set(snapshot, ofSnapshot);
    const key = `${depth} ${isUncrossed}`;
    const written = ofSnapshot.get(key) ?? writeBook(snapshot, request, takeTurn);
    if (ofSnapshot.size < MAX_DOCUMENTS) ofSnapshot.set(key, written);
    return written;
  };
}

async function writeBook(
  { book, freshUntil }: OrderBookSnapshot,
  { depth, isUncrossed }: OrderBookRequest,
  takeTurn: TakeTurn,
): Promise<RestDocument> {
  const dependencies = new Dependencies();
  dependencies.expireAt(freshUntil);
  const texts = bookTexts(book, atDepth<Sides>(isUncrossed ? uncross(book) : book, depth));
  // A snapshot is read again when it is no longer fresh, or else the request fails: it is never stale.
  return {
    ...(await writeBody(texts, takeTurn)),
    rows: 0,
    dependencies,
    height: undefined,
    staleSince: () => undefined,
  };
}

function* bookTexts({ message, tickerId, time }: OrderBook, { bids, asks }: Sides): Generator<string> {
  const head = JSON.stringify({ message, ticker_id: tickerId, timestamp: Math.trunc(time) });
  yield `${head.slice(0, -1)},"bids":[`;
  yield* sideTexts(bids);
  yield '],"asks":[';
  yield* sideTexts(asks);
  yield ']}';
}

function* sideTexts(offers: readonly Offer[]): Generator<string> {
  for (const [index, offer] of offers.entries())
    yield `${index === 0 ? '' : ','}[${exactPrice(offer)},${exactQuantity(offer)}]`;
}
