import type { Finding } from './finding.ts';
import { median } from './statistics.ts';

/** What one subject of a finding is to reach. */
export type Reach = {
  readonly subject: string;
  /**
   * The subject that it is held against, round by round: by how many times its figure, or by how much more than it. Without
   * one, the figure itself counts.
   */
  readonly against?: { readonly subject: string; readonly by: 'times' | 'more than' } | undefined;
  readonly bound: 'at least' | 'at most';
  readonly value: number;
  /** The sizes that it is promised for; every size where nothing is said. */
  readonly at?: readonly number[] | undefined;
  /** Whether each sample has to reach it, rather than their median. */
  readonly isForAll?: true;
};

/** What was reached at one size; without samples, `isMet` is `undefined`. */
export type Reached = { readonly size: number; readonly value: number; readonly isMet: boolean | undefined };

/** What a finding shows of one of its reaches, for each size that it is promised for. */
export function reachedBy(finding: Finding, { subject, against, bound, value, at, isForAll }: Reach): Reached[] {
  return (at ?? finding.sizes).map((size) => {
    const samples = finding.cells.get(subject)?.get(size)?.samples ?? [];
    const others = against && (finding.cells.get(against.subject)?.get(size)?.samples ?? []);
    const compared = others === undefined ? samples : compare(samples, others, against?.by === 'times');
    const worst = bound === 'at most' ? Math.max(...compared) : Math.min(...compared);
    const reached = isForAll ? worst : median(compared);
    const isMet = bound === 'at most' ? reached <= value : reached >= value;
    return { size, value: reached, isMet: compared.length === 0 ? undefined : isMet };
  });
}

/** The samples of one subject against those of another in the same round; beyond its last, against the median. */
export function compare(samples: readonly number[], others: readonly number[], asTimes: boolean): readonly number[] {
  if (others.length === 0) return [];
  return samples.map((sample, round) => {
    const other = others[round] ?? median(others);
    return asTimes ? sample / other : sample - other;
  });
}
