import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Result } from '../result.ts';
import { toChart } from './chart.ts';
import type { Run } from './run.ts';

/** The README of the repository, which shows the chart of the last whole run. */
const README = fileURLToPath(new URL('../../README.md', import.meta.url));
const BENCH = fileURLToPath(new URL('..', import.meta.url));

/**
 * Writes RESULTS.md and `results/` into a folder: the raw figures of each row, and the chart. What was there before is replaced. If it is
 * the folder of the bench, the README gets the chart.
 */
export function writeReport(folder: string, page: string, { rows }: Run): void {
  const raw = join(folder, 'results');
  rmSync(raw, { recursive: true, force: true });
  mkdirSync(raw, { recursive: true });
  for (const { name, results } of rows)
    writeFileSync(join(raw, `${name}.json`), `${JSON.stringify(results.map(toRaw), null, 1)}\n`);
  writeFileSync(join(folder, 'RESULTS.md'), page);
  const chart = toChart(rows.flatMap(({ results }) => results));
  if (chart === undefined) return;
  writeFileSync(join(raw, 'chart.svg'), chart);
  if (relative(BENCH, folder) === '') writeFileSync(README, withChart(readFileSync(README, 'utf8')));
}

/** Fills the part of the README that is empty before the first whole run. */
function withChart(readme: string): string {
  const text = `## Speed

![Responses per second of the gateway and of other GraphQL servers](bench/results/chart.svg)

Responses per second on one core, over the same 10,000 pools. The machine, all goals, and which are not met: [results](bench/RESULTS.md).`;
  return readme.replace(/(<!-- speed -->)[\s\S]*(<!-- \/speed -->)/, `$1\n\n${text}\n\n$2`);
}

/** A result with four digits of each sample, each list of samples as a text on one line. */
function toRaw({ cells, ...head }: Result) {
  const round = (value: number) => Number(value.toPrecision(4));
  const figures = [...cells].map(([target, line]) => [
    target,
    Object.fromEntries([...line].map(([size, { samples, reason }]) => [size, reason ?? samples.map(round).join(' ')])),
  ]);
  return { ...head, samples: Object.fromEntries(figures) };
}
