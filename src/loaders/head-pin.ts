import { type BeaconHeight, isFinal } from '../domain/beacon-height.ts';
import type { Head, HeadFollower } from '../live/chain/head.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Dependencies } from './dependencies.ts';

/** The one head that an answer describes. */
export type HeadPin = {
  /** Waits for the first head where none is published yet. @throws UpstreamError */
  get(): Promise<Head>;
  /** The same without waiting: `undefined` where none is published yet. */
  current(): Head | undefined;
  /**
   * The head that the answer describes, if it describes one: where none is published yet, it waits if another field does.
   * `undefined` where none does, or where there is none to be had.
   */
  described(): MaybePromise<Head | undefined>;
  /**
   * The head that a height is held against. What is told of a height that is final under it does not rest on it: it stays
   * the same under every later head. @throws UpstreamError
   */
  getFor(height: BeaconHeight): Promise<Head>;
  /** The same without waiting: `undefined` where none is published yet. */
  currentFor(height: BeaconHeight): Head | undefined;
  /** Whether the answer, as far as it was read, depends on the head. */
  isUsed(): boolean;
};

/** Pins an answer to the head given, or to the one that is current when it is first asked for. */
export function createHeadPin(follower: HeadFollower, dependencies: Dependencies, pinned?: Head): HeadPin {
  let head = pinned;
  let awaited: Promise<Head> | undefined;
  let isNoted = false;

  function pinNow(): Head | undefined {
    head ??= follower.current();
    return head;
  }

  async function pin(): Promise<Head> {
    const there = pinNow();
    if (there !== undefined) return there;
    awaited = follower.get();
    const first = await awaited;
    head ??= first;
    return head;
  }

  async function pinAsOthers(): Promise<Head | undefined> {
    // The fields behind this one have not begun yet.
    await undefined;
    await awaited?.catch(() => {});
    return current();
  }

  function note(told: Head | undefined): void {
    if (isNoted && told !== undefined) return;
    isNoted = told !== undefined;
    dependencies.dependOn(follower.current, told, follower.nextAt);
  }

  function noteFor(height: BeaconHeight, told: Head | undefined): void {
    if (told !== undefined && isFinal(height, told.beaconHeight)) dependencies.includeFinalHeight();
    else note(told);
  }

  function current(): Head | undefined {
    const told = pinNow();
    note(told);
    return told;
  }

  return {
    current,
    described: () => current() ?? pinAsOthers(),
    async get() {
      const told = await pin();
      note(told);
      return told;
    },
    async getFor(height) {
      const told = await pin();
      noteFor(height, told);
      return told;
    },
    currentFor(height) {
      const told = pinNow();
      noteFor(height, told);
      return told;
    },
    isUsed: () => isNoted,
  };
}
