import type { PoolDirectory } from '../../domain/exchange.ts';

type Reserves = { readonly reserve1: bigint; readonly reserve2: bigint };

/**
 * The bytes of each pool in the last response, without the height, and the reserves that they contain.
 *
 * A block changes few pools. The bytes of all others are the same at the next height, and one comparison shows it.
 */
type PreviousPools = {
  /** The reserves of the pool at that place of the directory, if its bytes are the same as in the last response. */
  find(directory: PoolDirectory, place: number, bytes: Buffer): Reserves | undefined;
  /** Stores the bytes of a pool, unless it has more than nodes send. */
  store(directory: PoolDirectory, place: number, bytes: Buffer, pool: Reserves): void;
};

/** Four ids, the names of four fields and two numbers of 20 digits take 372 bytes, and indentation some 50 more. */
const MAX_POOL_BYTES = 448;

/** Creates an empty store. It has room for the pools of one directory, the last that was used: 466 bytes each. */
export function createPreviousPools(): PreviousPools {
  let stored: PoolDirectory | undefined;
  let texts = Buffer.alloc(0);
  let lengths = new Uint16Array(0);
  let reserves = new BigUint64Array(0);

  return {
    find(directory, place, bytes) {
      const length = directory === stored ? (lengths[place] ?? 0) : 0;
      const start = place * MAX_POOL_BYTES;
      if (length !== bytes.length || bytes.compare(texts, start, start + length) !== 0) return undefined;
      return { reserve1: reserves[place * 2] ?? 0n, reserve2: reserves[place * 2 + 1] ?? 0n };
    },
    store(directory, place, bytes, { reserve1, reserve2 }) {
      if (bytes.length > MAX_POOL_BYTES) return;
      if (directory !== stored) {
        const { length } = directory.ids;
        stored = directory;
        texts = Buffer.alloc(length * MAX_POOL_BYTES);
        lengths = new Uint16Array(length);
        reserves = new BigUint64Array(length * 2);
      }
      bytes.copy(texts, place * MAX_POOL_BYTES);
      lengths[place] = bytes.length;
      reserves[place * 2] = reserve1;
      reserves[place * 2 + 1] = reserve2;
    },
  };
}
