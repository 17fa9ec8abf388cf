import type { Result } from './result.ts';
import { median } from './statistics.ts';

/** A bound that one target of a result has to meet. */
export type Goal = {
  readonly target: string;
  /**
   * The target with which it is compared in each round: by the ratio of their figures, or by their difference. Without one,
   * the bound is on the figure itself.
   */
  readonly baseline?: { readonly target: string; readonly by: 'ratio' | 'difference' } | undefined;
  readonly bound: 'at least' | 'at most';
  readonly value: number;
  /** The sizes for which it is a goal; all by default. */
  readonly sizes?: readonly number[] | undefined;
  /** Whether each sample has to meet it. By default, the median has to. */
  readonly isForAllSamples?: true;
};

/** The figure at one size; `isMet` is `undefined` if there are no samples. */
export type GoalCheck = { readonly size: number; readonly value: number; readonly isMet: boolean | undefined };

/** Compares a goal with the samples, at each size for which it is a goal. */
export function checkGoal(
  result: Result,
  { target, baseline, bound, value, sizes, isForAllSamples }: Goal,
): GoalCheck[] {
  return (sizes ?? result.sizes).map((size) => {
    const samples = result.cells.get(target)?.get(size)?.samples ?? [];
    const others = baseline && (result.cells.get(baseline.target)?.get(size)?.samples ?? []);
    const compare = baseline?.by === 'ratio' ? ratios : differences;
    const compared = others === undefined ? samples : compare(samples, others);
    const worst = bound === 'at most' ? Math.max(...compared) : Math.min(...compared);
    const figure = isForAllSamples ? worst : median(compared);
    const isMet = bound === 'at most' ? figure <= value : figure >= value;
    return { size, value: figure, isMet: compared.length === 0 ? undefined : isMet };
  });
}

/** The ratios of samples to those of the baseline in the same round, or to its median if it has no sample of that round. */
export function ratios(samples: readonly number[], baseline: readonly number[]): readonly number[] {
  // Equal figures have the ratio 1, also two zeros.
  return inRounds(samples, baseline, (one, other) => (one === other ? 1 : one / other));
}

function differences(samples: readonly number[], baseline: readonly number[]): readonly number[] {
  return inRounds(samples, baseline, (one, other) => one - other);
}

function inRounds(
  samples: readonly number[],
  baseline: readonly number[],
  compare: (one: number, other: number) => number,
): readonly number[] {
  if (baseline.length === 0) return [];
  return samples.map((sample, round) => compare(sample, baseline[round] ?? median(baseline)));
}
