import { type BeaconHeight, isFarAhead } from '../domain/beacon-height.ts';
import { HeightNotAvailableError } from '../errors.ts';
import { type Head, isAhead } from '../live/chain/head.ts';
import { createSourceStream, type SourceStream, subscribeTo, toSeveral } from './source-stream.ts';
import type { LoaderInputs } from './sources.ts';

/** The current head first, then each new one. */
export async function createHeadStream({ sources }: Pick<LoaderInputs, 'sources'>): Promise<SourceStream<Head, Head>> {
  const subscribe = await subscribeTo(sources.head);
  return createSourceStream<Head, Head>({ subscribe, toUpdate: (head) => head, headOf: (head) => head });
}

/** What an update about one height says of the heights before. */
export type HeightUpdate = {
  readonly head: Head;
  /** The height of the update before, or the height after which the subscription resumed; `undefined` for neither. */
  readonly previousHeight: BeaconHeight | undefined;
};

/** The argument of a subscription that can resume. */
export type ResumeArguments = {
  /** The height of the last update that the client received before it lost its connection. */
  readonly afterHeight?: BeaconHeight | null | undefined;
};

/**
 * The heads of a subscription that can resume after a height.
 *
 * @param missedBefore the heads that are sent before a head, ascending, to subscribers that have received none as high. By default,
 *   slow subscribers skip them
 * @throws HeightNotAvailableError for an `afterHeight` far in the future
 */
export async function createResumableStream<U extends HeightUpdate>(
  { afterHeight }: ResumeArguments,
  { sources: { head: follower }, options: { afterEvent } }: LoaderInputs,
  toUpdate: (update: HeightUpdate, previous: Head | undefined) => U,
  missedBefore?: (head: Head) => readonly Head[],
): Promise<SourceStream<Head, U>> {
  const after = afterEvent ?? afterHeight ?? undefined;
  const resumed = after === undefined ? undefined : await follower.subscribeAfter(after);
  const heads = await subscribeTo(follower, resumed);
  const newest = follower.current();
  // A browser repeats `Last-Event-ID` for ever, so that height is not an error: the stream starts with the newest head.
  if (afterEvent === undefined && after !== undefined && newest && isFarAhead(after, newest))
    throw new HeightNotAvailableError(after, newest.beaconHeight);
  const withMissed = () => {
    let received: Head | undefined;
    return (head: Head) => {
      const last = received;
      received = head;
      // A slow subscriber can have missed the block that replaced the last one that it received.
      const isNew = (each: Head) =>
        last === undefined ? each.beaconHeight > (after ?? head.beaconHeight) : isAhead(each, last);
      const missed = missedBefore?.(head) ?? [];
      return [...missed.filter((each) => each.beaconHeight < head.beaconHeight && isNew(each)), head];
    };
  };
  return createSourceStream<Head, U>({
    subscribe: missedBefore ? toSeveral(heads, withMissed) : heads,
    toUpdate(head, previous) {
      const previousHeight = previous?.beaconHeight ?? (after && isFarAhead(after, head) ? undefined : after);
      return toUpdate({ head, previousHeight }, previous);
    },
    dependsOnPrevious: true,
    headOf: (head) => head,
    heightOf: ({ beaconHeight }) => beaconHeight,
    resumesAfter: after,
  });
}
