import type { Cell, Finding } from './finding.ts';
import { compare, type Reach, reachedBy } from './reach.ts';
import { growth, median, slope } from './statistics.ts';

/** The result as Markdown. */
export function toMarkdown(findings: readonly Finding[], machine: readonly string[], quick: boolean): string {
  const head = quick
    ? 'A quick run: it shows that everything works. Nothing of it may be quoted.'
    : 'Made by `npm run bench` in this folder, all in one run; each figure is the median of its rounds, with the lowest and the highest. A ratio is the median of the ratios in the same round.';
  const parts = [`# What was measured\n\n${head}\n\n${machine.join('\n')}\n`, summary(findings)];
  return [...parts, ...findings.map(section)].join('\n');
}

/** All that is to be reached, in one table. */
function summary(findings: readonly Finding[]): string {
  const rows = findings.flatMap((finding) =>
    finding.reaches.map((reach) => [finding.title, toReach(finding, reach), ...told(finding, reach)]),
  );
  const table = toTable([['what', 'reach', 'reached', 'met'], ...rows]);
  return rows.length === 0 ? '' : `## What is to be reached\n\n${table}\n`;
}

function section(finding: Finding): string {
  const { title, about, unit, better, sizes, sizeUnit, reference, cells, notes, reaches } = finding;
  const hasGrowth = sizes.length > 2;
  const head = ['', ...sizes.map((size) => `${thousands(size)} ${sizeUnit}`), ...(hasGrowth ? ['grows as'] : [])];
  const ordered = [...cells].sort(([one], [other]) => Number(other === reference) - Number(one === reference));
  const lines = ordered.map(([subject, row]) => [
    subject,
    ...sizes.map((size) => figure(finding, row.get(size), size)),
    ...(hasGrowth ? [grows(finding, row)] : []),
  ]);
  const verdicts = reaches.map((reach) => {
    const [reached, verdict] = told(finding, reach);
    return `reach ${toReach(finding, reach)}: ${reached}: **${verdict}**`;
  });
  const remarks = [...verdicts, ...notes].map((note) => `- ${note}`).join('\n');
  const text = `## ${title}\n\n${about} In ${unit}: ${better} is better.\n\n${toTable([head, ...lines])}\n`;
  return remarks === '' ? text : `${text}\n${remarks}\n`;
}

function toTable([head = [], ...lines]: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

/** What is to be reached, as words: `gateway ≥ 0.85 × bare node:http`. */
function toReach({ unit }: Finding, { subject, against, bound, value }: Reach): string {
  const sign = bound === 'at most' ? '≤' : '≥';
  if (against?.by === 'times') return `${subject} ${sign} ${value} × ${against.subject}`;
  const figure = `${subject} ${sign} ${thousands(value)} ${unit}`;
  return against === undefined ? figure : `${figure} more than ${against.subject}`;
}

/** What was reached at each size, and whether that is enough. */
function told(finding: Finding, reach: Reach): readonly [reached: string, verdict: string] {
  const reached = reachedBy(finding, reach);
  const missed = reached.filter(({ isMet }) => isMet === false);
  const at = (size: number) => `${thousands(size)} ${finding.sizeUnit}`;
  if (reached.some(({ isMet }) => isMet === undefined)) return ['nothing', 'not met: no figure'];
  const figures = reached.map(({ size, value }) => `${number(value)} at ${at(size)}`).join(', ');
  if (missed.length === 0) return [figures, 'met'];
  return [
    figures,
    missed.length === reached.length ? 'not met' : `not met at ${missed.map(({ size }) => at(size)).join(', ')}`,
  ];
}

function figure({ reference, cells }: Finding, cell: Cell | undefined, size: number): string {
  if (cell === undefined) return '';
  const { samples, text } = cell;
  if (samples.length === 0) return text ?? '';
  const spread = samples.length > 1 ? ` (${number(Math.min(...samples))}–${number(Math.max(...samples))})` : '';
  const against = reference === undefined ? undefined : cells.get(reference)?.get(size);
  const ratios = against === undefined || against === cell ? [] : compare(samples, against.samples, true);
  return `${number(median(samples))}${spread}${ratios.length === 0 ? '' : `, × ${number(median(ratios))}`}`;
}

/** How a figure grows: as which power of the size; and where less is better, by how much for each thousand more. */
function grows({ sizes, better, unit }: Finding, row: ReadonlyMap<number, Cell>): string {
  const points = sizes.map((size) => ({ size, value: median(row.get(size)?.samples ?? []) }));
  const exponent = growth(points);
  const power = exponent === undefined ? '' : `size^${exponent.toFixed(2)}`;
  const more = better === 'less' && !unit.includes(' per ') ? slope(points) : undefined;
  const each = more === undefined ? '' : `${more < 0 ? '−' : '+'}${number(Math.abs(more) * 1_000)} per 1,000`;
  return [power, each].filter((text) => text !== '').join(', ');
}

/** Three digits that mean something. */
function number(value: number): string {
  if (Math.abs(value) >= 100) return thousands(Math.round(value));
  return value.toPrecision(Math.abs(value) < 0.1 ? 2 : 3).replace(/\.0+$/, '');
}

function thousands(value: number): string {
  return value.toLocaleString('en-US');
}
