import { BEFORE } from '../checkouts.ts';
import { compare, median, samplesOf, spreadOf, toCount, toFigure, toTable } from '../figures.ts';
import type { Result } from '../result.ts';
import { GATEWAY } from '../targets.ts';
import type { Run } from './run.ts';

/** A change that makes a figure worse by more than this counts as slower. */
const TOLERANCE = 0.03;

/** Writes the comparison of two checkouts as Markdown. */
export function toComparison({ command, date, minutes, machine, rows, failures }: Run): string {
  const results = rows.flatMap((row) => row.results);
  const table = toTable([
    ['what', 'size', 'before', 'after', 'ratio (spread)', `at most ${TOLERANCE * 100} % worse`],
    ...results.flatMap((result) => result.sizes.flatMap((size) => linesOf(result, size))),
    ...failures.map(({ name, reason }) => [`row \`${name}\``, '', '', '', '', `failed: ${reason}`]),
  ]);
  return `# Before and after

Written by \`${command}\` on ${date}, in ${minutes} minutes. Figures are medians. The ratio is after / before, the median of those
within a round, with the lowest and the highest median of one start. "Yes" and "no" hold for the whole spread.

${machine.join('\n')}

${table}
`;
}

/** One line for each target that both checkouts have. */
function linesOf(result: Result, size: number): string[][] {
  const { title, unit, better, sizeUnit, samplesPerStart, cells } = result;
  return [...cells.keys()].flatMap((target) => {
    const after = samplesOf(result, target, size);
    const before = samplesOf(result, `${target}${BEFORE}`, size);
    if (before.length === 0 || after.length === 0) return [];

    const { value, low, high } = spreadOf(compare(after, before, 'ratio'), samplesPerStart);
    const what = `${title}${target === GATEWAY ? '' : `: ${target}`} (${unit})`;
    const spread = `${value.toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)})`;
    const figures = [median(before), median(after)].map(toFigure);
    return [[what, `${toCount(size)} ${sizeUnit}`, ...figures, spread, verdictOf(low, high, better)]];
  });
}

function verdictOf(low: number, high: number, better: Result['better']): string {
  const [worst, best] = better === 'more' ? [low, high] : [high, low];
  const isWithin = (ratio: number) => (better === 'more' ? ratio >= 1 - TOLERANCE : ratio <= 1 + TOLERANCE);
  if (isWithin(worst)) return 'yes';
  return isWithin(best) ? 'not shown (spread)' : '**no**';
}
