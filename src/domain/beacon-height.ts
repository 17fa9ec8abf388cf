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
