import type { MetricsReading } from '../prometheus.ts';
import { commonRows, latencyRows, listed, type TableRow, tableOf, without } from '../report.ts';
import type { FleetResult } from './run.ts';

/** Whether the run had no failure. */
export function hasFleetPassed({ judge }: FleetResult): boolean {
  return judge.counts.wrong.size === 0;
}

/** The result as Markdown: a table of the figures, and the first failures with details. */
export function fleetToMarkdown(result: FleetResult): string {
  const { replicas, judge, faults, metrics } = result;
  const rows: readonly TableRow[] = [
    ...commonRows(result, hasFleetPassed(result)),
    ['gateways', String(replicas)],
    ...latencyRows(judge, ['poller', 'websocket client']),
    ['faults', listed(faults)],
    ['minimum heights of the gateways since their last start', sumBy(metrics, 'pdex_minimum_heights_total', 'outcome')],
    ['calls to upstreams since the last start', sumBy(metrics, 'pdex_upstream_calls_total', 'method')],
    ['log', listed(without('lines of the log, ', judge.counts.events))],
  ];
  return tableOf(rows, judge);
}

function sumBy(metrics: readonly MetricsReading[], name: string, label: string): string {
  const counts = new Map<string, number>();
  for (const { labels, value } of metrics.flatMap((each) => each.all(name))) {
    const key = labels[label] ?? '';
    counts.set(key, (counts.get(key) ?? 0) + value);
  }
  return listed(counts);
}
