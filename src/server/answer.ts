import type { Context } from '../graphql/context.ts';

/** What an answer rests on, and so for how long it stays true. */
export type Basis = Context['loaders']['basis'];

/** A finished answer, as it goes over the wire in either media type. */
export type Answer = {
  readonly status: number;
  /** What its errors add to the headers, such as when to ask again: names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** What it took of its client's points. */
  readonly points: number;
  /** What it rests on; `undefined` for one with errors, which is never given twice. */
  readonly basis: Basis | undefined;
};
