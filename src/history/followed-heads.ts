import { isFinal } from '../domain/beacon-height.ts';
import type { Head } from '../live/chain/head.ts';

/** The heads that were published last, ascending, as far as they can be on the chain of the newest one. */
type FollowedHeads = {
  /** Adds a head that was published. */
  add(head: Head): void;
  /** One for each height; those that were surely replaced are left out. */
  all(): readonly Head[];
  /**
   * The highest final head below the newest one: each block in between names the hash of the one below it. `undefined` if a
   * height was skipped, a block was replaced, or the node does not report hashes. Behind a load balancer, a head of a branch
   * can be three blocks below the tip too.
   */
  final(): Head | undefined;
  /** Whether the newest head follows the one below it: no height was skipped, and the hashes do not differ. */
  isConnected(): boolean;
};

/** Heads that stay in memory: as many as an operation may need that began some blocks ago, and a few that are not recorded. */
const MAX_HEADS = 32;

/** Starts without heads. */
export function createFollowedHeads(): FollowedHeads {
  let heads: readonly Head[] = [];

  return {
    add(head) {
      const last = heads.findLastIndex((each) => each.beaconHeight < head.beaconHeight && !isReplacedBy(each, head));
      heads = [...heads.slice(0, last + 1), head].slice(-MAX_HEADS);
    },
    all: () => heads,
    final() {
      const newest = heads.at(-1);
      return newest && ancestors(newest, heads).find(({ beaconHeight }) => isFinal(beaconHeight, newest.beaconHeight));
    },
    isConnected: () => heads.at(-2)?.beaconHeight === (heads.at(-1)?.beaconHeight ?? 0) - 1,
  };
}

/** A head, and those of some heads that are surely below it on its chain, descending. */
export function ancestors(head: Head, heads: readonly Head[]): readonly Head[] {
  const chain = [head];
  for (const each of heads.toReversed()) {
    const { beaconHeight, previousHash } = chain.at(-1) ?? head;
    if (each.beaconHeight === beaconHeight - 1 && each.hash === previousHash) chain.push(each);
  }
  return chain;
}

/** Whether a higher head names another block below it, or is earlier. No block is later than one above it. */
function isReplacedBy(head: Head, higher: Head): boolean {
  if (head.time > higher.time) return true;
  if (higher.previousHash === undefined || higher.beaconHeight !== head.beaconHeight + 1) return false;
  return higher.previousHash !== head.hash;
}
