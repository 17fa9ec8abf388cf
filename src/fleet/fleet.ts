import type { Instant } from '../domain/instant.ts';
import type { Share } from '../live/broadcast/follower.ts';
import type { Head } from '../live/chain/head.ts';
import type { MarketShare } from '../live/market/lists.ts';
import type { UpstreamHealth } from '../upstream/health.ts';
import type { RefusalReason } from './byte-reader.ts';
import { createLease, LEASE_MS } from './lease.ts';
import { createMembership, type FleetWatcher, type Membership, type MembershipStatus } from './membership.ts';
import { createPublisher } from './publisher.ts';
import { createReader } from './reader.ts';
import type { Redis } from './redis.ts';
import { createRedisClock } from './redis-clock.ts';
import { createSharedSources, type FollowedSources } from './shared-sources.ts';

/**
 * This gateway as a replica of a fleet. One replica, the leader, reads the upstreams, and publishes what it reads to Redis
 * before it serves it. The others receive it. A replica that cannot use Redis, or cannot read what is in it, reads the
 * upstreams alone.
 */
export type Fleet = Pick<Membership, 'otherChain' | 'untilCurrent' | 'isRecorder' | 'leave' | 'stop'> & {
  /** What the followers of the upstreams share with. */
  readonly share: { readonly head: Share<Head>; readonly market: MarketShare };
  /** Joins the fleet, with the followers of this gateway. Called once. */
  start(sources: FollowedSources): void;
  status(): FleetStatus;
  /** The health of the upstreams as the leader has it; `undefined` while this gateway reads them itself. */
  upstreams(): readonly UpstreamHealth[] | undefined;
};

/** How this gateway takes part in its fleet, and what it has sent and received. */
export type FleetStatus = MembershipStatus & {
  /** How long after the leader had read the newest head this gateway had it, in milliseconds; `undefined` for the leader. */
  readonly lagMs: number | undefined;
  readonly publishedBytes: number;
  readonly receivedBytes: number;
  readonly refused: ReadonlyMap<RefusalReason, number>;
  readonly redisErrors: number;
  readonly isRedisAvailable: boolean;
};

type FleetOptions = {
  readonly redis: Redis;
  readonly headsKept: number;
  readonly now: () => Instant;
  readonly watcher: FleetWatcher;
  /** How long a lease lasts. A leader that was killed is replaced within two leases. */
  readonly leaseMs?: number | undefined;
};

/** Creates the fleet of a gateway, which is not started. */
export function createFleet({ redis, headsKept, now, watcher, leaseMs = LEASE_MS }: FleetOptions): Fleet {
  const lease = createLease(redis, leaseMs);
  const clock = createRedisClock(redis);
  const reader = createReader({ redis, clock, onRefused: watcher.refused });
  const publisher = createPublisher({ redis, lease, headsKept });
  const shared = createSharedSources({ publisher, clock, headsKept, now });
  const membership = createMembership({ redis, lease, clock, reader, publisher, shared, leaseMs, now, watcher });

  /** While this gateway is alone, others can have served any height between two of its own. */
  const fillIn = (head: Head, previous: Head | undefined) =>
    shared.fillIn(head, previous, membership.role() === 'ALONE');

  return {
    ...membership,
    share: {
      async head(head, previous) {
        const complete = await fillIn(head, previous);
        const served = await membership.share(complete, () => shared.publishHead(complete));
        // A leader can have become alone meanwhile.
        return served && (served.filledIn === undefined ? fillIn(served, previous) : served);
      },
      market: {
        pairs: (snapshot) => membership.share(snapshot, () => shared.publishPairs(snapshot)),
        tickers: (snapshot) => membership.share(snapshot, () => shared.publishTickers(snapshot)),
      },
    },
    start(sources) {
      shared.start(sources);
      membership.start();
    },
    status: () => ({
      ...membership.status(),
      lagMs: membership.role() === 'FOLLOWER' ? shared.lagMs() : undefined,
      publishedBytes: publisher.bytes(),
      receivedBytes: reader.bytes(),
      refused: reader.refused(),
      redisErrors: redis.errors(),
      isRedisAvailable: redis.isAvailable(),
    }),
    upstreams: () => (membership.role() === 'FOLLOWER' ? shared.upstreams() : undefined),
  };
}
