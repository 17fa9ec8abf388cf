import type { Finding } from './finding.ts';

/** What every row is given. */
export type Stage = {
  /** Small sizes and few rounds. */
  readonly quick: boolean;
  /** Says how it goes. */
  tell(text: string): void;
};

/** One row of the table: what is asked of the gateway and of its peers. */
export type Row = {
  readonly name: string;
  run(stage: Stage): Promise<readonly Finding[]>;
};
