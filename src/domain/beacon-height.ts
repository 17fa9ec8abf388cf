import type { Instant } from './instant.ts';

/** A height of the beacon chain: a whole number from 1 to 2^53 - 1. */
export type BeaconHeight = number;

/** A height, and when its block was made. */
export type TimedHeight = { readonly beaconHeight: BeaconHeight; readonly time: Instant };

/** A range of heights; both are included. */
export type HeightRange = { readonly from: BeaconHeight; readonly to: BeaconHeight };

/** The number as a beacon height; `undefined` unless it is a whole number from 1 to 2^53 - 1. */
export function parseBeaconHeight(value: unknown): BeaconHeight | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : undefined;
}

/** A block this far below the tip is final. Nodes show blocks earlier, and may still replace them. */
const BLOCKS_UNTIL_FINAL = 3;

/** The newest height whose state can never change again once the chain's tip is at `tip`. */
export function newestFinal(tip: BeaconHeight): BeaconHeight {
  return tip - BLOCKS_UNTIL_FINAL;
}

/** Whether the state at `height` can never change again once the chain's tip is at `tip`. */
export function isFinal(height: BeaconHeight, tip: BeaconHeight): boolean {
  return height <= newestFinal(tip);
}

/**
 * A client that comes from another gateway can be ahead of this one, and a node can push blocks before this gateway has read them, but
 * not by more heights.
 */
export const MAX_HEIGHTS_AHEAD = 100;

/** Whether a height is so far above a head, if there is one, that it is of another chain. */
export function isFarAhead(height: BeaconHeight, head: Pick<TimedHeight, 'beaconHeight'> | undefined): boolean {
  return head !== undefined && height > head.beaconHeight + MAX_HEIGHTS_AHEAD;
}

/** Whether a pushed block can be the served head or a next one. If not, its node is behind, or of another chain. */
export function canBeHead(height: BeaconHeight, served: Pick<TimedHeight, 'beaconHeight'> | undefined): boolean {
  return height >= (served?.beaconHeight ?? 0) && !isFarAhead(height, served);
}
