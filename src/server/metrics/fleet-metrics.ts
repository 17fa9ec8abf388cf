import { Counter, Histogram, type Registry } from 'prom-client';
import type { FleetStatus } from '../../fleet/fleet.ts';
import type { FleetWatcher } from '../../fleet/watcher.ts';
import type { CollectedMetrics } from './collected-metrics.ts';

/** Registers the gauges of the fleet. Without a fleet they have no samples. */
export function registerFleetMetrics(
  status: (() => FleetStatus) | undefined,
  { gauge, counter }: CollectedMetrics,
): void {
  if (status === undefined) return;

  gauge(
    'pdex_fleet_replicas',
    'Gateways of the fleet, with this one; 1 while it cannot use Redis.',
    () => status().replicas,
  );
  gauge(
    'pdex_fleet_connected',
    '1 while the gateway reads together with the others; 0 while it cannot use Redis, or the fleet follows another chain.',
    () => Number(status().isConnected),
  );
  gauge(
    'pdex_fleet_lag_seconds',
    'Time from when another gateway had read the newest beacon height until this one had it, in seconds; 0 if this one has read it.',
    () => status().lagMs / 1_000,
  );
  counter('pdex_fleet_redis_errors_total', 'Commands to Redis that failed.', () => status().redisErrors);
}

const WAIT_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Creates the metrics of what a fleet reads once, and registers them. */
export function createFleetWatcher(registry: Registry): FleetWatcher {
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });

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
  const waits = new Histogram({
    name: 'pdex_fleet_wait_seconds',
    help: 'Time that a read waited for another gateway to read the same, in seconds, by kind.',
    buckets: WAIT_SECONDS,
    labelNames: ['kind'],
    registers,
  });

  return {
    ended: (kind, outcome) => reads.inc({ kind, outcome }),
    waited: (kind, seconds) => waits.observe({ kind }, seconds),
    moved: (kind, direction, count) => bytes.inc({ kind, direction }, count),
    damaged: (kind) => damaged.inc({ kind }),
  };
}
