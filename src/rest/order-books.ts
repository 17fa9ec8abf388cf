import { atDepth, exactPrice, exactQuantity, type Offer, type OrderBook, type Sides } from '../domain/order-book.ts';
import { uncross } from '../domain/pool-book.ts';
import { GatewayError } from '../errors.ts';
import type { Loaders } from '../loaders/loaders.ts';
import type { WrittenDocument } from './document.ts';
import type { readOrderBookParameters } from './parameters.ts';

/** Writes `/orderbook`. @throws GatewayError with `NOT_FOUND` for a ticker that does not exist, UpstreamError */
export async function writeOrderBook(
  { tickerId, depth, isUncrossed }: ReturnType<typeof readOrderBookParameters>,
  { orderBooks }: Loaders,
): Promise<WrittenDocument> {
  const book = await orderBooks.complete(tickerId);
  if (book === undefined) throw new GatewayError('NOT_FOUND', `Ticker ${JSON.stringify(tickerId)} does not exist.`);
  const sides = atDepth<Sides>(isUncrossed ? uncross(book) : book, depth);
  // A snapshot is read again when it is no longer fresh, or else the request fails: it is never stale.
  return { texts: bookTexts(book, sides), staleSince: () => undefined };
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
