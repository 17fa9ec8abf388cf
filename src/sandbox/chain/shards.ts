import { createRandom } from './random.ts';

/** Seconds between two beacon blocks of the history, and of a chain without a clock. */
export const BLOCK_SECONDS = 40;

/** How many shards the chain has beside its beacon. */
export const SHARD_COUNT = 8;

/** Where one shard stands. */
export type Shard = {
  readonly height: number;
  readonly totalTxs: number;
  /** The beacon height at which its newest block came, so that an unchanged shard keeps its hash. */
  readonly since: number;
  /** The Unix seconds of its newest block. */
  readonly time: number;
};

/** What a shard's block takes from the beacon block that first has it. */
type BeaconBlock = { readonly height: number; readonly time: number };

/** The shards as they stand at the first height of a chain. */
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

/**
 * The shards at the beacon block `beacon`, `seconds` after the one before: most have a block more, some skip one, each at
 * a rate of its own.
 */
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

/** The hash of a shard's newest block, 64 hexadecimal characters. */
export function shardHash(seed: number, id: number, { height, since }: Shard): string {
  return createRandom(seed, 'shard hash', id, height, since).hex(64);
}

// Up to 20 s before the beacon block that first has it, but not before the beacon block before that one.
function timeOf(id: number, height: number, beacon: BeaconBlock, seconds: number): number {
  return beacon.time - ((height + id * 7) % Math.min(21, seconds + 1));
}
