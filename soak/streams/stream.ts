/** A subscription, with what must be true of each of its updates and of their order. */
export type Stream = {
  /** What its updates count as. */
  readonly kind: string;
  /** What it listens to, as the gateway's metrics name it. */
  readonly source: 'head' | 'tickers' | 'order_books';
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** The height that it goes on after; a websocket says so in a variable, an event stream as its last event. */
  readonly after?: number | undefined;
  /** Takes the data of an update and says what is wrong with it. */
  take(data: Readonly<Record<string, unknown>>): string | undefined;
  /** The height of the newest update, where updates have one. */
  height(): number | undefined;
  /** How many heights were passed over. */
  missed(): number;
  /** The same again for who comes back, after the newest update that came; `undefined` where none came, or none can be. */
  resumed(): Stream | undefined;
};

/** Follows the heights of a subscription, which never go back. */
type Heights = {
  /** Notes the height of an update and says what is wrong with it. */
  step(height: number): string | undefined;
  last(): number | undefined;
  missed(): number;
};

/** Starts to follow, or goes on after a height. */
export function createHeights(after?: number): Heights {
  let last = after;
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
