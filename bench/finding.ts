import type { Reach } from './reach.ts';

/** What a row of the bench found: figures of some subjects at some sizes, several samples of each. */
export type Finding = {
  readonly title: string;
  /** How it was measured, in a few sentences. */
  readonly about: string;
  /** What the samples are, and whether more of it is better. */
  readonly unit: string;
  readonly better: 'more' | 'less';
  /** What the sizes count. */
  readonly sizeUnit: string;
  readonly sizes: readonly number[];
  /** The subject that the others are held against, round by round; `undefined` where there is none. */
  readonly reference: string | undefined;
  /** What the gateway is to reach here. */
  readonly reaches: readonly Reach[];
  readonly cells: ReadonlyMap<string, ReadonlyMap<number, Cell>>;
  readonly notes: readonly string[];
};

/** One figure; a text stands in the place of one that there is not. */
export type Cell = { readonly samples: number[]; text?: string };

/** A finding while it is made. */
export type OpenFinding = Finding & {
  /** Adds a sample of a subject. */
  add(subject: string, size: number, sample: number): void;
  /** Says why a subject has no figure. */
  say(subject: string, size: number, text: string): void;
  note(text: string): void;
};

/** Begins a finding. */
export function beginFinding(head: Omit<Finding, 'cells' | 'notes'>): OpenFinding {
  const cells = new Map<string, Map<number, Cell>>();
  const notes: string[] = [];

  function cellOf(subject: string, size: number): Cell {
    const row = cells.get(subject) ?? new Map<number, Cell>();
    const cell = row.get(size) ?? { samples: [] };
    cells.set(subject, row.set(size, cell));
    return cell;
  }

  return {
    ...head,
    cells,
    notes,
    add: (subject, size, sample) => void cellOf(subject, size).samples.push(sample),
    say(subject, size, text) {
      cellOf(subject, size).text = text;
    },
    note: (text) => void notes.push(text),
  };
}
