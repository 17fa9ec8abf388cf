import { type BeaconHeight, isFinal } from '../domain/beacon-height.ts';
import type { Head } from '../live/chain/head.ts';
import type { HeadFollower } from '../live/chain/head-follower.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { Dependencies } from './dependencies.ts';

/** The one head that an answer describes. Reading it adds it to the dependencies of the answer. */
export type HeadPin = {
  /** Waits only if no head is published yet. @throws UpstreamError */
  get(): MaybePromise<Head>;
  /** The head, without waiting; `undefined` if none is published yet. */
  current(): Head | undefined;
  /** Like `current`. If another field of the answer waits for the first head, it waits too. */
  described(): MaybePromise<Head | undefined>;
  /**
   * The head that the heights in an operation are compared with. It is added to the dependencies only if one of them is not
   * final under it, because the state at a final height is the same under every later head.
   *
   * @throws UpstreamError
   */
  getFor(heights: readonly BeaconHeight[]): MaybePromise<Head>;
  /** The same without waiting; `undefined` if no head is published yet. */
  currentFor(height: BeaconHeight): Head | undefined;
  /** Whether the answer depends on the head, as far as its fields have been read. */
  isUsed(): boolean;
  /** The beacon height that the answer describes, as far as its fields have been read; `undefined` if it depends on no head. */
  height(): BeaconHeight | undefined;
};

/** Pins an answer to a head: the initial one, or the one that is current when a field first needs it. */
export function createHeadPin(follower: HeadFollower, dependencies: Dependencies, initial?: Head): HeadPin {
  let pinned = initial;
  let first: Promise<Head> | undefined;
  let isUsed = false;

  function pinNow(): Head | undefined {
    pinned ??= follower.current();
    return pinned;
  }

  function pin(): MaybePromise<Head> {
    return pinNow() ?? pinFirst();
  }

  async function pinFirst(): Promise<Head> {
    first = follower.get();
    const awaited = await first;
    pinned ??= awaited;
    return pinned;
  }

  async function pinWithOthers(): Promise<Head | undefined> {
    // The fields after this one have not started yet.
    await undefined;
    await first?.catch(() => {});
    return current();
  }

  function depend(head: Head | undefined): void {
    if (isUsed && head !== undefined) return;
    isUsed = head !== undefined;
    dependencies.dependOn(follower.current, head, follower.nextAt);
  }

  function dependFor(height: BeaconHeight, head: Head | undefined): void {
    if (head !== undefined && isFinal(height, head.beaconHeight)) dependencies.includeFinalHeight();
    else depend(head);
  }

  function current(): Head | undefined {
    const head = pinNow();
    depend(head);
    return head;
  }

  return {
    current,
    described: () => current() ?? pinWithOthers(),
    get: () =>
      andThen(pin(), (head) => {
        depend(head);
        return head;
      }),
    getFor: (heights) =>
      andThen(pin(), (head) => {
        for (const height of heights) dependFor(height, head);
        return head;
      }),
    currentFor(height) {
      const head = pinNow();
      dependFor(height, head);
      return head;
    },
    isUsed: () => isUsed,
    height: () => (isUsed ? pinned?.beaconHeight : undefined),
  };
}
