import type { PoolDirectory } from '../../domain/pool-directory.ts';

/**
 * How pools were written when they were last read, without the height, and which reserves that says.
 *
 * A block changes a few pools. All others are written the same at the next height, and one comparison tells so.
 */
export type WrittenPools = {
  /** Where the pool at that place of the directory ends, if it is written there as it was; `undefined` where it is not. */
  find(directory: PoolDirectory, place: number, bytes: Buffer, from: number): number | undefined;
  /** Of the pool that was found last. */
  reserve1(): bigint;
  reserve2(): bigint;
  /** Keeps how a pool is written; where that is longer than nodes write it, nothing. */
  keep(directory: PoolDirectory, place: number, written: WrittenPool): void;
};

/** One pool as it stands in an answer, and what it says. */
export type WrittenPool = {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
  readonly reserve1: bigint;
  readonly reserve2: bigint;
};

/** Room for one: four ids, the names of four fields and two numbers of 20 digits take 372, and indentation some 50 more. */
const MAX_WRITTEN_BYTES = 448;

/** All that is kept, by place. */
type Kept = { readonly texts: Buffer; readonly lengths: Uint16Array; readonly reserves: BigUint64Array };

/** Makes an empty collection. It has room for the pools of one directory, the last that something was kept for: 466 bytes each. */
export function createWrittenPools(): WrittenPools {
  let of: PoolDirectory | undefined;
  let kept: Kept = makeRoom(0);
  let found = 0;

  return {
    find(directory, place, bytes, from) {
      const length = directory === of ? (kept.lengths[place] ?? 0) : 0;
      if (length === 0 || from + length > bytes.length) return undefined;
      const start = place * MAX_WRITTEN_BYTES;
      if (bytes.compare(kept.texts, start, start + length, from, from + length) !== 0) return undefined;
      found = place;
      return from + length;
    },
    reserve1: () => kept.reserves[found * 2] ?? 0n,
    reserve2: () => kept.reserves[found * 2 + 1] ?? 0n,
    keep(directory, place, { bytes, from, to, reserve1, reserve2 }) {
      if (to - from > MAX_WRITTEN_BYTES) return;
      if (directory !== of) {
        of = directory;
        kept = makeRoom(directory.ids.length);
      }
      bytes.copy(kept.texts, place * MAX_WRITTEN_BYTES, from, to);
      kept.lengths[place] = to - from;
      kept.reserves[place * 2] = reserve1;
      kept.reserves[place * 2 + 1] = reserve2;
    },
  };
}

function makeRoom(pools: number): Kept {
  return {
    texts: Buffer.alloc(pools * MAX_WRITTEN_BYTES),
    lengths: new Uint16Array(pools),
    reserves: new BigUint64Array(pools * 2),
  };
}
