/** A subscription, with what must be true of each of its updates and of their order. */
export type Stream = {
  /** What its updates count as. */
  readonly kind: string;
  /** What it listens to, as the gateway's metrics name it. */
  readonly source: 'head' | 'tickers' | 'order_books';
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** Takes the data of an update and says what is wrong with it. */
  take(data: Readonly<Record<string, unknown>>): string | undefined;
  /** The height of the newest update, where updates have one. */
  height(): number | undefined;
  /** How many heights were passed over. */
  missed(): number;
};

/** Follows the heights of a subscription, which never go back. */
type Heights = {
  /** Notes the height of an update and says what is wrong with it. */
  step(height: number): string | undefined;
  last(): number | undefined;
  missed(): number;
};

/** Starts to follow. */
export function createHeights(): Heights {
  let last: number | undefined;
  let missed = 0;
  return {
    step(height) {
      const before = last;
      last = height;
      if (before === undefined) return undefined;
      if (height < before) return `height ${height} after ${before}`;
      missed += Math.max(0, height - before - 1);
      return undefined;
    },
    last: () => last,
    missed: () => missed,
  };
}
