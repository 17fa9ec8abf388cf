import { type BeaconHeight, isFarAhead } from '../../domain/beacon-height.ts';
import { isReplacedBy, UNKNOWN_HASH } from '../../domain/chain.ts';
import { createTurnLimit } from '../../turns/turns.ts';
import type { Broadcast, Subscribe, Subscription } from '../broadcast/broadcast.ts';
import type { Head } from './head.ts';

/** The newest heads that were published, so that a subscriber that resumes gets the ones that it has missed. */
export type RecentHeads = ReturnType<typeof createRecentHeads>;

/** Maximum number of subscribers that resume in one turn of the event loop: each may do much work with a head. */
const RESUMED_PER_TURN = 4;

/** Creates the list, which is empty. @param max maximum number of heads in memory */
export function createRecentHeads(max: number) {
  const resumed = createTurnLimit(RESUMED_PER_TURN);
  let heads: readonly Head[] = [];

  return {
    /** Adds the newest head. Those that it shows as replaced are no longer remembered. */
    add(head: Head): void {
      heads = [...heads.filter((each) => isBelow(each, head)), head].slice(-max);
    },
    /** Adds heads of heights that are not remembered, unless one above shows that they were replaced. */
    fill(others: readonly Head[]): void {
      const byHeight = new Map([...others, ...heads].map((head) => [head.beaconHeight, head]));
      const kept: Head[] = [];
      // From the newest one down: a head that was replaced says nothing about those below it.
      for (const each of [...byHeight.values()].sort((a, b) => b.beaconHeight - a.beaconHeight))
        if (kept.every((above) => isBelow(each, above))) kept.push(each);
      heads = kept.reverse().slice(-max);
    },
    /** All that are remembered, ascending. */
    all: () => heads,
    /** The lowest head above this height. */
    after: (height: BeaconHeight): Head | undefined => heads.find(({ beaconHeight }) => beaconHeight > height),
    /** Resolves when the next subscriber may get one: thousands can resume at the same time. */
    turn: resumed.wait,
  };
}

/** Whether a head can be on the chain of a newer one. One that was filled in has no hash that could differ. */
function isBelow(head: Head, newer: Head): boolean {
  return head.hash === UNKNOWN_HASH ? head.beaconHeight < newer.beaconHeight : !isReplacedBy(head, newer);
}

/** The sources of the heads of a subscriber that resumes. */
type HeadsToResume = Pick<Broadcast<Head>, 'current' | 'subscribe'> & {
  readonly recent: Pick<RecentHeads, 'after' | 'turn'>;
};

/**
 * The heads above a height: first those that are remembered, one for each request, then each new one. A height far in the
 * future is of another chain and is ignored: the newest head comes first.
 *
 * No head comes twice. A remembered head that is dropped before the subscriber has reached it is skipped, as for any slow
 * subscriber.
 */
export function headsAfter({ recent, current, subscribe }: HeadsToResume, height: BeaconHeight): Subscribe<Head> {
  return (subscriber) => {
    let newest = height;
    let sent: Head | undefined;
    let live: Subscription | undefined;
    let isCancelled = false;

    /**
     * From here on each new head comes by itself. The broadcast sends the current one first. The subscriber has that one already, unless
     * it replaces the block that was sent. A head is remembered a moment before it is published: until then, the current one is older.
     */
    function goLive(): Subscription {
      const isRemembered = current() === recent.after(newest - 1);
      let known = sent !== undefined && isRemembered ? sent : current();
      function onNext(head: Head): void {
        const isKnown = head === known;
        // The broadcast sends it only at the start.
        known = undefined;
        if (!isKnown && isChange(head)) send(head);
        else live?.request();
      }
      return subscribe({ onNext, onError: (error) => subscriber.onError(error) });
    }

    function restartIfFarAhead(head: Head | undefined): void {
      if (sent === undefined && head !== undefined && isFarAhead(newest, head)) newest = head.beaconHeight - 1;
    }

    function isChange(head: Head): boolean {
      restartIfFarAhead(head);
      const isReplaced = head.beaconHeight === head.previousHeight;
      return head !== sent && (isReplaced ? head.beaconHeight >= newest : head.beaconHeight > newest);
    }

    function send(head: Head): void {
      sent = head;
      newest = head.beaconHeight;
      subscriber.onNext(head);
    }

    return {
      async request() {
        if (live === undefined) restartIfFarAhead(current());
        if (live === undefined && recent.after(newest) !== undefined) await recent.turn();
        if (isCancelled) return;
        const missed = live === undefined ? recent.after(newest) : undefined;
        if (missed !== undefined) return send(missed);
        live ??= goLive();
        live.request();
      },
      cancel() {
        isCancelled = true;
        live?.cancel();
      },
    };
  };
}
