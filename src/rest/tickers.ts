import { findPlace, poolPairAt } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import type { Ticker } from '../domain/market.ts';
import { bestAsk, bestBid, type OrderBook } from '../domain/order-book.ts';
import { liquidityUsd } from '../domain/usd-prices.ts';
import type { Head } from '../live/chain/head.ts';
import type { DayRanges } from './day-ranges.ts';
import { type DocumentOptions, type StartedDocument, writeBody } from './document.ts';
import { createListLoaders, listTexts } from './lists.ts';
import type { TickerText } from './ticker-texts.ts';

/** A book that was read longer ago says nothing about the current bid and ask: two rounds of the sweep, within these bounds. */
const MIN_BOOK_AGE_MS = 60_000;
const MAX_BOOK_AGE_MS = 600_000;

/** A list with more tickers is not written again for each order book that is read, but at most once in this time. */
const MAX_SHORT_LIST = 500;
const LONG_LIST_MS = 1_000;

/** What the document of `/tickers` is written from. */
type TickersOptions = DocumentOptions & { readonly textOf: TickerText; readonly dayRanges: DayRanges };

/**
 * Starts to write the document of `/tickers`. It rejects with the UpstreamError if tickers cannot be read. Everything else is
 * left out where it is not known, and no upstream is called for it. Only the first documents wait for the highs and lows.
 */
export function startTickers(options: TickersOptions): StartedDocument {
  const { sources, now, maxAgeMs, takeTurn, textOf, dayRanges, bookSweepPerMinute } = options;
  const loaders = createListLoaders(sources);
  const { dependencies, tokens } = loaders;
  const { orderBooks } = sources;
  const { tickers } = sources.market;

  /** The current head, unless it is stale and too old. */
  function headInUse(): Head | undefined {
    const head = sources.head.current();
    const isTooOld = head !== undefined && now() - head.time > maxAgeMs && sources.head.isStale();
    return isTooOld ? undefined : head;
  }

  async function write() {
    const { rows, byTickerId } = await loaders.market.tickers.all();
    const head = headInUse();
    dependencies.dependOn(headInUse, head, sources.head.nextAt);
    if (head) await dayRanges.untilRead(head, () => new Set(rows.flatMap((row) => placeIn(head, row) ?? [])));
    dependOnBooks(rows.length);
    dependencies.dependOn(dayRanges.version, dayRanges.version(), sources.head.nextAt);
    const prices = head && sources.usdPrices(head.exchange, tokens.list);
    const places = new Set<number>();
    const twoRoundsMs = bookSweepPerMinute && (2 * 60_000 * byTickerId.size) / bookSweepPerMinute;
    const maxBookAgeMs = Math.min(MAX_BOOK_AGE_MS, Math.max(MIN_BOOK_AGE_MS, twoRoundsMs));

    function bookOf({ tickerId }: Ticker): OrderBook | undefined {
      const snapshot = orderBooks.newest(tickerId);
      const oldAt = snapshot && snapshot.observedAt + maxBookAgeMs;
      if (oldAt === undefined || oldAt <= now()) return undefined;
      dependencies.expireAt(oldAt);
      return snapshot?.book;
    }

    function tickerText(ticker: Ticker): string {
      const book = bookOf(ticker);
      const place = head && placeIn(head, ticker);
      const pool = place === undefined ? undefined : head && poolPairAt(head.exchange, place);
      if (place !== undefined) places.add(place);
      const known = {
        bid: book && bestBid(book),
        ask: book && bestAsk(book),
        pool,
        decimals1: pool && tokens.decimalsOf(pool.token1Id),
        decimals2: pool && tokens.decimalsOf(pool.token2Id),
        range: place === undefined ? undefined : head && dayRanges.of(head.exchange, place),
      };
      return textOf(ticker, known, pool && prices && liquidityUsd(prices, pool));
    }

    const body = await writeBody(listTexts('tickers', rows.values().map(tickerText)), takeTurn);
    if (head) dayRanges.refresh(head, places);
    return {
      ...body,
      rows: rows.length,
      dependencies,
      height: head?.beaconHeight,
      staleSince: () => earliest(tickers.isFailing() ? tickers.newest()?.observedAt : undefined, staleHead(head)),
    };
  }

  function dependOnBooks(tickerCount: number): void {
    const writtenAt = now();
    const reads = orderBooks.reads();
    const isLong = tickerCount > MAX_SHORT_LIST;
    dependencies.dependOn(
      () => (isLong && now() - writtenAt < LONG_LIST_MS ? reads : orderBooks.reads()),
      reads,
      () => Number.POSITIVE_INFINITY,
    );
  }

  function staleHead(head: Head | undefined): Instant | undefined {
    return head !== undefined && sources.head.isStale() ? head.time : undefined;
  }

  return { dependencies, written: write() };
}

function placeIn({ exchange }: Head, { baseId, targetId }: Ticker): number | undefined {
  return findPlace(exchange, baseId, targetId);
}

function earliest(...instants: readonly (Instant | undefined)[]): Instant | undefined {
  const known = instants.filter((instant) => instant !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
