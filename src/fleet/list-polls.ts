import type { Instant } from '../domain/instant.ts';
import type { Pair } from '../domain/market.ts';
import type { FleetPoll } from '../live/fleet-port.ts';
import { type MarketSnapshot, prepareMarket } from '../live/market/market-follower.ts';
import type { PollContext } from './poll-options.ts';
import { createPolls } from './polls.ts';

/** A list as it is in Redis, with the times of its read by the clock of Redis. */
type PackedList<P> = {
  readonly rows: readonly P[];
  readonly dropped: number;
  readonly beganAt: number;
  readonly endedAt: number;
  readonly intervalMs: number;
};

/** Creates the polls of one list of the market-data host. */
export function createListPolls<P extends Pair>(
  context: PollContext,
  name: 'pairs' | 'tickers',
  now: () => Instant,
): FleetPoll<MarketSnapshot<P>> {
  const { clock } = context;

  /** A list that was read at this time, of `performance.now()`. */
  function readAt(read: MarketSnapshot<P>['read'], intervalMs: number) {
    const observedAt = now() - (performance.now() - read.endedAt);
    return { observedAt, nextAt: observedAt + intervalMs, read };
  }

  const intervalOf = ({ nextAt, observedAt }: MarketSnapshot<P>) => Math.max(0, nextAt - observedAt);

  return createPolls<MarketSnapshot<P>>(context, {
    name,
    keyPrefix: name,
    keep: 1,
    // After a suspension, a list looks newer by the monotonic clock than it is: the wall clock has counted that time.
    rankOf: ({ read, observedAt }) => clock.toRedis(Math.min(read.endedAt, performance.now() - (now() - observedAt))),
    all: (snapshot, previous) =>
      snapshot.market === previous?.market && snapshot.dropped === previous.dropped ? [] : [snapshot],
    async pack(snapshot): Promise<PackedList<P>> {
      const { market, dropped, read } = snapshot;
      const [beganAt, endedAt] = [clock.toRedis(read.beganAt), clock.toRedis(read.endedAt)];
      return { rows: market.rows, dropped, beganAt, endedAt, intervalMs: intervalOf(snapshot) };
    },
    async unpack(packed, previous) {
      const newest = packed.at(-1) as PackedList<P> | undefined;
      if (newest === undefined) return undefined;
      const read = { beganAt: clock.toLocal(newest.beganAt), endedAt: clock.toLocal(newest.endedAt) };
      // It is newer if its read began when the other had ended, by either clock: the monotonic one stands still in a suspended machine.
      const beganAt = now() - (performance.now() - read.beganAt);
      if (previous && read.beganAt < previous.read.endedAt && beganAt < previous.observedAt) return undefined;
      const market = await prepareMarket(newest.rows);
      return { market, dropped: newest.dropped, ...readAt(read, newest.intervalMs) };
    },
    polledAgain(snapshot, at) {
      if (at <= snapshot.read.endedAt) return snapshot;
      return { ...snapshot, ...readAt({ beganAt: at, endedAt: at }, intervalOf(snapshot)) };
    },
  });
}
