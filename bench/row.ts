import type { Checkout } from './checkouts.ts';
import type { Result } from './result.ts';

/** What every row gets. */
export type RowContext = {
  /** Small sizes and few rounds. */
  readonly quick: boolean;
  /** The checkouts whose gateways are measured: this one, or another and this one. */
  readonly checkouts: readonly Checkout[];
  /** Whether two checkouts are compared. Reference servers take no part then. */
  readonly isComparison: boolean;
  /** Prints progress. */
  log(text: string): void;
};

/** One row of the bench: a benchmark of the gateway. */
export type Row = {
  readonly name: string;
  /** Whether it can compare two checkouts. */
  readonly comparesCheckouts: boolean;
  run(context: RowContext): Promise<readonly Result[]>;
};
