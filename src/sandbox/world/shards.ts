import { createRandom } from './random.ts';

/** Seconds from one beacon block to the next. */
export const blockSeconds = 40;

/** How many shards the chain has beside its beacon. */
export const shardCount = 8;

/** Where one shard stands. */
export type Shard = {
  readonly height: number;
  readonly totalTxs: number;
  /** The beacon height at which its newest block came, so that an unchanged shard keeps its hash and time. */
  readonly since: number;
};

/** The shards as they stand at the first height of a world. */
export function firstShards(seed: number, height: number): readonly Shard[] {
  const random = createRandom(seed, 'shards');
  return Array.from({ length: shardCount }, () => ({
    height: Math.floor(height * random.between(0.985, 1.002)),
    totalTxs: 20_000 + random.below(180_000),
    since: height,
  }));
}

/** The shards one beacon block later: most have a block more, some skip one, at a rate of each one's own. */
export function nextShards(seed: number, shards: readonly Shard[], height: number, version: number): readonly Shard[] {
  const random = createRandom(seed, 'shards', height, version);
  return shards.map((shard, id) =>
    random.chance(0.02 + id * 0.015)
      ? shard
      : { height: shard.height + 1, totalTxs: shard.totalTxs + random.below(4), since: height },
  );
}

/** The hash of a shard's newest block, 64 hexadecimal characters. */
export function shardHash(seed: number, id: number, { height, since }: Shard): string {
  return createRandom(seed, 'shard hash', id, height, since).hex(64);
}

/** The Unix seconds of a shard's newest block: up to 20 s before the beacon block `tip` that first had it. */
export function shardTime(id: number, { height, since }: Shard, tip: { height: number; time: number }): number {
  return tip.time - (tip.height - since) * blockSeconds - ((height + id * 7) % 21);
}
