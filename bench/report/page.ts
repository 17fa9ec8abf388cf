import { toCount, toFigure, toTable } from '../figures.ts';
import type { Goal } from '../goal.ts';
import type { Result } from '../result.ts';
import { checkGoal, type GoalCheck } from './goal-check.ts';
import type { Run } from './run.ts';

/** Writes the page of a run: the machine, one line for each goal, and what did not run. */
export function toPage({ command, date, minutes, machine, rows, failures }: Run): string {
  const lines = rows.flatMap(({ name, results }) =>
    results.flatMap((result) => result.goals.map((goal) => [`\`${name}\``, ...lineOf(result, goal)])),
  );
  const failed = failures.map(({ name }) => [`\`${name}\``, '', '', '', '', '', '', 'failed, see below']);
  const missing = new Set([
    ...failures.map(({ name, reason }) => `- Row \`${name}\` failed: ${reason}`),
    ...rows.flatMap(({ results }) => results.flatMap(reasonsOf)),
  ]);
  return `# Results of the bench

Written by \`${command}\` on ${date}, in one run of ${minutes} minutes. [The bench](README.md) describes the rows.

${machine.join('\n')}

Each line is one goal, at the size (in bold) that is the furthest from meeting it. Figures are medians. A ratio or a difference is
the median of those within a round. The spread, in parentheses, is the lowest and the highest median of one start of all processes.

${toTable([['row', 'what', 'sizes', 'measured', 'peer', 'ratio', 'goal', 'met'], ...lines, ...failed])}
${missing.size === 0 ? '' : `\nWhat did not run:\n\n${[...missing].join('\n')}\n`}
The raw figures of each row are in \`bench/results/<row>.json\`: all samples, in the order of the rounds, of all servers and sizes.
`;
}

function lineOf(result: Result, goal: Goal): readonly string[] {
  const what = whatOf(result, goal);
  const check = checkGoal(result, goal);
  if (check === undefined) return [what, sizesOf(result, goal), 'nothing', '', '', toBound(goal), 'not run'];

  const { figure, compared, isMet } = check;
  const measured = `${toFigure(figure.value)} ${result.unit}`;
  const isDifference = goal.baseline?.by === 'difference';
  const cells =
    compared === undefined
      ? [`${measured} (${toFigure(figure.low)}–${toFigure(figure.high)})`, '', '']
      : [measured, compared.peer, toSpread(compared, isDifference ? signed : toFigure)];
  return [what, sizesOf(result, goal, check), ...cells, toBound(goal), isMet ? 'yes' : '**no**'];
}

/** The title of the result, with the target if other goals are about other ones. */
function whatOf({ title, goals }: Result, { target }: Goal): string {
  if (typeof target !== 'string') return `${title}, the worst of ${target.length}`;
  return goals.some((goal) => goal.target !== target) ? `${title}: ${target}` : title;
}

/** The sizes of a goal; the one that counts is bold if there are several. */
function sizesOf({ sizes: all, sizeUnit }: Result, { sizes = all }: Goal, check?: GoalCheck): string {
  const texts = sizes.map((size) =>
    size === check?.size && sizes.length > 1 ? `**${toCount(size)}**` : toCount(size),
  );
  return `${texts.join(', ')} ${sizeUnit}`;
}

function toSpread({ value, low, high }: GoalCheck['figure'], write: (value: number) => string): string {
  return `${write(value)} (${write(low)}–${write(high)})`;
}

/** A bound: `≥ 0.85 ×` of the peer, `≤ 100 more` than the peer, `≤ 50`, `always ≤ 15` where each figure must meet it. */
function toBound({ bound, value, baseline, isForAllSamples }: Goal): string {
  const sign = bound === 'at most' ? '≤' : '≥';
  const suffix = baseline === undefined ? '' : baseline.by === 'ratio' ? ' ×' : ' more';
  return `${isForAllSamples ? 'always ' : ''}${sign} ${toCount(value)}${suffix}`;
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${toFigure(Math.abs(value))}`;
}

function reasonsOf({ cells }: Result): readonly string[] {
  return [...cells].flatMap(([target, line]) =>
    [...line.values()].flatMap(({ samples, reason }) =>
      samples.length > 0 || reason === undefined ? [] : [`- ${target}: ${reason}`],
    ),
  );
}
