/** Receives values one at a time, as in Reactive Streams: nothing ever queues for it. */
export type Subscriber<T> = {
  /** Receives a value, and none after it before it has requested the next. Must not throw: others are notified after it. */
  onNext(value: T): void;
  /** Receives the reason why no more values will come. */
  onError(error: unknown): void;
  /** Whether it is a part of the gateway, and no client. By default, it is one of a client. */
  readonly isInternal?: boolean;
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

/**
 * A value that is replaced from time to time, and its subscribers. A subscriber that has not requested a value when one is
 * published gets the newest one with its next request: slow subscribers skip values (conflation), and nothing queues for them.
 */
export type Broadcast<T> = ReturnType<typeof createBroadcast<T>>;

/** Subscribers notified in one turn of the event loop. Each has something to send: ten thousand at once would block it. */
const NOTIFIED_PER_TURN = 16;

/** Creates a {@link Broadcast} without a value. */
export function createBroadcast<T>() {
  let current: { readonly value: T } | undefined;
  const members = new Set<Member<T>>();
  /** Those that have requested a value and are to be notified of the current one. */
  const waiting = new Set<Member<T>>();
  let isNotifying = false;
  let skipped = 0;
  let internal = 0;

  /**
   * Notifies a few, and the others in later turns of the event loop. The iterator is passed on from turn to turn: a new one
   * would walk over all that was deleted from the set.
   */
  function notifySome(rest: Iterator<Member<T>, undefined>): void {
    try {
      for (let notified = 0; notified < NOTIFIED_PER_TURN && waiting.size > 0; notified++) {
        const { value: member } = rest.next();
        if (member === undefined) break;
        waiting.delete(member);
        notify(member);
      }
    } finally {
      isNotifying = waiting.size > 0;
      if (isNotifying) setImmediate(notifySome, rest);
    }
  }

  function notify(member: Member<T>): void {
    member.hasRequested = false;
    member.isBehind = false;
    if (current !== undefined) member.subscriber.onNext(current.value);
  }

  // All members share these two functions, because there can be many thousands: each is called on its member.
  function request(this: Member<T>): void {
    this.hasRequested = true;
    if (this.isBehind && members.has(this) && !waiting.has(this)) notify(this);
  }

  function cancel(this: Member<T>): void {
    if (members.delete(this) && this.subscriber.isInternal) internal -= 1;
    waiting.delete(this);
  }

  return {
    current: (): T | undefined => current?.value,
    publish(value: T): void {
      current = { value };
      for (const member of members) {
        if (member.isBehind) skipped += 1;
        member.isBehind = true;
        if (member.hasRequested) waiting.add(member);
      }
      if (!isNotifying) notifySome(waiting.values());
    },
    /** Sends the current value first, if there is one, then each one that is published. */
    subscribe(subscriber: Subscriber<T>): Subscription {
      const member: Member<T> = { subscriber, hasRequested: false, isBehind: current !== undefined, request, cancel };
      members.add(member);
      if (subscriber.isInternal) internal += 1;
      return member;
    },
    /** How many subscribers there are, without parts of the gateway. */
    subscribers: () => members.size - internal,
    /** How many values were replaced before a subscriber received them. */
    skippedValues: () => skipped,
  };
}

/** Calls a function of the gateway with each value of a source, until the subscription is cancelled. */
export function onEach<T>(subscribe: Subscribe<T>, next: (value: T) => void): Subscription {
  const subscription = subscribe({
    onNext(value) {
      next(value);
      subscription.request();
    },
    onError() {},
    isInternal: true,
  });
  subscription.request();
  return subscription;
}

/** A subscriber with its subscription. */
type Member<T> = Subscription & {
  readonly subscriber: Subscriber<T>;
  /** Whether it has requested a value and not received one since. */
  hasRequested: boolean;
  /** Whether there is a value that it has not received. */
  isBehind: boolean;
};
