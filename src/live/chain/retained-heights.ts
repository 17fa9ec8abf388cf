import { LRUCache } from 'lru-cache';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { createErrorBudget, type ErrorBudget } from '../../upstream/node/error-budget.ts';

/** Whether a node has the state of a height, as far as its responses show; `behind` if it has not reached the height yet. */
export type Standing = 'retained' | 'unknown' | 'behind' | 'pruned';

/** Which final states one node has, as far as it is known, and how many errors the gateway may still cause there. */
type RetainedHeights = {
  /**
   * All heights from one that was found are retained. All heights up to one that was pruned are pruned. All heights from one
   * that was in the future are `behind` for a moment.
   */
  standing(height: BeaconHeight): Standing;
  /**
   * A higher height to read first: if it is pruned, this one is too. Every few minutes it is the highest known pruned height.
   * Once some errors were caused, it is the middle of the unknown heights.
   *
   * @param newest the newest final height
   */
  probeFor(height: BeaconHeight, newest: BeaconHeight): BeaconHeight | undefined;
  /** How many errors a call must leave in the budget. The last few are reserved for heights that the node probably has. */
  errorsToKeep(height: BeaconHeight, newest: BeaconHeight): number;
  /** The node responded with the state of a height. */
  found(height: BeaconHeight): void;
  /** The node responded that it has pruned a height. */
  pruned(height: BeaconHeight): void;
  /** The node responded that a height, which the chain has reached, is in the future for it. */
  behind(height: BeaconHeight): void;
  /** The highest height that is known to be pruned. */
  prunedUpTo(): BeaconHeight | undefined;
  /** The budget of errors -8000 that clients cause. */
  readonly errors: ErrorBudget;
};

/** How long a height counts as pruned: the node behind an address can be replaced by one that has more heights. */
const MEMORY_MS = 5 * 60_000;

/** A node that is behind catches up soon. */
const BEHIND_MS = 2_000;

/** A probe that got no response is repeated after this time. */
const PROBE_AGAIN_MS = 30_000;

/** Clients cause at most 20 errors at once and 120 an hour at one node. */
const ERRORS = { burst: 20, perMinute: 2 };
/** While at least this number is left, no probe is needed. */
const MANY_ERRORS = 16;
/** Errors reserved for heights in the upper half of the unknown ones, and for heights that are known to be retained. */
const KEPT_FROM_UNLIKELY = 8;
const KEPT_FROM_UNKNOWN = 4;

const MAX_GAPS = 100;

/** Starts with a node of which nothing is known. */
export function createRetainedHeights(): RetainedHeights {
  const errors = createErrorBudget(ERRORS);
  /** Heights that are pruned although a lower one was found: the database is damaged, or they were pruned meanwhile. */
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
