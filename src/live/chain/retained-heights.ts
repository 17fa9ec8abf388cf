import { LRUCache } from 'lru-cache';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { createErrorBudget, type ErrorBudget } from '../../upstream/node/error-budget.ts';

/** Whether a node has the state of a height, as far as its answers show; `behind` where it has not reached the height yet. */
export type Standing = 'retained' | 'unknown' | 'behind' | 'pruned';

/** What is known of the final states that one node has, and how many errors it may still be made to answer with. */
export type RetainedHeights = {
  /**
   * All heights from one that was found are retained, all up to one that was pruned are pruned. For a moment, all from one that
   * was in the future are.
   */
  standing(height: BeaconHeight): Standing;
  /**
   * A higher height to call for first, because that it is pruned shows that this one is: once in a few minutes, the highest
   * that is known to be pruned; and once some errors were caused, the middle of what is unknown.
   *
   * @param newest the newest final height
   */
  probeFor(height: BeaconHeight, newest: BeaconHeight): BeaconHeight | undefined;
  /** How many errors a call must leave in the budget: the last few are kept for heights that the node likely has. */
  errorsToKeep(height: BeaconHeight, newest: BeaconHeight): number;
  /** The node answered with the state of a height. */
  found(height: BeaconHeight): void;
  /** The node answered that it has pruned a height. */
  pruned(height: BeaconHeight): void;
  /** The node answered that a height, which the chain has reached, is in the future for it. */
  behind(height: BeaconHeight): void;
  /** The highest height that is known to be pruned. */
  prunedUpTo(): BeaconHeight | undefined;
  /** All errors -8000 that are caused on behalf of clients. */
  readonly errors: ErrorBudget;
};

/** That a height is pruned is relied on for this long: the node behind an address can be replaced by one that keeps more. */
const MEMORY_MS = 5 * 60_000;

/** A node that is behind catches up soon. */
const BEHIND_MS = 2_000;

/** A probe that was not answered is made again after this. */
const PROBE_AGAIN_MS = 30_000;

/** Clients cause at most 20 errors at once and 120 an hour at one node. */
const ERRORS = { burst: 20, perMinute: 2 };
/** While so many are left, a call need not teach anything about other heights. */
const MANY_ERRORS = 16;
/** Errors kept for heights in the upper half of what is unknown, and for those that are known to be retained. */
const KEPT_FROM_UNLIKELY = 8;
const KEPT_FROM_UNKNOWN = 4;

const MAX_GAPS = 100;

/** Creates what is known of one node: nothing yet. */
export function createRetainedHeights(): RetainedHeights {
  const errors = createErrorBudget(ERRORS);
  /** Pruned, though a lower height was found: damaged, or pruned meanwhile. One such height says nothing about lower ones. */
  const gaps = new LRUCache<BeaconHeight, true>({ max: MAX_GAPS, ttl: MEMORY_MS });
  let notReached: { readonly height: BeaconHeight; readonly until: number } | undefined;
  let lowestFound: BeaconHeight | undefined;
  let highestPruned: { readonly height: BeaconHeight; readonly probeAt: number } | undefined;

  function isProbeDue(): boolean {
    return highestPruned !== undefined && performance.now() >= highestPruned.probeAt;
  }

  function standing(height: BeaconHeight): Standing {
    if (gaps.has(height)) return 'pruned';
    if (notReached !== undefined && height >= notReached.height && performance.now() < notReached.until)
      return 'behind';
    if (lowestFound !== undefined && height >= lowestFound) return 'retained';
    return highestPruned !== undefined && height <= highestPruned.height && !isProbeDue() ? 'pruned' : 'unknown';
  }

  function middleOfUnknown(newest: BeaconHeight): BeaconHeight {
    return Math.ceil(((highestPruned?.height ?? 0) + (lowestFound ?? newest)) / 2);
  }

  return {
    errors,
    standing,
    probeFor(height, newest) {
      if (standing(height) !== 'unknown') return undefined;
      if (highestPruned !== undefined && height <= highestPruned.height) {
        highestPruned = { ...highestPruned, probeAt: performance.now() + PROBE_AGAIN_MS };
        return height < highestPruned.height ? highestPruned.height : undefined;
      }
      const middle = middleOfUnknown(newest);
      return height < middle && !errors.has(MANY_ERRORS) ? middle : undefined;
    },
    errorsToKeep(height, newest) {
      if (standing(height) === 'retained' || standing(height) === 'behind') return 0;
      return height >= middleOfUnknown(newest) ? KEPT_FROM_UNKNOWN : KEPT_FROM_UNLIKELY;
    },
    found(height) {
      gaps.delete(height);
      if (notReached !== undefined && height >= notReached.height) notReached = undefined;
      if (highestPruned !== undefined && height <= highestPruned.height) highestPruned = undefined;
      lowestFound = Math.min(height, lowestFound ?? height);
    },
    pruned(height) {
      const isGap = lowestFound !== undefined && height > lowestFound;
      if (lowestFound !== undefined && height >= lowestFound) lowestFound = undefined;
      if (isGap) gaps.set(height, true);
      else if (height >= (highestPruned?.height ?? 0))
        highestPruned = { height, probeAt: performance.now() + MEMORY_MS };
    },
    behind(height) {
      notReached = { height, until: performance.now() + BEHIND_MS };
    },
    prunedUpTo: () => highestPruned?.height,
  };
}
