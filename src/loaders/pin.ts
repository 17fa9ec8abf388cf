import type { Head, HeadFollower } from '../live/head.ts';

/** The one head that an answer describes. */
export type HeadPin = {
  /** Waits for the first head where none is published yet. @throws UpstreamError */
  get(): Promise<Head>;
  /** The same without waiting: `undefined` where none is published yet. */
  current(): Head | undefined;
};

/** Pins an answer to the head given, or to the one that is current when it is first asked for. */
export function createHeadPin(follower: HeadFollower, pinned?: Head): HeadPin {
  let head = pinned;

  function current(): Head | undefined {
    head ??= follower.current();
    return head;
  }

  return {
    current,
    async get() {
      const awaited = current() ?? (await follower.get());
      head ??= awaited;
      return head;
    },
  };
}
