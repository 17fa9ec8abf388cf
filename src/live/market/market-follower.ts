import type { Instant } from '../../domain/instant.ts';
import { createMarketBuilder, type Market, type Pair, type Ticker } from '../../domain/market.ts';
import { UpstreamBadShapeError } from '../../errors.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import { createTurnLimit } from '../../turns/turns.ts';
import type { MarketDataClient } from '../../upstream/market-data/client.ts';
import type { Rows } from '../../upstream/rows.ts';
import { createFollower, type Follower, type Watcher } from '../broadcast/follower.ts';
import type { FleetPoll } from '../fleet-port.ts';

/** One list of the market-data host, as it was last read. */
export type MarketSnapshot<P extends Pair> = {
  /** The same object while the responses of the host are equal. */
  readonly market: Market<P>;
  readonly observedAt: Instant;
  /** When the list is read next. */
  readonly nextAt: Instant;
  /** How many rows of the response could not be read, or not completely. */
  readonly dropped: number;
  /** When the read began and ended, by the monotonic clock of this gateway. The response is of some moment in between. */
  readonly read: { readonly beganAt: number; readonly endedAt: number };
};

/** Follows the two lists of the market-data host separately: one can be read while the other cannot. */
export type MarketFollower = ReturnType<typeof createMarketFollower>;

/** How fresh data is. */
export type Freshness = {
  /** When it was last read. For two lists, the earlier time. */
  readonly observedAt: Instant;
  /** Whether it cannot be read now, or was not read for several intervals. */
  readonly stale: boolean;
};

type MarketFollowerOptions = {
  readonly host: MarketDataClient;
  readonly pollMs: number;
  /** How long a client waits for the first snapshot. */
  readonly timeoutMs: number;
  /** How old the last good snapshot may become while the host cannot be read. After that, clients get the error. */
  readonly maxAgeMs: number;
  readonly now: () => Instant;
  readonly watch: () => Watcher;
  readonly tracing?: Tracing | undefined;
  /** Polls the host together with the other gateways of a fleet. */
  readonly fleetPolls?:
    | { readonly pairs: FleetPoll<MarketSnapshot<Pair>>; readonly tickers: FleetPoll<MarketSnapshot<Ticker>> }
    | undefined;
};

/** A read may take the upstream timeout on top of its interval. */
const INTERVALS_UNTIL_STALE = 3;

/** Starts to follow a market-data host. */
export function createMarketFollower(options: MarketFollowerOptions) {
  const { host, now, pollMs, timeoutMs } = options;
  const pairs = followList<Pair>('pairs', host.pairs, options, options.fleetPolls?.pairs);
  const tickers = followList<Ticker>('tickers', host.tickers, options, options.fleetPolls?.tickers);
  const staleAfterMs = INTERVALS_UNTIL_STALE * pollMs + timeoutMs;

  /** The freshness of the two lists together; `undefined` until both were read. */
  function freshness(): Freshness | undefined {
    const snapshots = [pairs.newest(), tickers.newest()].filter((snapshot) => snapshot !== undefined);
    if (snapshots.length < 2) return undefined;

    const observedAt = Math.min(...snapshots.map((snapshot) => snapshot.observedAt));
    return { observedAt, stale: pairs.isFailing() || tickers.isFailing() || now() - observedAt > staleAfterMs };
  }

  return { pairs, tickers, freshness };
}

/** Rows that are prepared in one turn of the event loop: a millisecond of work. */
const ROWS_PER_TURN = 500;

function followList<P extends Pair>(
  name: string,
  read: (previous: readonly P[] | undefined) => Promise<Rows<P>>,
  { pollMs, timeoutMs, maxAgeMs, now, watch, tracing }: MarketFollowerOptions,
  fleetPoll: FleetPoll<MarketSnapshot<P>> | undefined,
): Follower<MarketSnapshot<P>> {
  async function readList(previous: MarketSnapshot<P> | undefined): Promise<MarketSnapshot<P>> {
    const beganAt = performance.now();
    const { rows, dropped } = await read(previous?.market.rows);
    const observedAt = now();
    const endedAt = performance.now();
    const market = rows === previous?.market.rows ? previous.market : await prepareMarket(rows);
    return { market, observedAt, nextAt: observedAt + pollMs, dropped, read: { beganAt, endedAt } };
  }

  const follower = createFollower<MarketSnapshot<P>>({
    async read(previous) {
      if (fleetPoll === undefined) return readList(previous);
      const remembered = previous === undefined ? [] : [previous];
      return fleetPoll.poll({ previous, remembered, idleMs: pollMs, read: readList });
    },
    intervalMs: () => fleetPoll?.intervalMs(pollMs) ?? pollMs,
    upstream: 'MARKET_DATA',
    timeoutMs,
    isTooOld: ({ observedAt }) => Math.abs(now() - observedAt) > maxAgeMs,
    watcher: watch(),
    trace: tracing && { start: () => tracing.startPoll(name) },
  });
  fleetPoll?.onPublished(follower.readNow);
  return follower;
}

/** How many rows of the last response could not be read, or not completely: all of them if that is why the list failed. */
export function unreadableRows(list: Follower<MarketSnapshot<Pair>>): number {
  const failure = list.failure();
  const all = failure instanceof UpstreamBadShapeError ? failure.details['dropped'] : undefined;
  return Number(all ?? list.newest()?.dropped ?? 0);
}

/** Builds the lookup tables of a list, and yields to the event loop in between. */
export async function prepareMarket<P extends Pair>(rows: readonly P[]): Promise<Market<P>> {
  const builder = createMarketBuilder<P>();
  const { wait } = createTurnLimit(ROWS_PER_TURN);
  for (const row of rows) {
    await wait();
    builder.add(row);
  }
  return builder.build(rows);
}
