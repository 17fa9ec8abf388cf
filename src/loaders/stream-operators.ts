import type { BeaconHeight } from '../domain/beacon-height.ts';
import { GatewayError, UpstreamError, UpstreamNotConfiguredError } from '../errors.ts';
import type { Subscribe } from '../live/broadcast/broadcast.ts';
import type { Follower } from '../live/broadcast/follower.ts';
import type { Head } from '../live/chain/head.ts';

/** The values of a followed source, with an error first if it has no current value. */
export async function subscribeTo<T>(
  source: Follower<T>,
  subscribe: Subscribe<T> = source.subscribe,
): Promise<Subscribe<T | UpstreamError>> {
  const value = await valueOrError(source.get());
  return value instanceof UpstreamError ? startWithError(value, subscribe, source.newest()) : subscribe;
}

/** Waits for a value. @returns the error of an upstream that cannot be read now @throws for one that is not configured */
export async function valueOrError<T>(value: Promise<T>): Promise<T | UpstreamError> {
  try {
    return await value;
  } catch (error) {
    if (error instanceof UpstreamError && !(error instanceof UpstreamNotConfiguredError)) return error;
    throw error;
  }
}

/** The values from those of a head on: the height of a subscription must not be below that of an earlier answer. */
export function startAtHead<V extends { readonly head: Head }>(
  subscribe: Subscribe<V>,
  first: Head | undefined,
): Subscribe<V> {
  return (subscriber) => {
    const values = subscribe({
      onNext: (value) =>
        value.head.beaconHeight < (first?.beaconHeight ?? 0) ? values.request() : subscriber.onNext(value),
      onError: (reason) => subscriber.onError(reason),
    });
    return values;
  };
}

/**
 * The values of a source that cannot be read when a client subscribes: first the error, once, then each good value.
 *
 * @param expired the last good value, which is too old to be sent
 */
export function startWithError<V>(
  error: UpstreamError,
  subscribe: Subscribe<V>,
  expired?: V,
): Subscribe<V | UpstreamError> {
  return (subscriber) => {
    let isReported = false;
    // At once, because an order book is only read while it has subscribers.
    const values = subscribe({
      onNext: (value) => (value === expired ? values.request() : subscriber.onNext(value)),
      onError: (reason) => subscriber.onError(reason),
    });
    return {
      request() {
        if (isReported) return values.request();
        isReported = true;
        subscriber.onNext(error);
      },
      cancel: () => values.cancel(),
    };
  };
}

/**
 * Several values for each head, or none. They are sent one for each request. A subscriber that is slow skips heads, and
 * `toValues` is called with the newest one next.
 *
 * @param start creates the function of one subscriber, which can remember what it was called with
 */
export function toSeveral<V>(
  subscribe: Subscribe<Head | UpstreamError>,
  start: () => (head: Head) => readonly V[],
): Subscribe<V | UpstreamError> {
  return (subscriber) => {
    const toValues = start();
    let waiting: V[] = [];
    const heads = subscribe({
      onNext(head) {
        if (head instanceof GatewayError) return subscriber.onNext(head);
        waiting = [...toValues(head)];
        request();
      },
      onError: (reason) => subscriber.onError(reason),
    });
    function request(): void {
      const value = waiting.shift();
      if (value === undefined) heads.request();
      else subscriber.onNext(value);
    }
    return { request, cancel: () => heads.cancel() };
  };
}

/** The heads, each after its `filledIn`. A subscriber that has received a higher one gets none of these. */
export function withFilledIn(
  heads: Subscribe<Head | UpstreamError>,
  after: BeaconHeight | undefined,
): Subscribe<Head | UpstreamError> {
  return toSeveral(heads, () => {
    let received = after;
    return (head) => {
      const before = received ?? head.beaconHeight;
      received = head.beaconHeight;
      return [...(head.filledIn ?? []).filter(({ beaconHeight }) => beaconHeight > before), head];
    };
  });
}
