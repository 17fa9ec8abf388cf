import type { Instant } from '../../domain/instant.ts';
import { UpstreamBadShapeError, UpstreamBusyError } from '../../errors.ts';
import type { MarketFollower } from './market-follower.ts';
import type { OrderBooks } from './order-books.ts';

type BookSweepOptions = {
  readonly orderBooks: Pick<OrderBooks, 'newest' | 'read'>;
  readonly tickers: Pick<MarketFollower['tickers'], 'newest' | 'isFailing'>;
  /** Whether clients need the host: their reads come first. */
  readonly isBusy: () => boolean;
  readonly perMinute: number;
  readonly now: () => Instant;
};

/** A book that was read for a client in this time is not read again. */
const RECENT_MS = 20_000;

/**
 * By how many tickers each round begins earlier than the one before. If slow reads take every second or third turn, they would
 * otherwise leave out the same tickers in each round. The golden ratio distributes the lost turns evenly.
 */
const SHIFT_OF_ROUND = (Math.sqrt(5) - 1) / 2;

/** The longest back-off of a failing host, in turns. */
const MAX_TURNS = 64;

/**
 * Starts to read the order books of all tickers in turn, so that their best prices are known although no client requests them.
 *
 * Each turn reads at most one book, as a client would: clients that need the same book at the same time share the read. The clock
 * says whose turn it is. So the replicas of a fleet read the same book at the same time, and share the read in Redis. A turn that
 * passes during a read or a pause is lost.
 *
 * @returns the function that stops it
 */
export function startBookSweep({ orderBooks, tickers, isBusy, perMinute, now }: BookSweepOptions): () => void {
  const intervalMs = 60_000 / perMinute;
  const requester = { client: Symbol('book sweep') };
  /** How many reads have failed one after another, and the turn of the last one. */
  let failures = 0;
  let failedTurn = 0;
  /** Tickers whose last read failed. Each is left out at its next turn: a read that fails again would take the turns of those after it. */
  const failed = new Set<string>();
  let isReading = false;
  let lastTurn = 0;
  let timer = setTimeout(take, untilNext());

  // Turns follow the clock of the timers, also if a test sets another time.
  function untilNext(): number {
    return intervalMs - (Date.now() % intervalMs);
  }

  function take(): void {
    timer = setTimeout(take, untilNext());
    // A timer can be early by a millisecond.
    const turn = Math.round(Date.now() / intervalMs);
    const isPaused = failures > 0 && Math.abs(turn - failedTurn) < Math.min(MAX_TURNS, 2 ** (failures - 1));
    if (turn === lastTurn || isPaused || isReading || isBusy() || tickers.isFailing()) return;
    lastTurn = turn;
    const tickerIds = [...(tickers.newest()?.market.byTickerId.keys() ?? [])];
    if (failed.size > tickerIds.length) failed.clear();
    const round = Math.floor(turn / tickerIds.length);
    const tickerId = tickerIds.at((turn - Math.floor(round * SHIFT_OF_ROUND)) % tickerIds.length);
    if (tickerId === undefined || failed.delete(tickerId)) return;
    // The clock can have been set back since.
    const age = Math.abs(now() - (orderBooks.newest(tickerId)?.observedAt ?? Number.NEGATIVE_INFINITY));
    if (age > RECENT_MS) void read(tickerId, turn);
  }

  async function read(tickerId: string, turn: number): Promise<void> {
    isReading = true;
    try {
      await orderBooks.read(tickerId, requester);
      failures = 0;
    } catch (error) {
      // A client that requests the book gets the error, and the metrics count it.
      if (error instanceof UpstreamBusyError || error instanceof UpstreamBadShapeError) return;
      failures += 1;
      failed.add(tickerId);
      failedTurn = turn;
    } finally {
      isReading = false;
    }
  }

  return () => clearTimeout(timer);
}
