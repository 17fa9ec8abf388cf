import type { Result } from './result.ts';

/** A median, with the lowest and the highest median of one start of the processes; of one start, of its samples. */
export type Spread = { readonly value: number; readonly low: number; readonly high: number };

/** The median; `NaN` without numbers. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The samples of one target at one size. */
export function samplesOf({ cells }: Result, target: string, size: number): readonly number[] {
  return cells.get(target)?.get(size)?.samples ?? [];
}

/** The spread of values, of which so many come from each start of the processes. */
export function spreadOf(values: readonly number[], perStart: number): Spread {
  const starts = Array.from({ length: Math.ceil(values.length / perStart) }, (_, start) =>
    median(values.slice(start * perStart, (start + 1) * perStart)),
  );
  const shown = starts.length > 1 ? starts : values;
  return { value: median(values), low: Math.min(...shown), high: Math.max(...shown) };
}

/** Compares samples with those of a peer in the same round, or with its median if it has no sample of that round. */
export function compare(samples: readonly number[], peer: readonly number[], by: 'ratio' | 'difference'): number[] {
  if (peer.length === 0) return [];
  return samples.map((sample, round) => {
    const other = peer[round] ?? median(peer);
    if (by === 'difference') return sample - other;
    // Equal figures have the ratio 1, also two zeros.
    return sample === other ? 1 : sample / other;
  });
}

/** Writes a table of Markdown; the first line is its head. */
export function toTable([head = [], ...lines]: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

/** Writes a number with three significant digits. */
export function toFigure(value: number): string {
  if (Math.abs(value) >= 100) return toCount(Math.round(value));
  return value.toPrecision(Math.abs(value) < 0.1 ? 2 : 3).replace(/\.0+$/, '');
}

/** Writes a number with separators of thousands. */
export function toCount(value: number): string {
  return value.toLocaleString('en-US');
}
