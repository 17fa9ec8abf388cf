import { isFinal } from '../domain/beacon-height.ts';
import { ancestors, isReplacedBy } from '../domain/chain.ts';
import type { Head } from '../live/chain/head.ts';

/**
 * The maximum number of heads that stay in memory: as many as an operation may need that began some blocks ago, and a few that are not
 * recorded.
 */
export const MAX_FOLLOWED_HEADS = 32;

/**
 * Collects the heads that were published last, ascending, as far as they can be on the chain of the newest one. Below a skipped
 * height only final heads stay: nothing shows whether a later one was replaced.
 */
export function createFollowedHeads() {
  let heads: readonly Head[] = [];

  return {
    /** Adds a head that was published. */
    add(head: Head): void {
      const shown = heads.at(-1)?.beaconHeight ?? 0;
      const below = heads.filter((each) => !isReplacedBy(each, head));
      const isNext = below.at(-1)?.beaconHeight === head.beaconHeight - 1;
      heads = [...below.filter(({ beaconHeight }) => isNext || isFinal(beaconHeight, shown)), head].slice(
        -MAX_FOLLOWED_HEADS,
      );
    },
    /** One for each height. */
    all: () => heads,
    /**
     * The highest final head below the newest one: each block in between names the hash of the one below it. `undefined` if a
     * height was skipped, a block was replaced, or the node does not report hashes. Behind a load balancer, a head of a branch
     * can be three blocks below the tip too.
     */
    final(): Head | undefined {
      const newest = heads.at(-1);
      return newest && ancestors(newest, heads).find(({ beaconHeight }) => isFinal(beaconHeight, newest.beaconHeight));
    },
    /** Whether the newest head follows the one below it: no height was skipped, and the hashes do not differ. */
    isConnected: () => heads.at(-2)?.beaconHeight === (heads.at(-1)?.beaconHeight ?? 0) - 1,
  };
}
