import { checkGoal, type Goal, ratios } from './goal.ts';
import { toCount, toFigure, toTable } from './markdown.ts';
import type { Cell, Result } from './result.ts';
import { growth, median, slope } from './statistics.ts';

/** Writes the report as Markdown. */
export function toReport(results: readonly Result[], machine: readonly string[], quick: boolean): string {
  const head = quick
    ? 'A quick run, which shows that everything works. The figures mean nothing.'
    : 'Written by `npm run bench` in this folder, in one run. Each figure is the median of its rounds, with the lowest and the highest. A ratio is the median of the ratios in the same round.';
  const parts = [`# Results of the bench\n\n${head}\n\n${machine.join('\n')}\n`, summary(results)];
  return [...parts, ...results.map(section)].join('\n');
}

/** All goals in one table. */
function summary(results: readonly Result[]): string {
  const lines = results.flatMap((result) =>
    result.goals.map((goal) => [result.title, toText(result, goal), ...outcomeOf(result, goal)]),
  );
  const table = toTable([['benchmark', 'goal', 'measured', 'met'], ...lines]);
  return lines.length === 0 ? '' : `## Goals\n\n${table}\n`;
}

function section(result: Result): string {
  const { title, about, unit, better, sizes, sizeUnit, baseline, cells, notes, goals } = result;
  const hasGrowth = sizes.length > 2;
  const head = ['', ...sizes.map((size) => `${toCount(size)} ${sizeUnit}`), ...(hasGrowth ? ['growth'] : [])];
  const ordered = [...cells].sort(([one], [other]) => Number(other === baseline) - Number(one === baseline));
  const lines = ordered.map(([target, line]) => [
    target,
    ...sizes.map((size) => figure(result, line.get(size), size)),
    ...(hasGrowth ? [growthOf(result, line)] : []),
  ]);
  const outcomes = goals.map((goal) => {
    const [measured, outcome] = outcomeOf(result, goal);
    return `goal ${toText(result, goal)}: ${measured}: **${outcome}**`;
  });
  const remarks = [...outcomes, ...notes].map((note) => `- ${note}`).join('\n');
  const text = `## ${title}\n\n${about} In ${unit}: ${better} is better.\n\n${toTable([head, ...lines])}\n`;
  return remarks === '' ? text : `${text}\n${remarks}\n`;
}

/** A goal in words: `gateway ≥ 0.85 × bare node:http`. */
function toText({ unit }: Result, { target, baseline, bound, value }: Goal): string {
  const sign = bound === 'at most' ? '≤' : '≥';
  if (baseline?.by === 'ratio') return `${target} ${sign} ${value} × ${baseline.target}`;
  const text = `${target} ${sign} ${toCount(value)} ${unit}`;
  return baseline === undefined ? text : `${text} more than ${baseline.target}`;
}

/** The figure at each size, and whether the goal is met. */
function outcomeOf(result: Result, goal: Goal): readonly [measured: string, outcome: string] {
  const checks = checkGoal(result, goal);
  const missed = checks.filter(({ isMet }) => isMet === false);
  const at = (size: number) => `${toCount(size)} ${result.sizeUnit}`;
  if (checks.some(({ isMet }) => isMet === undefined)) return ['nothing', 'not met: no figure'];
  const figures = checks.map(({ size, value }) => `${toFigure(value)} at ${at(size)}`).join(', ');
  if (missed.length === 0) return [figures, 'met'];
  return [
    figures,
    missed.length === checks.length ? 'not met' : `not met at ${missed.map(({ size }) => at(size)).join(', ')}`,
  ];
}

function figure({ baseline, cells }: Result, cell: Cell | undefined, size: number): string {
  if (cell === undefined) return '';
  const { samples, reason } = cell;
  if (samples.length === 0) return reason ?? '';
  const spread = samples.length > 1 ? ` (${toFigure(Math.min(...samples))}–${toFigure(Math.max(...samples))})` : '';
  const baselineCell = baseline === undefined ? undefined : cells.get(baseline)?.get(size);
  const compared = baselineCell === undefined || baselineCell === cell ? [] : ratios(samples, baselineCell.samples);
  return `${toFigure(median(samples))}${spread}${compared.length === 0 ? '' : `, × ${toFigure(median(compared))}`}`;
}

/** How a figure grows: as a power of the size, and by how much per thousand if less is better. */
function growthOf({ sizes, better, unit }: Result, line: ReadonlyMap<number, Cell>): string {
  const points = sizes.map((size) => ({ size, value: median(line.get(size)?.samples ?? []) }));
  const exponent = growth(points);
  const power = exponent === undefined ? '' : `size^${exponent.toFixed(2)}`;
  const perOne = better === 'less' && !unit.includes(' per ') ? slope(points) : undefined;
  const sign = perOne !== undefined && perOne < 0 ? '−' : '+';
  const perThousand = perOne === undefined ? '' : `${sign}${toFigure(Math.abs(perOne) * 1_000)} per 1,000`;
  return [power, perThousand].filter((text) => text !== '').join(', ');
}
