import type { Result } from '../result.ts';

/** What a run of the bench found out. */
export type Run = {
  /** The command, as it was typed. */
  readonly command: string;
  /** The day, as `2026-01-31`. */
  readonly date: string;
  readonly minutes: number;
  /** The machine, the pinning and the versions, as lines of Markdown. */
  readonly machine: readonly string[];
  /** The rows that ended. */
  readonly rows: readonly { readonly name: string; readonly results: readonly Result[] }[];
  /** The rows that failed, and why. */
  readonly failures: readonly { readonly name: string; readonly reason: string }[];
};
