import type { FleetStatus } from '../../fleet/fleet.ts';
import type { CollectedMetrics } from './collected-metrics.ts';

/** Registers the metrics of the fleet. Without a fleet they have no values. */
export function registerFleetMetrics(
  status: (() => FleetStatus) | undefined,
  now: () => number,
  metrics: CollectedMetrics,
): void {
  const { gauge, counter, gaugeOfEach, counterOfEach } = metrics;

  gaugeOfEach(
    'pdex_fleet_role',
    '1 for the role of the gateway in its fleet: JOINING, LEADER, FOLLOWER or ALONE. No sample without REDIS_URL.',
    'role',
    () => (status === undefined ? [] : [[status().role, 1]]),
  );
  gauge('pdex_fleet_role_seconds', 'Time since the gateway took its role in the fleet, in seconds.', () =>
    status === undefined ? undefined : Math.max(0, (now() - status().since) / 1_000),
  );
  gauge(
    'pdex_fleet_lease_fence',
    'Fencing number of the lease that the gateway holds or follows. It grows with each new leader.',
    () => status?.().fence,
  );
  gauge(
    'pdex_fleet_lag_seconds',
    'Time from when the leader had read the newest beacon height until the gateway received it, in seconds. 0 unless the gateway follows a leader.',
    () => {
      const lagMs = status?.().lagMs;
      return lagMs === undefined ? undefined : lagMs / 1_000;
    },
  );
  gauge('pdex_fleet_redis_available', '1 while the gateway can use Redis; otherwise 0.', () =>
    Number(status?.().isRedisAvailable ?? false),
  );
  counter('pdex_fleet_takeovers_total', 'How often the gateway became the leader.', () => status?.().takeovers);
  counter(
    'pdex_fleet_published_bytes_total',
    'Bytes of the messages that the gateway has published to Redis.',
    () => status?.().publishedBytes,
  );
  counter(
    'pdex_fleet_received_bytes_total',
    'Bytes of the messages that the gateway has received from Redis.',
    () => status?.().receivedBytes,
  );
  counterOfEach(
    'pdex_fleet_refused_messages_total',
    'Messages from Redis that were ignored, by reason: version (of another format), damaged, size, chain (another one) or gap (one before it is missing).',
    'reason',
    () => status?.().refused ?? [],
  );
  counter('pdex_fleet_redis_errors_total', 'Commands to Redis that failed.', () => status?.().redisErrors);
}
