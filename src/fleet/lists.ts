import type { Instant } from '../domain/instant.ts';
import type { Pair } from '../domain/market.ts';
import type { FleetPoll } from '../live/fleet-port.ts';
import { type MarketSnapshot, prepareMarket } from '../live/market/lists.ts';
import { createPolls, type PollCodec, type PollContext } from './polls.ts';

/** When a list was read, by the clock of Redis, and what else changes with each poll. */
type Facts = {
  readonly beganAt: number;
  readonly endedAt: number;
  readonly intervalMs: number;
  readonly dropped: number;
};

/** A list as it is in Redis. */
type PackedList<P> = Facts & { readonly rows: readonly P[] };

/** Creates the polls of one list of the market-data host. */
export function createListPolls<P extends Pair>(
  context: PollContext,
  name: 'pairs' | 'tickers',
  now: () => Instant,
): FleetPoll<MarketSnapshot<P>> {
  const { clock } = context;

  function factsOf({ read, observedAt, nextAt, dropped }: MarketSnapshot<P>): Facts {
    const [beganAt, endedAt] = [clock.toRedis(read.beganAt), clock.toRedis(read.endedAt)];
    return { beganAt, endedAt, intervalMs: Math.max(0, nextAt - observedAt), dropped };
  }

  function toSnapshot(market: MarketSnapshot<P>['market'], facts: Facts): MarketSnapshot<P> {
    const read = { beganAt: clock.toLocal(facts.beganAt), endedAt: clock.toLocal(facts.endedAt) };
    const observedAt = now() - (performance.now() - read.endedAt);
    return { market, observedAt, nextAt: observedAt + facts.intervalMs, dropped: facts.dropped, read };
  }

  /** Whether a response cannot be older than another one: its read began when the other had ended. */
  const isNewer = (facts: Facts, previous: MarketSnapshot<P> | undefined) =>
    previous === undefined || clock.toLocal(facts.beganAt) >= previous.read.endedAt;

  const codec: PollCodec<MarketSnapshot<P>> = {
    rankOf: ({ read }) => clock.toRedis(read.endedAt),
    isUnchanged: ({ market }, previous) => market === previous?.market,
    all: (snapshot) => [snapshot],
    pack: async (snapshot): Promise<PackedList<P>> => ({ ...factsOf(snapshot), rows: snapshot.market.rows }),
    async unpack(packed, previous) {
      const newest = packed.at(-1) as PackedList<P> | undefined;
      if (newest === undefined || !isNewer(newest, previous)) return undefined;
      return toSnapshot(await prepareMarket(newest.rows), newest);
    },
    facts: factsOf,
    withFacts: (snapshot, facts) =>
      facts !== undefined && isNewer(facts as Facts, snapshot) ? toSnapshot(snapshot.market, facts as Facts) : snapshot,
  };
  return createPolls(context, { name, keep: 1, codec });
}
