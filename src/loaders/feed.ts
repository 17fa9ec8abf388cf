import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { Head } from '../live/head.ts';
import { mapValues, type Values, valuesOf } from '../live/iterate.ts';
import type { Listen } from '../live/listen.ts';

/**
 * What a subscription streams: values that come, and the update that a reader gets of each. An update follows from the
 * value and from the one that its reader got before: so it can be made once for all who have got the same.
 */
export type Feed<V = unknown, U = unknown> = AsyncIterable<U> & {
  /** The values, for one reader at a time or for many. */
  readonly listen: Listen<V>;
  /** Whether a reader that got `previous` last gets anything of a value. */
  isNews(value: V, previous: V | undefined): boolean;
  toUpdate(value: V, previous: V | undefined): U;
  /** Whether an update tells of the one before it: else the same is for all, whatever they have got. */
  readonly tellsOfPrevious: boolean;
  /** The head that an update describes; `undefined` where that is the current one. */
  headOf(value: V): Head | undefined;
  /** The height that a reader of a value would go on after; `undefined` where it would begin anew. */
  heightOf(value: V): BeaconHeight | undefined;
  /** The height that it goes on after; `undefined` where it begins with what is true now. */
  readonly after: BeaconHeight | undefined;
};

/** What a feed is made of, where it is not as most are: each value is news, told to all alike. */
export type FeedOptions<V, U> = Pick<Feed<V, U>, 'listen' | 'toUpdate'> & Partial<Feed<V, U>>;

/** Makes a feed. */
export function createFeed<V, U>(options: FeedOptions<V, U>): Feed<V, U> {
  const feed: Feed<V, U> = {
    isNews: () => true,
    tellsOfPrevious: false,
    headOf: () => undefined,
    heightOf: () => undefined,
    after: undefined,
    ...options,
    [Symbol.asyncIterator]: () => readAlone(feed),
  };
  return feed;
}

/** Whether what a subscription streams is a feed. */
export function isFeed(stream: object): stream is Feed {
  return 'toUpdate' in stream && Symbol.asyncIterator in stream;
}

/** The updates as one reader gets them, as GraphQL wants them. */
function readAlone<V, U>({ listen, isNews, toUpdate }: Feed<V, U>): Values<U> {
  let previous: V | undefined;
  return mapValues(valuesOf(listen), (value) => {
    const before = previous;
    if (!isNews(value, before)) return undefined;
    previous = value;
    return toUpdate(value, before);
  });
}
