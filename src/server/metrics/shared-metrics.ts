import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { SharedReadsWatcher } from '../../fleet/shared-reads.ts';

/** Is notified of what the replicas of a fleet share. */
export type SharedWatcher = SharedReadsWatcher & {
  /** The rates of clients were settled. @param replicas how many replicas count them; `undefined` if it failed */
  settled(replicas: number | undefined): void;
};

const WAIT_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Creates the metrics of what a fleet shares, and registers them. */
export function createSharedMetrics(registry: Registry): SharedWatcher {
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });

  const reads = counter(
    'pdex_fleet_shared_reads_total',
    'Reads of what the fleet shares, by kind and outcome: hit (from Redis), waited (from Redis, after another replica had read it), read (from the upstream, for all replicas) or alone (from the upstream, because Redis could not be used or the other replica took too long). Of a persisted query, read means that no replica has it.',
    'kind',
    'outcome',
  );
  const damaged = counter(
    'pdex_fleet_shared_damaged_total',
    'Values in Redis that could not be used, by kind: damaged, or of another version or chain.',
    'kind',
  );
  const bytes = counter(
    'pdex_fleet_shared_bytes_total',
    'Bytes of shared values that were read from Redis (in) or written to it (out), by kind.',
    'kind',
    'direction',
  );
  const waits = new Histogram({
    name: 'pdex_fleet_shared_wait_seconds',
    help: 'Time that a read waited for another replica to read the same, in seconds, by kind.',
    buckets: WAIT_SECONDS,
    labelNames: ['kind'],
    registers,
  });
  const settlements = counter(
    'pdex_fleet_rate_settlements_total',
    'Exchanges of what clients have spent with the other replicas, by outcome: settled or failed.',
    'outcome',
  );
  const replicas = new Gauge({
    name: 'pdex_fleet_rate_replicas',
    help: 'Replicas that count the rates of clients together. 1 while this one counts alone.',
    registers,
  });

  return {
    ended: (kind, outcome) => reads.inc({ kind, outcome }),
    waited: (kind, seconds) => waits.observe({ kind }, seconds),
    moved: (kind, direction, count) => bytes.inc({ kind, direction }, count),
    damaged: (kind) => damaged.inc({ kind }),
    settled(count) {
      settlements.inc({ outcome: count === undefined ? 'failed' : 'settled' });
      replicas.set(count ?? 1);
    },
  };
}
