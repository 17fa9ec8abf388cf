import type { BeaconHeight } from '../domain/beacon-height.ts';
import { GatewayError, UpstreamError, UpstreamNotConfiguredError } from '../errors.ts';
import type { Subscribe } from '../live/broadcast/broadcast.ts';
import type { Follower } from '../live/broadcast/follower.ts';
import type { Head } from '../live/chain/head.ts';

/**
 * The source stream of a subscription: values, and how each of them becomes an update. An update depends only on its value
 * and on the value that the subscriber received before, so subscribers that received the same value share one update.
 *
 * A value can be an error, if there is nothing to send now. The update is this error, and the stream stays open.
 */
export type SourceStream<V = unknown, U = unknown> = AsyncIterable<U> & {
  readonly subscribe: Subscribe<V | GatewayError>;
  toUpdate(value: V | GatewayError, previous: V | undefined): U;
  /**
   * What a value is compared by, with `===`: two objects can be the same value. A subscriber gets no update for the second one. It is
   * remembered for as long as nothing else is sent, which can be days.
   */
  identityOf(value: V | GatewayError): unknown;
  /** Whether an update depends on the value before it. If not, all subscribers share the update. */
  readonly dependsOnPrevious: boolean;
  /** Whether an update with the same JSON as the one before it is left out. */
  readonly skipsEqualUpdates: boolean;
  /** The head that the update describes; `undefined` for the current one. */
  headOf(value: V | GatewayError): Head | undefined;
  /** The height after which a subscriber that received the value can resume; `undefined` if it cannot resume. */
  heightOf(value: V | GatewayError): BeaconHeight | undefined;
  /** The height after which the stream resumes; `undefined` if it starts with the current value. */
  readonly resumesAfter: BeaconHeight | undefined;
};

/** What differs between source streams. By default, each object is another value, and all subscribers share its update. */
type SourceStreamOptions<V, U> = Pick<SourceStream<V, U>, 'subscribe'> & {
  toUpdate(value: V, previous: V | undefined): U;
  identityOf?(value: V): unknown;
  headOf?(value: V): Head;
  heightOf?(value: V): BeaconHeight | undefined;
  readonly dependsOnPrevious?: boolean;
  readonly skipsEqualUpdates?: boolean;
  readonly resumesAfter?: BeaconHeight | undefined;
};

/** Creates a source stream. An error that it sends in place of a value is passed on, and has no head and no height. */
export function createSourceStream<V, U>(options: SourceStreamOptions<V, U>): SourceStream<V, U> {
  const { subscribe, toUpdate, identityOf = (value) => value, headOf, heightOf, resumesAfter } = options;
  const { dependsOnPrevious = false, skipsEqualUpdates = false } = options;
  return {
    subscribe,
    // An error in place of a value is reported by the executor.
    toUpdate: (value, previous) => (value instanceof GatewayError ? (value as U) : toUpdate(value, previous)),
    identityOf: (value) => (value instanceof GatewayError ? value : identityOf(value)),
    dependsOnPrevious,
    skipsEqualUpdates,
    headOf: (value) => (value instanceof GatewayError ? undefined : headOf?.(value)),
    heightOf: (value) => (value instanceof GatewayError ? undefined : heightOf?.(value)),
    resumesAfter,
    // The type that GraphQL requires of a source stream. The gateway subscribes, so that slow subscribers skip values.
    [Symbol.asyncIterator]() {
      throw new Error('A source stream cannot be iterated.');
    },
  };
}

/** The values of a followed source, as {@link startWith}. */
export function subscribeTo<T>(
  source: Follower<T>,
  subscribe: Subscribe<T> = source.subscribe,
): Promise<Subscribe<T | UpstreamError>> {
  // A stream that resumes gets the heights that it has missed, also old ones. The newest one is the last of them.
  return startWith(source.get(), subscribe, subscribe === source.subscribe ? source.newest : undefined);
}

/**
 * The values of a source, if it can be read when a client subscribes. If not: first the error, once, then each good value.
 *
 * @param first shows whether the source can be read
 * @param expired the last good value, which is too old to be sent then
 * @throws UpstreamNotConfiguredError, and any error of `first` that is not one of an upstream
 */
export async function startWith<V>(
  first: Promise<unknown>,
  subscribe: Subscribe<V>,
  expired: () => V | undefined = () => undefined,
): Promise<Subscribe<V | UpstreamError>> {
  const error: unknown = await first.then(() => undefined).catch((reason) => reason);
  if (error === undefined) return subscribe;
  if (!(error instanceof UpstreamError) || error instanceof UpstreamNotConfiguredError) throw error;
  let old = expired();
  return (subscriber) => {
    let isReported = false;
    // The source is subscribed to before the first request, because an order book is only read while it has subscribers.
    const values = toSeveral<V, V>(subscribe, () => (value) => {
      if (value === old) return [];
      // It is not sent again.
      old = undefined;
      return [value];
    })(subscriber);
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
 * Several values for each value of a source, such as a head, or none. They are sent one for each request. A subscriber that is slow
 * skips heads, and `toValues` is called with the newest one next.
 *
 * @param start creates the function of one subscriber, which can remember what it was called with
 */
export function toSeveral<T, V>(
  subscribe: Subscribe<T | UpstreamError>,
  start: () => (value: T) => readonly V[],
): Subscribe<V | UpstreamError> {
  return (subscriber) => {
    const toValues = start();
    let waiting: V[] = [];
    const values = subscribe({
      onNext(value) {
        if (value instanceof GatewayError) return subscriber.onNext(value);
        waiting = [...toValues(value)];
        request();
      },
      onError: (reason) => subscriber.onError(reason),
    });
    function request(): void {
      const value = waiting.shift();
      if (value === undefined) values.request();
      else subscriber.onNext(value);
    }
    return { request, cancel: () => values.cancel() };
  };
}
