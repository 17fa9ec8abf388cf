/** Who listens to values that come. It is told one at a time, so that nothing ever queues for it. */
export type Subscriber<T> = {
  /** Told of a value, and of none after it before it asks for the next. Throws nothing: there are others to be told. */
  onNext(value: T): void;
  /** Told that no value comes any more, and why. */
  onError(error: unknown): void;
};

/** What a subscriber has in its hands while it listens. */
export type Subscription = {
  /** Asks for the newest value that the subscriber was not told of: it is told at once where there is one, else when it comes. */
  request(): void;
  /** Nothing is told any more. */
  cancel(): void;
};

/** Lets someone subscribe, who is told of nothing before it asks. */
export type Subscribe<T> = (subscriber: Subscriber<T>) => Subscription;
