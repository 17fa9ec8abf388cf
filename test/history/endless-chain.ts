import type { Coverage, FinalBlock } from '../../src/history/store.ts';
import { blockOf, POOL_IDS, START } from './chains.ts';

/** The height with which the recording of the endless chain begins. */
export const FIRST_HEIGHT = 1_000_000;

/** A block of a chain that has all heights. Its reserves follow from its height. */
export function endlessBlock(height: number): FinalBlock {
  const pools = new Map(POOL_IDS.map((_, pool) => [pool, reservesAt(height, pool)]));
  return blockOf(height, START + (height - FIRST_HEIGHT) * 40_000, pools);
}

/** A block of a branch of that chain, in which all pools are different. */
export function branchBlock(height: number): FinalBlock {
  const { time } = endlessBlock(height);
  const pools = new Map(POOL_IDS.map((_, pool) => [pool, [BigInt(height), 7n]] as const));
  return { ...blockOf(height, time + 1_000, pools), hash: `branch-${height}` };
}

/** Each pool changes at one of seven heights. */
function reservesAt(height: number, pool: number): [bigint, bigint] {
  const step = BigInt(Math.floor((height + pool) / 7));
  return [10n ** 12n + step * 3n, 10n ** 12n - step];
}

/** The heights to record next, above and below what is recorded. */
export function nextHeights(coverage: Coverage | undefined): [number, number] {
  return [(coverage?.last.beaconHeight ?? FIRST_HEIGHT - 1) + 1, (coverage?.first.beaconHeight ?? FIRST_HEIGHT) - 1];
}
