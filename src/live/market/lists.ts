import type { Instant } from '../../domain/instant.ts';
import { createMarketBuilder, type Market, type Pair, type Ticker } from '../../domain/market.ts';
import { UpstreamTimeoutError } from '../../errors.ts';
import type { MarketDataClient } from '../../upstream/market-data/client.ts';
import type { Rows } from '../../upstream/market-data/decode.ts';
import { createFollower, type Follower, type Watcher } from '../broadcast/follower.ts';
import { createTurnLimit } from '../broadcast/turn-limit.ts';

/** One list of the market-data host, as it was when it was last read. */
export type MarketReading<P extends Pair> = {
  /** The same object for as long as the host's answer says the same. */
  readonly market: Market<P>;
  readonly observedAt: Instant;
  /** When the next reading is due. */
  readonly nextAt: Instant;
  /** How many rows of the answer could not be read. */
  readonly dropped: number;
};

/** Follows the two lists of the market-data host, each by itself: where one cannot be read, the other can. */
export type MarketFollower = {
  readonly pairs: Follower<MarketReading<Pair>>;
  readonly tickers: Follower<MarketReading<Ticker>>;
  /** How fresh both are together; `undefined` until both were read. */
  freshness(): Freshness | undefined;
};

/** How fresh a reading is. */
export type Freshness = {
  /** When it was last read; of two lists, the older. */
  readonly observedAt: Instant;
  /** It cannot be read now, or has not been for several times the usual interval. */
  readonly stale: boolean;
};

/** How the market-data host is followed. */
export type MarketFollowerOptions = {
  readonly host: MarketDataClient;
  readonly pollMs: number;
  /** How long a client waits for the first reading. */
  readonly timeoutMs: number;
  /** How old the last good reading may become while the host cannot be read; then there is the error instead. */
  readonly maxAgeMs: number;
  readonly now: () => Instant;
  /** Makes a watcher for each of the two lists. */
  readonly watch: () => Watcher;
};

/** A reading takes its time on top of the interval: the upstream timeout is allowed for it. */
const INTERVALS_UNTIL_STALE = 3;

/** Starts to follow a market-data host. */
export function createMarketFollower(options: MarketFollowerOptions): MarketFollower {
  const { host, now, pollMs, timeoutMs } = options;
  const pairs = followList(host.pairs, options);
  const tickers = followList(host.tickers, options);
  const staleAfterMs = INTERVALS_UNTIL_STALE * pollMs + timeoutMs;

  function freshness(): Freshness | undefined {
    const readings = [pairs.newest(), tickers.newest()].filter((reading) => reading !== undefined);
    if (readings.length < 2) return undefined;

    const observedAt = Math.min(...readings.map((reading) => reading.observedAt));
    return { observedAt, stale: pairs.isFailing() || tickers.isFailing() || now() - observedAt > staleAfterMs };
  }

  return { pairs, tickers, freshness };
}

/** So many rows are prepared at once: a millisecond of work. */
const ROWS_AT_ONCE = 500;

function followList<P extends Pair>(
  read: (previous: readonly P[] | undefined) => Promise<Rows<P>>,
  { pollMs, timeoutMs, maxAgeMs, now, watch }: MarketFollowerOptions,
): Follower<MarketReading<P>> {
  return createFollower<MarketReading<P>>({
    async read(previous) {
      const { rows, dropped } = await read(previous?.market.rows);
      const observedAt = now();
      const market = rows === previous?.market.rows ? previous.market : await prepare(rows);
      return { market, observedAt, nextAt: observedAt + pollMs, dropped };
    },
    intervalMs: pollMs,
    maxWaitMs: timeoutMs,
    timeoutError: () => new UpstreamTimeoutError('MARKET_DATA', timeoutMs, {}),
    isTooOld: ({ observedAt }) => now() - observedAt > maxAgeMs,
    watcher: watch(),
  });
}

/** Prepares a list for being looked up in, with turns for others in between. */
async function prepare<P extends Pair>(rows: readonly P[]): Promise<Market<P>> {
  const builder = createMarketBuilder<P>();
  const { wait } = createTurnLimit(ROWS_AT_ONCE);
  for (const row of rows) {
    await wait();
    builder.add(row);
  }
  return builder.build(rows);
}
