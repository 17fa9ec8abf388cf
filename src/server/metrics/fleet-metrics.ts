import type { FleetStatus } from '../../fleet/fleet.ts';
import type { FleetWatcher } from '../../fleet/values.ts';
import type { MetricFactory } from './metric-factory.ts';

/** Registers the gauges of the fleet. Without a fleet they have no samples. */
export function registerFleetMetrics(
  status: (() => FleetStatus) | undefined,
  { gaugeOf, counterOf }: MetricFactory,
): void {
  if (status === undefined) return;

  gaugeOf(
    'pdex_fleet_replicas',
    'Gateways of the fleet, with this one; 1 while it cannot use Redis.',
    () => status().replicas,
  );
  gaugeOf(
    'pdex_fleet_connected',
    '1 while the gateway reads together with the others; 0 while it cannot use Redis, or the fleet follows another chain.',
    () => Number(status().isConnected),
  );
  gaugeOf(
    'pdex_fleet_lag_seconds',
    'Time from when another gateway had read the newest beacon height until this one had it, in seconds; 0 if this one has read it.',
    () => status().lagMs / 1_000,
  );
  counterOf('pdex_fleet_redis_errors_total', 'Commands to Redis that failed.', () => status().redisErrors);
}

const WAIT_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Creates the metrics of what a fleet reads once, and registers them. */
export function createFleetWatcher({ counter, histogram }: MetricFactory): FleetWatcher {
  const reads = counter(
    'pdex_fleet_reads_total',
    'Reads in a fleet, by kind and outcome: hit (from Redis), waited (from Redis, after another gateway had read it), read (from the upstream, for all gateways) or alone (from the upstream, because Redis could not be used or another gateway took too long).',
    'kind',
    'outcome',
  );
  const damaged = counter(
    'pdex_fleet_damaged_total',
    'Values in Redis that could not be used, by kind: damaged, or of another version.',
    'kind',
  );
  const bytes = counter(
    'pdex_fleet_bytes_total',
    'Bytes of values that were read from Redis (in) or written to it (out), by kind.',
    'kind',
    'direction',
  );
  const waits = histogram(
    'pdex_fleet_wait_seconds',
    'Time that a read waited for another gateway to read the same, in seconds, by kind.',
    WAIT_SECONDS,
    'kind',
  );

  return {
    ended: (kind, outcome) => reads.inc({ kind, outcome }),
    waited: (kind, seconds) => waits.observe({ kind }, seconds),
    moved: (kind, direction, count) => bytes.inc({ kind, direction }, count),
    damaged: (kind) => damaged.inc({ kind }),
  };
}
