import { type BeaconHeight, isFinal } from '../domain/beacon-height.ts';
import type { Head } from '../live/chain/head.ts';

/** Decides of each head, once its height is final, what is known for certain. */
type Confirmation = {
  /** Adds a head that was published. @returns the heads below it that have become final, ascending */
  add(head: Head): readonly FinalHead[];
  /** The heads that can be on the chain of the newest one, ascending: those that were surely replaced are left out. */
  chain(): readonly Head[];
};

/** A head whose height is final, and what must be read again because its block may have been replaced. */
export type FinalHead = {
  readonly head: Head;
  /**
   * `nothing`: the head is final, with its hash, time and reserves. `reserves`: its hash and time are final, and the reserves
   * could be of another block, because the state had no time. `everything`: another block can have taken its place.
   */
  readonly toRead: 'nothing' | 'reserves' | 'everything';
};

/** Heads that stay in memory: as many as an operation may need that began some blocks ago, and a few that are not recorded. */
const MAX_HEADS = 32;

/**
 * Starts without heads.
 *
 * A head is final if a head that is enough blocks above it is its descendant: each block in between names the hash of the one
 * below it. Behind a load balancer a head can be of a branch that was given up later, also if its height is final now.
 */
export function createConfirmation(): Confirmation {
  /** Ascending by height, one for each. */
  let heads: readonly Head[] = [];
  let decidedTo: BeaconHeight = 0;

  /** The height of the highest head that descends from one, by an unbroken chain of hashes. */
  function descendantsReach(place: number): BeaconHeight {
    let at = place;
    while (isParent(heads[at], heads[at + 1])) at += 1;
    return heads[at]?.beaconHeight ?? 0;
  }

  function decide(head: Head, place: number): FinalHead {
    if (!isFinal(head.beaconHeight, descendantsReach(place))) return { head, toRead: 'everything' };
    return { head, toRead: head.exchange.time === undefined ? 'reserves' : 'nothing' };
  }

  return {
    add(head) {
      heads = [...heads.filter(({ beaconHeight }) => beaconHeight < head.beaconHeight), head].slice(-MAX_HEADS);
      const final = heads.flatMap((each, place) =>
        each.beaconHeight > decidedTo && isFinal(each.beaconHeight, head.beaconHeight) ? [decide(each, place)] : [],
      );
      decidedTo = Math.max(decidedTo, ...final.map(({ head: { beaconHeight } }) => beaconHeight));
      return final;
    },
    chain() {
      const chain: Head[] = [];
      for (const head of heads.toReversed()) if (!isReplacedBy(head, chain[0])) chain.unshift(head);
      return chain;
    },
  };
}

function isParent(head: Head | undefined, next: Head | undefined): boolean {
  return head !== undefined && next?.beaconHeight === head.beaconHeight + 1 && next.previousHash === head.hash;
}

/** Whether the next head names another block below it, or is earlier. No block is later than one above it. */
function isReplacedBy(head: Head, next: Head | undefined): boolean {
  if (next !== undefined && head.time > next.time) return true;
  if (next?.previousHash === undefined || next.beaconHeight !== head.beaconHeight + 1) return false;
  return next.previousHash !== head.hash;
}
