import { ratios } from './goal.ts';
import { toCount, toFigure, toTable } from './markdown.ts';
import type { Result } from './result.ts';
import { median, medianBounds } from './statistics.ts';
import { BEFORE, GATEWAY } from './targets.ts';

/** A change that makes a figure worse by more than this counts as slower. */
const TOLERANCE = 0.03;

/** Writes the comparison of two checkouts as Markdown. */
export function toComparison(results: readonly Result[], machine: readonly string[], quick: boolean): string {
  const head = quick
    ? 'A quick run, which shows that everything works. The figures mean nothing.'
    : `Written by \`npm run bench -- --before\`, in one run. Each figure is the median of its rounds. The ratio is after / before: the median of the ratios in the same round. The spread has the median ratio of each start, between its bounds with a confidence of 95 % (with fewer than five starts, the lowest and the highest). "Within 3 %" means that the gateway became worse by at most 3 %: "yes" and "no" hold for the whole spread.`;
  const table = toTable([
    ['row', 'size', 'before', 'after', 'ratio', 'spread', 'starts', 'within 3 %'],
    ...results.flatMap((result) => result.sizes.flatMap((size) => linesOf(result, size))),
  ]);
  return `# Before and after\n\n${head}\n\n${machine.join('\n')}\n\n${table}\n`;
}

/** One line for each target that both checkouts have. */
function linesOf({ title, unit, better, sizeUnit, samplesPerStart, cells }: Result, size: number): string[][] {
  return [...cells].flatMap(([target, line]) => {
    const after = line.get(size)?.samples ?? [];
    const before = cells.get(`${target}${BEFORE}`)?.get(size)?.samples ?? [];
    if (before.length === 0 || after.length === 0) return [];

    const inRounds = ratios(after, before);
    const inStarts = Array.from({ length: Math.ceil(inRounds.length / samplesPerStart) }, (_, start) =>
      median(inRounds.slice(start * samplesPerStart, (start + 1) * samplesPerStart)),
    );
    const [lower, upper] = medianBounds(inStarts);
    return [
      [
        `${title}${target === GATEWAY ? '' : `: ${target}`} (${unit})`,
        `${toCount(size)} ${sizeUnit}`,
        toFigure(median(before)),
        toFigure(median(after)),
        median(inRounds).toFixed(3),
        `${lower.toFixed(3)}–${upper.toFixed(3)}`,
        String(inStarts.length),
        verdictOf(lower, upper, better),
      ],
    ];
  });
}

function verdictOf(lower: number, upper: number, better: Result['better']): string {
  const [worst, best] = better === 'more' ? [lower, upper] : [upper, lower];
  const isWithin = (ratio: number) => (better === 'more' ? ratio >= 1 - TOLERANCE : ratio <= 1 + TOLERANCE);
  if (isWithin(worst)) return 'yes';
  return isWithin(best) ? 'not shown (spread)' : '**no**';
}
