import type { BeaconHeight } from '../../domain/beacon-height.ts';

/** Which earlier states one node has, as its responses have shown. Times are those of `performance.now()`. */
export type RetainedHeights = {
  /** All heights from this one on are retained. */
  readonly lowestFound: BeaconHeight | undefined;
  /** All heights up to this one are pruned. */
  readonly highestPruned: UntilThen | undefined;
  /** The node has not reached this height, nor any above it. */
  readonly notReached: UntilThen | undefined;
  /** Heights that are pruned although a lower one was found: the database is damaged, or they were pruned meanwhile. */
  readonly gaps: readonly UntilThen[];
};

type UntilThen = { readonly height: BeaconHeight; readonly until: number };

/** Whether a node has the state of a height, as far as it is known; `behind` if it has not reached the height yet. */
export type Standing = 'retained' | 'unknown' | 'behind' | 'pruned';

/** What a node has responded when the state of a height was read. */
export type StateResponse = 'found' | 'pruned' | 'behind';

/** Of a node that has not responded yet. */
export const NOTHING_RETAINED: RetainedHeights = {
  lowestFound: undefined,
  highestPruned: undefined,
  notReached: undefined,
  gaps: [],
};

/** How long a height counts as pruned: the node behind an address can be replaced by one that has more heights. */
const PRUNED_MS = 5 * 60_000;

/** A node that is behind catches up soon. */
const BEHIND_MS = 2_000;

const MAX_GAPS = 100;

/** What is known after a response about a height. */
export function afterResponse(
  known: RetainedHeights,
  height: BeaconHeight,
  response: StateResponse,
  now: number,
): RetainedHeights {
  const { lowestFound, highestPruned, notReached } = known;
  const gaps = known.gaps.filter((gap) => gap.height !== height && now < gap.until);
  const pruned = { height, until: now + PRUNED_MS };
  switch (response) {
    case 'found':
      return {
        lowestFound: Math.min(height, lowestFound ?? height),
        highestPruned: highestPruned !== undefined && height <= highestPruned.height ? undefined : highestPruned,
        notReached: notReached !== undefined && height >= notReached.height ? undefined : notReached,
        gaps,
      };
    case 'behind':
      return { ...known, notReached: { height, until: now + BEHIND_MS } };
    case 'pruned':
      if (lowestFound !== undefined && height > lowestFound)
        return { ...known, lowestFound: undefined, gaps: [...gaps, pruned].slice(-MAX_GAPS) };
      return {
        ...known,
        lowestFound: height === lowestFound ? undefined : lowestFound,
        highestPruned: isPrunedUpTo(known, height, now) ? highestPruned : pruned,
      };
  }
}

/** Whether the node has a height. */
export function standingOf(known: RetainedHeights, height: BeaconHeight, now: number): Standing {
  const { lowestFound, notReached, gaps } = known;
  if (gaps.some((gap) => gap.height === height && now < gap.until)) return 'pruned';
  if (notReached !== undefined && height >= notReached.height && now < notReached.until) return 'behind';
  if (lowestFound !== undefined && height >= lowestFound) return 'retained';
  return isPrunedUpTo(known, height, now) ? 'pruned' : 'unknown';
}

function isPrunedUpTo({ highestPruned }: RetainedHeights, height: BeaconHeight, now: number): boolean {
  return highestPruned !== undefined && height <= highestPruned.height && now < highestPruned.until;
}

/**
 * A height to read before an unknown one, when few errors are left: the middle of the unknown heights. If it is pruned, the lower
 * half is pruned. If it is retained, the upper half is. `undefined` if the height is in the upper half itself.
 *
 * @param newest the newest final height
 */
export function probeFor(
  { lowestFound, highestPruned }: RetainedHeights,
  height: BeaconHeight,
  newest: BeaconHeight,
): BeaconHeight | undefined {
  const middle = Math.ceil(((highestPruned?.height ?? 0) + (lowestFound ?? newest)) / 2);
  return height < middle ? middle : undefined;
}
