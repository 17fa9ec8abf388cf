import type { BookEntryFragment, ChainBookQuery } from './book.generated.ts';

/** A price level, as the table shows it. A price or quantity that is turned has no exact digits. */
export type ShownEntry = Omit<BookEntryFragment, 'exactPrice' | 'exactQuantity'> &
  Partial<Pick<BookEntryFragment, 'exactPrice' | 'exactQuantity'>>;

/** An order book of the host or of the chain, as the table shows it: prices in target tokens per base token. */
export type ShownBook = {
  readonly bids: readonly ShownEntry[];
  readonly asks: readonly ShownEntry[];
  readonly midPrice: number | null;
  readonly spread: number | null;
  /** Whether entries that cannot be read are left out. */
  readonly isPartial: boolean;
};

type ChainBook = NonNullable<NonNullable<ChainBookQuery['pool']>['book']>;

/**
 * The orders of a pool in the direction of the market. The pool counts token 1 per token 2. If the base is token 1, who sells
 * token 1 is an ask: both sides change places, and the best prices stay first.
 */
export function bookOfPool({ bids, asks, bestBid, bestAsk }: ChainBook, isInverse: boolean): ShownBook {
  const lowest = isInverse ? inverse(bestBid) : bestAsk;
  const highest = isInverse ? inverse(bestAsk) : bestBid;
  const isOneSided = lowest === null || highest === null;
  return {
    bids: isInverse ? asks.map(inverseEntry) : bids,
    asks: isInverse ? bids.map(inverseEntry) : asks,
    midPrice: isOneSided ? null : (lowest + highest) / 2,
    spread: isOneSided ? null : lowest - highest,
    isPartial: false,
  };
}

function inverse(price: number | null): number | null {
  return price === null || price === 0 ? null : 1 / price;
}

/** What is paid for the quantity of an entry is the quantity of the other direction. */
function inverseEntry({ price, quantity, cumulativeQuantity, cumulativeTotal }: BookEntryFragment): ShownEntry {
  return {
    price: 1 / price,
    quantity: quantity * price,
    cumulativeQuantity: cumulativeTotal,
    cumulativeTotal: cumulativeQuantity,
  };
}
