import type { ShownBlock } from '../shown-blocks.ts';

/** A subscription, with the checks of its updates and of their order. */
export type CheckedSubscription = {
  /** The kind under which updates are counted. */
  readonly kind: string;
  /** The label `source` of the gateway's metrics. */
  readonly source: 'head' | 'tickers' | 'order_books';
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** The height after which it resumes: sent as a variable on a websocket, and as `Last-Event-ID` by an event stream. */
  readonly after?: number | undefined;
  /** Checks the data of an update. @returns what is wrong */
  check(data: Readonly<Record<string, unknown>>): string | undefined;
  /** An update was an error, and the subscription stays open. Without this, an error ends it. */
  readonly failed?: () => void;
  /** Whether the newest updates were errors, so that their heights are not known. */
  readonly hasFailed?: () => boolean;
  /** The height of the newest update, if updates have one. */
  height(): number | undefined;
  /** Whether the newest update is of one of these blocks, if updates have no height. */
  readonly isOf?: (blocks: readonly ShownBlock[]) => boolean;
  /** The number of skipped heights. */
  skipped(): number;
  /** The same subscription, resumed after the newest update; `undefined` if there was none, or if it cannot resume. */
  resumed(): CheckedSubscription | undefined;
};

/** Checks that the heights of a subscription never go back. */
type Heights = {
  /** Records the height of an update. @returns what is wrong */
  step(height: number): string | undefined;
  last(): number | undefined;
  skipped(): number;
};

/** Creates the check, for a subscription that may resume after a height. */
export function createHeights(after?: number): Heights {
  let last = after;
  let skipped = 0;
  return {
    step(height) {
      const before = last;
      last = height;
      if (before === undefined) return undefined;
      if (height < before) return `height ${height} after ${before}`;
      skipped += Math.max(0, height - before - 1);
      return undefined;
    },
    last: () => last,
    skipped: () => skipped,
  };
}
