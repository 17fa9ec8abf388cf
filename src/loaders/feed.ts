import type { BeaconHeight } from '../domain/beacon-height.ts';
import { GatewayError, type UpstreamError } from '../errors.ts';
import type { Head } from '../live/head.ts';
import { mapValues, type Values, valuesOf } from '../live/iterate.ts';
import type { Listen } from '../live/listen.ts';

/**
 * What a subscription streams: values that come, and the update that a reader gets of each. An update follows from the
 * value and from the one that its reader got before: so it can be made once for all who have got the same.
 *
 * A value can be an error, which says why there is nothing to stream now. Its update is the error, and the stream stays
 * open.
 */
export type Feed<V = unknown, U = unknown> = AsyncIterable<U> & {
  /** The values, for one reader at a time or for many. */
  readonly listen: Listen<V | GatewayError>;
  /** Whether a reader that got `previous` last gets anything of a value. */
  isNews(value: V | GatewayError, previous: V | undefined): boolean;
  toUpdate(value: V | GatewayError, previous: V | undefined): U;
  /** Whether an update tells of the one before it: else the same is for all, whatever they have got. */
  readonly tellsOfPrevious: boolean;
  /** The head that an update describes; `undefined` where that is the current one. */
  headOf(value: V | GatewayError): Head | undefined;
  /** The height that a reader of a value would go on after; `undefined` where it would begin anew. */
  heightOf(value: V | GatewayError): BeaconHeight | undefined;
  /** The height that it goes on after; `undefined` where it begins with what is true now. */
  readonly after: BeaconHeight | undefined;
};

/** What a feed is made of, where it is not as most are: each value is news, told to all alike. */
export type FeedOptions<V, U> = Pick<Feed<V, U>, 'listen'> & {
  toUpdate(value: V, previous: V | undefined): U;
  isNews?(value: V, previous: V | undefined): boolean;
  headOf?(value: V): Head;
  heightOf?(value: V): BeaconHeight;
  readonly tellsOfPrevious?: boolean;
  readonly after?: BeaconHeight | undefined;
};

/** Makes a feed. */
export function createFeed<V, U>(options: FeedOptions<V, U>): Feed<V, U> {
  const { listen, toUpdate, isNews, headOf, heightOf, tellsOfPrevious = false, after } = options;
  const feed: Feed<V, U> = {
    listen,
    isNews: (value, previous) => value instanceof GatewayError || (isNews?.(value, previous) ?? true),
    // GraphQL reports an error that it finds in the place of a value.
    toUpdate: (value, previous) => (value instanceof GatewayError ? (value as U) : toUpdate(value, previous)),
    tellsOfPrevious,
    headOf: (value) => (value instanceof GatewayError ? undefined : headOf?.(value)),
    heightOf: (value) => (value instanceof GatewayError ? undefined : heightOf?.(value)),
    after,
    [Symbol.asyncIterator]: () => readAlone(feed),
  };
  return feed;
}

/** Whether what a subscription streams is a feed. */
export function isFeed(stream: object): stream is Feed {
  return 'toUpdate' in stream && Symbol.asyncIterator in stream;
}

/**
 * The values of a source that cannot be read when a client subscribes: first the error, once, then each good value.
 *
 * @param tooOld the last good value, which is no longer streamed
 */
export function afterOutage<V>(error: UpstreamError, listen: Listen<V>, tooOld?: V): Listen<V | UpstreamError> {
  return (listener) => {
    let isReported = false;
    // At once, because some sources are read only while someone listens.
    const values = listen({
      hear: (value) => (value === tooOld ? values.next() : listener.hear(value)),
      fail: (reason) => listener.fail(reason),
    });
    return {
      next() {
        if (isReported) return values.next();
        isReported = true;
        listener.hear(error);
      },
      end: () => values.end(),
    };
  };
}

/** The updates as one reader gets them, as GraphQL wants them. */
function readAlone<V, U>({ listen, isNews, toUpdate }: Feed<V, U>): Values<U> {
  let previous: V | undefined;
  return mapValues(valuesOf(listen), (value) => {
    const before = previous;
    if (!isNews(value, before)) return undefined;
    if (!(value instanceof GatewayError)) previous = value;
    return toUpdate(value, before);
  });
}
