import type { BeaconHeight } from '../domain/beacon-height.ts';
import { GatewayError, type UpstreamError } from '../errors.ts';
import { type AsyncValues, mapAsyncValues, toAsyncValues } from '../live/broadcast/async-values.ts';
import type { Subscribe } from '../live/broadcast/subscriber.ts';
import type { Head } from '../live/chain/head.ts';

/**
 * What a subscription streams: values that come, and the update that a reader gets of each. An update follows from the
 * value and from the one that its reader got before: so it can be made once for all who have got the same.
 *
 * A value can be an error, which says why there is nothing to stream now. Its update is the error, and the stream stays
 * open.
 */
export type SourceStream<V = unknown, U = unknown> = AsyncIterable<U> & {
  /** The values, for one reader at a time or for many. */
  readonly subscribe: Subscribe<V | GatewayError>;
  /** Whether a reader that got `previous` last gets anything of a value. */
  isChange(value: V | GatewayError, previous: V | undefined): boolean;
  toUpdate(value: V | GatewayError, previous: V | undefined): U;
  /** Whether an update tells of the one before it: else the same is for all, whatever they have got. */
  readonly dependsOnPrevious: boolean;
  /** The head that an update describes; `undefined` where that is the current one. */
  headOf(value: V | GatewayError): Head | undefined;
  /** The height that a reader of a value would go on after; `undefined` where it would begin anew. */
  heightOf(value: V | GatewayError): BeaconHeight | undefined;
  /** The height that it goes on after; `undefined` where it begins with what is true now. */
  readonly resumesAfter: BeaconHeight | undefined;
};

/** What a feed is made of, where it is not as most are: each value is news, told to all alike. */
export type SourceStreamOptions<V, U> = Pick<SourceStream<V, U>, 'subscribe'> & {
  toUpdate(value: V, previous: V | undefined): U;
  isChange?(value: V, previous: V | undefined): boolean;
  headOf?(value: V): Head;
  heightOf?(value: V): BeaconHeight;
  readonly dependsOnPrevious?: boolean;
  readonly after?: BeaconHeight | undefined;
};

/** Makes a feed. */
export function createSourceStream<V, U>(options: SourceStreamOptions<V, U>): SourceStream<V, U> {
  const { subscribe, toUpdate, isChange, headOf, heightOf, dependsOnPrevious = false, after } = options;
  const feed: SourceStream<V, U> = {
    subscribe,
    isChange: (value, previous) => value instanceof GatewayError || (isChange?.(value, previous) ?? true),
    // GraphQL reports an error that it finds in the place of a value.
    toUpdate: (value, previous) => (value instanceof GatewayError ? (value as U) : toUpdate(value, previous)),
    dependsOnPrevious,
    headOf: (value) => (value instanceof GatewayError ? undefined : headOf?.(value)),
    heightOf: (value) => (value instanceof GatewayError ? undefined : heightOf?.(value)),
    resumesAfter: after,
    [Symbol.asyncIterator]: () => readAlone(feed),
  };
  return feed;
}

/** Whether what a subscription streams is a feed. */
export function isSourceStream(stream: object): stream is SourceStream {
  return 'toUpdate' in stream && Symbol.asyncIterator in stream;
}

/**
 * The values of a source that cannot be read when a client subscribes: first the error, once, then each good value.
 *
 * @param tooOld the last good value, which is no longer streamed
 */
export function afterOutage<V>(
  error: UpstreamError,
  subscribe: Subscribe<V>,
  tooOld?: V,
): Subscribe<V | UpstreamError> {
  return (subscriber) => {
    let isReported = false;
    // At once, because some sources are read only while someone listens.
    const values = subscribe({
      onNext: (value) => (value === tooOld ? values.request() : subscriber.onNext(value)),
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

/** The updates as one reader gets them, as GraphQL wants them. */
function readAlone<V, U>({ subscribe, isChange, toUpdate }: SourceStream<V, U>): AsyncValues<U> {
  let previous: V | undefined;
  return mapAsyncValues(toAsyncValues(subscribe), (value) => {
    const before = previous;
    if (!isChange(value, before)) return undefined;
    if (!(value instanceof GatewayError)) previous = value;
    return toUpdate(value, before);
  });
}
