import type { Subscribe, Subscriber, Subscription } from './subscriber.ts';

/**
 * A value that is replaced from time to time, and those who want to hear of it. Who has not asked for the next value when
 * it comes is told of the newest as soon as it asks: a slow subscriber passes values over and nothing ever queues for it.
 */
export type Broadcast<T> = {
  current(): T | undefined;
  publish(value: T): void;
  /** The current value first, where there is one, then each one published. */
  readonly subscribe: Subscribe<T>;
  subscribers(): number;
  /** How often a value was replaced before a subscriber was told of it. */
  skippedValues(): number;
};

/** Each subscriber has something to send: told all at once, ten thousand would keep everyone else waiting. */
const TOLD_AT_ONCE = 16;

/** Makes a {@link Broadcast} that holds nothing yet. */
export function createBroadcast<T>(): Broadcast<T> {
  let current: { readonly value: T } | undefined;
  const places = new Set<Place<T>>();
  /** Those who have asked, and are to be told of the current value. */
  const toTell = new Set<Place<T>>();
  let isTelling = false;
  let skipped = 0;

  /**
   * Tells a few, and the others once the process has had a turn for whatever else waits. Each turn goes on where the one
   * before has stopped: from the beginning, a set is walked over all that was taken out of it.
   */
  function tellSome(rest: Iterator<Place<T>, undefined>): void {
    for (let told = 0; told < TOLD_AT_ONCE && toTell.size > 0; told++) {
      const { value: place } = rest.next();
      if (place === undefined) break;
      toTell.delete(place);
      tell(place);
    }
    isTelling = toTell.size > 0;
    if (isTelling) setImmediate(tellSome, rest);
  }

  function tell(place: Place<T>): void {
    place.isAsking = false;
    place.isBehind = false;
    if (current !== undefined) place.subscriber.onNext(current.value);
  }

  // One function for the places of all subscribers: they are told apart by what it is called on.
  function request(this: Place<T>): void {
    this.isAsking = true;
    if (this.isBehind && places.has(this) && !toTell.has(this)) tell(this);
  }

  function cancel(this: Place<T>): void {
    places.delete(this);
    toTell.delete(this);
  }

  return {
    current: () => current?.value,
    publish(value) {
      current = { value };
      for (const place of places) {
        if (place.isBehind) skipped += 1;
        place.isBehind = true;
        if (place.isAsking) toTell.add(place);
      }
      if (!isTelling) tellSome(toTell.values());
    },
    subscribe(subscriber) {
      const place: Place<T> = { subscriber, isAsking: false, isBehind: current !== undefined, request, cancel };
      places.add(place);
      return place;
    },
    subscribers: () => places.size,
    skippedValues: () => skipped,
  };
}

type Place<T> = Subscription & {
  readonly subscriber: Subscriber<T>;
  /** Whether it waits to be told of a value. */
  isAsking: boolean;
  /** Whether there is a value that it was not told of. */
  isBehind: boolean;
};
