/** Who listens to values that come. It is told one at a time, so that nothing ever queues for it. */
export type Listener<T> = {
  /** Told of a value, and of none after it before it asks for the next. Throws nothing: there are others to be told. */
  hear(value: T): void;
  /** Told that no value comes any more, and why. */
  fail(error: unknown): void;
};

/** What a listener has in its hands while it listens. */
export type Listening = {
  /** Asks for the newest value that the listener was not told of: it is told at once where there is one, else when it comes. */
  next(): void;
  /** Nothing is told any more. */
  end(): void;
};

/** Lets someone listen, who is told of nothing before it asks. */
export type Listen<T> = (listener: Listener<T>) => Listening;
