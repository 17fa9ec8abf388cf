import { compare, median, type Spread, samplesOf, spreadOf } from '../figures.ts';
import type { Goal } from '../goal.ts';
import type { Result } from '../result.ts';

/** A goal at the size, and for the target, that is the furthest from meeting it. */
export type GoalCheck = {
  readonly target: string;
  readonly size: number;
  /** The figure of the target itself. */
  readonly figure: Spread;
  /** The peer that counts, and the ratio or difference to it; `undefined` for a bound on the figure itself. */
  readonly compared?: Spread & { readonly peer: string };
  readonly isMet: boolean;
};

/** Compares a goal with the samples. @returns `undefined` if the target, or all its peers, have no samples at some size */
export function checkGoal(result: Result, goal: Goal): GoalCheck | undefined {
  const checks = (goal.sizes ?? result.sizes).flatMap((size) =>
    listOf(goal.target).map((target) => ({ target, size, ...checkOne(result, goal, { target, size }) })),
  );
  if (checks.some(({ bounded }) => bounded === undefined)) return undefined;
  return checks.reduce((worst, check) => (isFurther(goal, check.bounded, worst.bounded) ? check : worst)) as GoalCheck;
}

function checkOne(result: Result, goal: Goal, { target, size }: { target: string; size: number }) {
  const { samplesPerStart } = result;
  const samples = samplesOf(result, target, size);
  const figure = spreadOf(samples, samplesPerStart);
  const by = goal.baseline?.by ?? 'ratio';
  // The hardest peer.
  const compared = listOf(goal.baseline?.target ?? [])
    .map((peer) => ({ peer, values: compare(samples, samplesOf(result, peer, size), by) }))
    .filter(({ values }) => values.length > 0)
    .map(({ peer, values }) => ({ peer, values, ...spreadOf(values, samplesPerStart) }))
    .toSorted((one, other) => (isFurther(goal, one.value, other.value) ? -1 : 1))[0];
  const values = goal.baseline === undefined ? samples : (compared?.values ?? []);
  if (values.length === 0) return { figure, bounded: undefined, isMet: false };

  const worst = goal.bound === 'at most' ? Math.max(...values) : Math.min(...values);
  const bounded = goal.isForAllSamples ? worst : median(values);
  const isMet = goal.bound === 'at most' ? bounded <= goal.value : bounded >= goal.value;
  return { figure, bounded, isMet, ...(compared && { compared }) };
}

/** Whether a figure is further from meeting the goal than another one. */
function isFurther({ bound }: Goal, one = Number.NaN, other = Number.NaN): boolean {
  return bound === 'at most' ? one > other : one < other;
}

function listOf(names: string | readonly string[]): readonly string[] {
  return typeof names === 'string' ? [names] : names;
}
