/** A height of the beacon chain: a whole number from 1 to 2^53 - 1. */
export type BeaconHeight = number;

/** Reads a beacon height from a number, or `undefined` where it is not a whole one from 1 to 2^53 - 1. */
export function parseBeaconHeight(value: unknown): BeaconHeight | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : undefined;
}

/** How far below the tip a block is final: blocks are shown before that, so the newest can still be replaced. */
const BLOCKS_UNTIL_FINAL = 3;

/** The newest height whose state can never change again once the chain's tip is at `tip`. */
export function newestFinal(tip: BeaconHeight): BeaconHeight {
  return tip - BLOCKS_UNTIL_FINAL;
}

/** Whether the state at `height` can never change again once the chain's tip is at `tip`. */
export function isFinal(height: BeaconHeight, tip: BeaconHeight): boolean {
  return height <= newestFinal(tip);
}
