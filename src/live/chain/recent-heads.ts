import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { Subscribe, Subscription } from '../broadcast/subscriber.ts';
import { createTurnLimit } from '../broadcast/turn-limit.ts';
import type { Head } from './head.ts';

/** The newest heads that were published, so that a subscriber who comes back can be told what it has missed. */
export type RecentHeads = {
  /** Puts a head on top. Where it is another block of a height that is kept, it takes that one's place. */
  add(head: Head): void;
  /** The lowest that is kept above this height. */
  after(height: BeaconHeight): Head | undefined;
  /** Resolves when the next subscriber that comes back may be given one: thousands can come back at the same time. */
  turn(): Promise<void>;
};

/** Each may have much to do with a head: given all at once, those who come back would keep everyone else waiting. */
const GIVEN_AT_ONCE = 4;

/** Makes the keeper of so many heads. */
export function createRecentHeads(max: number): RecentHeads {
  const breather = createTurnLimit(GIVEN_AT_ONCE);
  let heads: readonly Head[] = [];

  return {
    add(head) {
      const below = heads.filter(({ beaconHeight }) => beaconHeight < head.beaconHeight);
      heads = [...below, head].slice(-max);
    },
    after: (height) => heads.find(({ beaconHeight }) => beaconHeight > height),
    turn: breather.wait,
  };
}

/** A client can be ahead of this gateway where it comes from another, but not by so many heights. */
const MAX_HEIGHTS_AHEAD = 100;

/** Whether a height is of another chain than a head. */
export function isFarAhead(height: BeaconHeight, head: Head): boolean {
  return height > head.beaconHeight + MAX_HEIGHTS_AHEAD;
}

/** Where a subscriber who comes back takes heads from. */
export type HeadsToResume = {
  readonly recent: Pick<RecentHeads, 'after' | 'turn'>;
  current(): Head | undefined;
  readonly subscribe: Subscribe<Head>;
};

/**
 * The heads above a height: first those that are kept, one after another as they are taken, then each new one.
 * A height far in the future is of another chain, and counts as none: the newest head comes first.
 *
 * None comes twice. A kept one that goes while the subscriber is behind it is passed over, as with any slow subscriber.
 */
export function headsAfter({ recent, current, subscribe }: HeadsToResume, height: BeaconHeight): Subscribe<Head> {
  return (subscriber) => {
    let newest = height;
    let given: Head | undefined;
    let live: Subscription | undefined;
    let isOver = false;

    /** From here on each new head comes by itself. The current one is offered first, and is known by now. */
    function goLive(): Subscription {
      const known = current();
      const onNext = (head: Head) => (head !== known && isChange(head) ? give(head) : live?.request());
      return subscribe({ onNext, onError: subscriber.onError });
    }

    function startAnewIfFarAhead(head: Head | undefined): void {
      if (given === undefined && head !== undefined && isFarAhead(newest, head)) newest = head.beaconHeight - 1;
    }

    function isChange(head: Head): boolean {
      startAnewIfFarAhead(head);
      const isReplaced = head.beaconHeight === head.previousHeight;
      return head !== given && (isReplaced ? head.beaconHeight >= newest : head.beaconHeight > newest);
    }

    function give(head: Head): void {
      given = head;
      newest = head.beaconHeight;
      subscriber.onNext(head);
    }

    return {
      async request() {
        if (live === undefined) startAnewIfFarAhead(current());
        if (live === undefined && recent.after(newest) !== undefined) await recent.turn();
        if (isOver) return;
        const missed = live === undefined ? recent.after(newest) : undefined;
        if (missed !== undefined) return give(missed);
        live ??= goLive();
        live.request();
      },
      cancel() {
        isOver = true;
        live?.cancel();
      },
    };
  };
}
