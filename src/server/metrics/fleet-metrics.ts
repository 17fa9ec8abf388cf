import { Counter, Gauge, type Registry } from 'prom-client';
import type { FleetStatus } from '../../fleet/fleet.ts';

/** Registers the metrics of the fleet. Without a fleet they have no samples. */
export function registerFleetMetrics(
  status: (() => FleetStatus) | undefined,
  now: () => number,
  registry: Registry,
): void {
  const registers = [registry];

  function gauge(name: string, help: string, read: (fleet: FleetStatus) => number | undefined): void {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = status && read(status());
        if (value === undefined) this.reset();
        else this.set(value);
      },
    }).reset();
  }

  function counter(name: string, help: string, read: (fleet: FleetStatus) => number): void {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        if (status !== undefined) this.inc(read(status()));
      },
    });
  }

  new Gauge({
    name: 'pdex_fleet_role',
    help: '1 for the role of the gateway in its fleet: JOINING, LEADER, FOLLOWER or ALONE. No sample without REDIS_URL.',
    labelNames: ['role'],
    registers,
    collect() {
      this.reset();
      if (status !== undefined) this.set({ role: status().role }, 1);
    },
  });
  gauge('pdex_fleet_role_seconds', 'Time since which the gateway has its role in the fleet, in seconds.', ({ since }) =>
    Math.max(0, (now() - since) / 1_000),
  );
  gauge(
    'pdex_fleet_lease_fence',
    'Fencing number of the lease that the gateway holds or follows. It grows with each new leader.',
    ({ fence }) => fence,
  );
  gauge(
    'pdex_fleet_lag_seconds',
    'Time from when the leader had read the newest beacon height until the gateway received it, in seconds. No sample unless the gateway follows a leader.',
    ({ lagMs }) => (lagMs === undefined ? undefined : lagMs / 1_000),
  );
  gauge('pdex_fleet_redis_available', '1 while the gateway can use Redis; otherwise 0.', ({ isRedisAvailable }) =>
    Number(isRedisAvailable),
  );
  counter('pdex_fleet_takeovers_total', 'How often the gateway became the leader.', ({ takeovers }) => takeovers);
  counter(
    'pdex_fleet_published_bytes_total',
    'Bytes of the messages that the gateway has published to Redis.',
    ({ publishedBytes }) => publishedBytes,
  );
  counter(
    'pdex_fleet_received_bytes_total',
    'Bytes of the messages that the gateway has received from Redis.',
    ({ receivedBytes }) => receivedBytes,
  );
  new Counter({
    name: 'pdex_fleet_refused_messages_total',
    help: 'Messages from Redis that were ignored, by reason: version (of another format), damaged, size, chain (another one) or gap (one before it is missing).',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, messages] of status?.().refused ?? []) this.inc({ reason }, messages);
    },
  });
  counter('pdex_fleet_redis_errors_total', 'Commands to Redis that failed.', ({ redisErrors }) => redisErrors);
}
