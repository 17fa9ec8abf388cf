/** Receives values one at a time, as in Reactive Streams: nothing ever queues for it. */
export type Subscriber<T> = {
  /** Receives a value, and none after it before it has requested the next. Must not throw: others are notified after it. */
  onNext(value: T): void;
  /** Receives the reason why no more values will come. */
  onError(error: unknown): void;
};

/** What a subscriber controls its subscription with. */
export type Subscription = {
  /** Requests one value: the newest that the subscriber has not received, at once if there is one, else when it comes. */
  request(): void;
  /** Ends the subscription: nothing is sent any more. */
  cancel(): void;
};

/** Adds a subscriber. It receives nothing before it requests a value. */
export type Subscribe<T> = (subscriber: Subscriber<T>) => Subscription;
