import type { Goal } from './goal.ts';

/** The samples of one benchmark: some targets at some sizes, several samples of each. */
export type Result = {
  readonly title: string;
  /** How it was measured, in a few sentences. */
  readonly about: string;
  readonly unit: string;
  readonly better: 'more' | 'less';
  /** What the sizes count. */
  readonly sizeUnit: string;
  readonly sizes: readonly number[];
  /** The number of consecutive samples that come from the same start of the processes. */
  readonly samplesPerStart: number;
  readonly goals: readonly Goal[];
  readonly cells: ReadonlyMap<string, ReadonlyMap<number, Cell>>;
  readonly notes: readonly string[];
};

/** The samples of one target at one size, or the reason why there are none. */
export type Cell = { readonly samples: number[]; reason?: string };

/** A result to which samples are added. */
export type OpenResult = Result & {
  add(target: string, size: number, sample: number): void;
  /** Says why a target has no samples. */
  explain(target: string, size: number, reason: string): void;
  note(text: string): void;
};

/** Creates a result without samples. One sample per start of the processes is the default. */
export function createResult(
  head: Omit<Result, 'cells' | 'notes' | 'samplesPerStart'> & { readonly samplesPerStart?: number },
): OpenResult {
  const cells = new Map<string, Map<number, Cell>>();
  const notes: string[] = [];

  function cellOf(target: string, size: number): Cell {
    const line = cells.get(target) ?? new Map<number, Cell>();
    const cell = line.get(size) ?? { samples: [] };
    cells.set(target, line.set(size, cell));
    return cell;
  }

  return {
    samplesPerStart: 1,
    ...head,
    cells,
    notes,
    add: (target, size, sample) => void cellOf(target, size).samples.push(sample),
    explain(target, size, reason) {
      cellOf(target, size).reason = reason;
    },
    note: (text) => void notes.push(text),
  };
}
