import type { Cell, Finding } from './finding.ts';
import { growth, median } from './statistics.ts';

/** The result as Markdown. */
export function toMarkdown(findings: readonly Finding[], machine: readonly string[], quick: boolean): string {
  const head = quick
    ? 'A quick run: it shows that everything works. Nothing of it may be quoted.'
    : 'Made by `npm run bench` in this folder, all in one run; each figure is the median of its rounds, with the lowest and the highest. A ratio is the median of the ratios in the same round.';
  return [`# What was measured\n\n${head}\n\n${machine.join('\n')}\n`, ...findings.map(section)].join('\n');
}

function section(finding: Finding): string {
  const { title, about, unit, better, sizes, sizeUnit, reference, cells, notes } = finding;
  const hasGrowth = sizes.length > 2;
  const head = ['', ...sizes.map((size) => `${thousands(size)} ${sizeUnit}`), ...(hasGrowth ? ['grows as'] : [])];
  const ordered = [...cells].sort(([one], [other]) => Number(other === reference) - Number(one === reference));
  const lines = ordered.map(([subject, row]) => [
    subject,
    ...sizes.map((size) => figure(finding, row.get(size), size)),
    ...(hasGrowth ? [grows(finding, row)] : []),
  ]);
  const table = [head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
  const remarks = notes.map((note) => `- ${note}`).join('\n');
  return `## ${title}\n\n${about} In ${unit}: ${better} is better.\n\n${table}\n${remarks === '' ? '' : `\n${remarks}\n`}`;
}

function figure({ reference, cells }: Finding, cell: Cell | undefined, size: number): string {
  if (cell === undefined) return '';
  const { samples, text } = cell;
  if (samples.length === 0) return text ?? '';
  const spread = samples.length > 1 ? ` (${number(Math.min(...samples))}–${number(Math.max(...samples))})` : '';
  const against = reference === undefined ? undefined : cells.get(reference)?.get(size);
  const ratio = against === undefined || against === cell ? '' : `, ${ratioOf(samples, against.samples)}`;
  return `${number(median(samples))}${spread}${ratio}`;
}

function ratioOf(samples: readonly number[], reference: readonly number[]): string {
  const ratios = samples.flatMap((sample, round) => {
    const other = reference[round];
    return other === undefined || other === 0 ? [] : [sample / other];
  });
  return ratios.length === 0 ? '' : `× ${number(median(ratios))}`;
}

function grows({ sizes }: Finding, row: ReadonlyMap<number, Cell>): string {
  const points = sizes.map((size) => ({ size, value: median(row.get(size)?.samples ?? []) }));
  const exponent = growth(points);
  return exponent === undefined ? '' : `size^${exponent.toFixed(2)}`;
}

/** Three digits that mean something. */
function number(value: number): string {
  if (Math.abs(value) >= 100) return thousands(Math.round(value));
  return value.toPrecision(Math.abs(value) < 0.1 ? 2 : 3).replace(/\.0+$/, '');
}

function thousands(value: number): string {
  return value.toLocaleString('en-US');
}
