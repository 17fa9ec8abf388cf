import { createRandom } from './random.ts';

/** Seconds between two beacon blocks of the history, and of a chain without a clock. */
export const BLOCK_SECONDS = 40;

/** Number of shards of the chain, without the beacon. */
export const SHARD_COUNT = 8;

/** The newest block of a shard. */
export type Shard = {
  readonly height: number;
  readonly totalTxs: number;
  /** The beacon height that first contains the block. */
  readonly since: number;
  /** The time of the block, in Unix seconds. */
  readonly time: number;
};

type BeaconBlock = { readonly height: number; readonly time: number };

/** The shards at the first height of a chain. */
export function firstShards(seed: number, beacon: BeaconBlock): readonly Shard[] {
  const random = createRandom(seed, 'shards');
  return Array.from({ length: SHARD_COUNT }, (_, id) => {
    const height = Math.floor(beacon.height * random.between(0.985, 1.002));
    return {
      height,
      totalTxs: 20_000 + random.below(180_000),
      since: beacon.height,
      time: timeOf(id, height, beacon, BLOCK_SECONDS),
    };
  });
}

/** The shards at a beacon block, `seconds` after the previous one. Most shards have a new block; each skips some at its own rate. */
export function nextShards(
  seed: number,
  shards: readonly Shard[],
  beacon: BeaconBlock & { readonly version: number },
  seconds: number,
): readonly Shard[] {
  const random = createRandom(seed, 'shards', beacon.height, beacon.version);
  return shards.map((shard, id) => {
    if (random.chance(0.02 + id * 0.015)) return shard;
    const height = shard.height + 1;
    return {
      height,
      totalTxs: shard.totalTxs + random.below(4),
      since: beacon.height,
      time: timeOf(id, height, beacon, seconds),
    };
  });
}

/** The hash of the newest block of a shard, 64 hexadecimal characters. */
export function shardHash(seed: number, id: number, { height, since }: Shard): string {
  return createRandom(seed, 'shard hash', id, height, since).hex(64);
}

// Up to 20 s before the beacon block that first contains it, but after the previous beacon block.
function timeOf(id: number, height: number, beacon: BeaconBlock, seconds: number): number {
  return beacon.time - ((height + id * 7) % Math.min(21, seconds + 1));
}
