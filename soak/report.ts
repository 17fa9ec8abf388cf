import { judgeMemory, type MemoryVerdict, type Sample } from './figures.ts';
import type { Judge } from './judge.ts';
import type { Quantiles } from './latencies.ts';
import { neverCompared, REQUIRED_FROM_MINUTES } from './required-checks.ts';
import type { Result } from './run.ts';
import type { CommonResult } from './setup.ts';

/** What was measured, and its figures. */
export type TableRow = readonly [string, string];

/** Whether the run had no failure and no leak. */
export function isPassed(result: Result): boolean {
  const memory = (['heapMb', 'rssMb'] as const).map((kind) => judgeMemory(result.samples, kind));
  return result.judge.counts.wrong.size === 0 && memory.every(({ verdict }) => verdict !== 'LEAKS');
}

/** The result as Markdown: a table of the figures, and the first failures with details. */
export function toMarkdown(result: Result): string {
  const { judge, faults, samples } = result;
  const cpu = median(samples.slice(1).map((sample) => sample.cpu));
  const rows: readonly TableRow[] = [
    ...commonRows(result, isPassed(result)),
    ['updates that subscribers skipped', skipped(result)],
    ...latencyRows(judge, REPORTED_CLIENTS),
    ['faults', listed(faults)],
    ['calls to upstreams', upstreamCalls(result)],
    ['heap in use after collection', memory(judgeMemory(samples, 'heapMb'))],
    ['resident memory', memory(judgeMemory(samples, 'rssMb'))],
    ['resident memory by kind, at the start and at the end', partsOf(samples)],
    ['event-loop lag', lag(samples)],
    ['one core, busy', `${Math.round(cpu * 100)} %`],
    ['log', listed(without('lines of the log, ', judge.counts.events))],
  ];
  return tableOf(rows, judge);
}

/** The rows that the soak of one gateway and that of a fleet share. */
export function commonRows(result: CommonResult, passed: boolean): readonly TableRow[] {
  const { seed, minutes, blocks, servedHeights, judge } = result;
  const { requests, updates, errors, events, wrong } = judge.counts;
  const isShort = minutes < REQUIRED_FROM_MINUTES;
  const success = isShort ? 'passed, but a run of less than a minute need not check each kind of response' : 'passed';
  return [
    ['result', passed ? success : 'FAILED'],
    ['seed', String(seed)],
    ['minutes with faults', minutes.toFixed(1)],
    [
      'blocks',
      `${blocks.made} made, of which ${servedHeights} were served as the newest; ${blocks.replaced} tips replaced`,
    ],
    ['requests', listed(requests)],
    ['updates of subscriptions', listed(updates)],
    ['responses and updates checked', thousands(judge.checked())],
    ['of kinds of which none was checked', listed(neverCompared(judge))],
    ['wrong', listed(wrong)],
    ['errors, by code', listed(errors)],
    ['clients', listed(only(events, (name) => !/^(lines of the log|heights skipped)/.test(name)))],
    ['heights skipped for subscribers', listed(without('heights skipped for ', events))],
  ];
}

/** The rows as Markdown, and the first failures with details. */
export function tableOf(rows: readonly TableRow[], judge: Judge): string {
  const table = rows.map(([what, value]) => `| ${what} | ${value} |`).join('\n');
  const findings = judge.findings.map((finding) => `\n\`\`\`\n${finding}\n\`\`\``).join('\n');
  return `| | |\n|---|---|\n${table}\n${findings === '' ? '' : `\nThe first failures:\n${findings}\n`}`;
}

/** Counts as a text: the sum, then each, the largest first. */
export function listed(counts: ReadonlyMap<string, number>): string {
  if (counts.size === 0) return '0';
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([what, count]) => `${thousands(count)} ${what}`);
  return counts.size === 1 ? parts.join() : `${thousands(total)}: ${parts.join(', ')}`;
}

/** The counts with a wanted name. */
export function only(counts: ReadonlyMap<string, number>, isWanted: (name: string) => boolean): Map<string, number> {
  return new Map([...counts].filter(([name]) => isWanted(name)));
}

/** The counts whose names have a prefix, without the prefix. */
export function without(beginning: string, counts: ReadonlyMap<string, number>): Map<string, number> {
  return new Map(
    [...counts]
      .filter(([name]) => name.startsWith(beginning))
      .map(([name, count]) => [name.slice(beginning.length), count]),
  );
}

/** The kinds of clients whose latency is reported: the others must not slow them down. */
const REPORTED_CLIENTS = ['poller', 'websocket client', 'chart reader'];

/** A row for each of these kinds of clients. */
export function latencyRows(judge: Judge, kinds: readonly string[]): readonly TableRow[] {
  return kinds.map((kind) => [`responses to ${kind}s took`, latencies(judge, kind)] as const);
}

function latencies(judge: Judge, kind: string): string {
  const { all, faultFree } = judge.latencies.of(kind);
  const toText = ({ p50, p99, max }: Quantiles) =>
    `p50 ${Math.round(p50)} ms, p99 ${Math.round(p99)} ms, max ${thousands(Math.round(max))} ms`;
  return `${toText(all)}; while no upstream had a fault: ${toText(faultFree)}`;
}

function skipped({ metrics }: Result): string {
  const samples = metrics?.all('pdex_updates_skipped_total') ?? [];
  return listed(new Map(samples.map(({ labels, value }) => [labels['source'] ?? '', value])));
}

function upstreamCalls({ metrics }: Result): string {
  const counts = new Map<string, number>();
  for (const { labels, value } of metrics?.all('pdex_upstream_calls_total') ?? []) {
    const name = `${labels['method']} ${labels['outcome']}`;
    counts.set(name, (counts.get(name) ?? 0) + value);
  }
  return listed(counts);
}

function memory({ startMb, endMb, slope, verdict }: MemoryVerdict): string {
  const rise =
    slope === undefined
      ? ''
      : `, ${slope.perHour.toFixed(1)} ± ${slope.uncertainty.toFixed(1)} MB/h in the second half`;
  return `${startMb.toFixed(1)} MB at the start, ${endMb.toFixed(1)} MB at the end${rise}: ${verdict}`;
}

/** The parts of the resident memory: V8's heap, buffers, and everything else, such as what the system's allocator retains. */
function partsOf(samples: readonly Sample[]): string {
  const toText = ({ rssMb, heapTotalMb, buffersMb }: Sample) =>
    `heap ${heapTotalMb.toFixed(0)} MB, buffers ${buffersMb.toFixed(0)} MB, other ${(rssMb - heapTotalMb - buffersMb).toFixed(0)} MB`;
  return samples
    .filter((_, index) => index === 0 || index === samples.length - 1)
    .map(toText)
    .join('; ');
}

function lag(samples: readonly Sample[]): string {
  const lags = samples.slice(1).map(({ lagMs }) => lagMs);
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const worst = Math.max(0, ...lags.map(({ max }) => max));
  return `p50 ${ms(median(lags.map(({ p50 }) => p50)))}, p99 ${ms(median(lags.map(({ p99 }) => p99)))} (medians of ${lags.length} samples), max ${ms(worst)}`;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
}

/** A number with separators. */
export function thousands(value: number): string {
  return value.toLocaleString('en-US');
}
