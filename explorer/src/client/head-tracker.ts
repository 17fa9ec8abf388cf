import type { HeadFieldsFragment } from './head.generated.ts';
import { createStore, type Store } from './store.ts';

/** A head, as the gateway sends it. */
export type Head = HeadFieldsFragment;

/** What a head is to those that the page has seen before. */
type Sighting = 'newest' | 'behind' | 'other-chain';

/** The newest head that the page has seen. It never goes back. */
export type HeadTracker = {
  readonly newest: Store<Head | undefined>;
  /** The newest heads that the page has seen, each height once. */
  seen(): readonly Head[];
  /** The highest beacon height that anything on the page describes; 0 before the first one. */
  height(): number;
  /** Takes the height of an answer. */
  observeHeight(height: number): void;
  /** Takes a head. A head of another chain is not remembered: whoever observes it begins again with a new tracker. */
  observe(head: Head): Sighting;
  /** Takes the name of the chain. @returns whether it is another one than before */
  observeChainName(name: string): boolean;
};

/** Number of heights whose heads are remembered. */
const REMEMBERED = 64;

/** A head that is this far below the newest one does not come from a slower replica. */
const FAR_BELOW = 64;

/** A block this many heights below the newest one is final: the node does not replace it. */
export const FINAL_AFTER = 3;

/** Creates the tracker of a page that has seen no head. */
export function createHeadTracker(): HeadTracker {
  const newest = createStore<Head | undefined>(undefined);
  const heads = new Map<number, Head>();
  let chainName: string | undefined;
  let height = 0;

  /** A lower head is one of a slower replica, or one of another chain, such as that of a restarted sandbox. */
  function isOtherChain(head: Head, known: Head): boolean {
    const { beaconHeight } = head;
    const hash = heads.get(beaconHeight)?.hash;
    if (beaconHeight > known.beaconHeight) return false;
    if (beaconHeight === known.beaconHeight) {
      return hash !== head.hash && head.previousHeight !== beaconHeight && known.previousHeight !== beaconHeight;
    }
    if (known.beaconHeight - beaconHeight >= FAR_BELOW) return true;
    if (Date.parse(head.time) > Date.parse(known.time)) return true;
    return hash !== undefined && hash !== head.hash && known.beaconHeight - beaconHeight > FINAL_AFTER;
  }

  return {
    newest,
    seen: () => [...heads.values()],
    height: () => height,
    observeHeight(next) {
      height = Math.max(height, next);
    },
    observe(head) {
      const known = newest.get();
      if (known !== undefined && isOtherChain(head, known)) return 'other-chain';
      if (head.beaconHeight < height) return 'behind';
      height = head.beaconHeight;
      heads.set(height, head);
      for (const old of heads.keys()) if (old <= height - REMEMBERED) heads.delete(old);
      newest.set(head);
      return 'newest';
    },
    observeChainName(name) {
      const isOther = chainName !== undefined && chainName !== name;
      chainName ??= name;
      return isOther;
    },
  };
}
