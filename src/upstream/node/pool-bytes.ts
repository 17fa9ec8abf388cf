import { MAX_AMOUNT } from '../../domain/amount.ts';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { PoolDirectory } from '../../domain/exchange.ts';
import { isSpace } from '../json-parts.ts';

/** The reserves of a pool that was read from its bytes, and the offset behind it. */
export type PoolInBytes = { readonly end: number; readonly reserve1: bigint; readonly reserve2: bigint };

/**
 * The bytes of each pool in the last response, without the height, and the reserves that they contain.
 *
 * A block changes few pools. The bytes of all others are the same at the next height, and one comparison shows it.
 */
type PreviousPools = {
  /** The pool at that place of the directory, if its bytes are the same as in the last response. */
  find(directory: PoolDirectory, place: number, bytes: Buffer, from: number): PoolInBytes | undefined;
  /** Stores the bytes of a pool, unless it has more than nodes send. */
  store(directory: PoolDirectory, place: number, bytes: Buffer, from: number, pool: PoolInBytes): void;
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
    find(directory, place, bytes, from) {
      const length = directory === stored ? (lengths[place] ?? 0) : 0;
      if (length === 0 || from + length > bytes.length) return undefined;
      const start = place * MAX_POOL_BYTES;
      if (bytes.compare(texts, start, start + length, from, from + length) !== 0) return undefined;
      return { end: from + length, reserve1: reserves[place * 2] ?? 0n, reserve2: reserves[place * 2 + 1] ?? 0n };
    },
    store(directory, place, bytes, from, { end, reserve1, reserve2 }) {
      if (end - from > MAX_POOL_BYTES) return;
      if (directory !== stored) {
        const { length } = directory.ids;
        stored = directory;
        texts = Buffer.alloc(length * MAX_POOL_BYTES);
        lengths = new Uint16Array(length);
        reserves = new BigUint64Array(length * 2);
      }
      bytes.copy(texts, place * MAX_POOL_BYTES, from, end);
      lengths[place] = end - from;
      reserves[place * 2] = reserve1;
      reserves[place * 2 + 1] = reserve2;
    },
  };
}

/** Reads a pool from its bytes, without creating a string or an object of it. */
type PoolBytesReader = {
  /**
   * Reads a member of the node's map, `"key": value`, where it starts.
   *
   * @param place the place of the pool that is expected
   * @returns `undefined` unless it is that pool, complete, and formatted as nodes do. All else is for the JSON parser
   */
  read(bytes: Buffer, from: number, place: number): PoolInBytes | undefined;
};

type PoolBytesOptions = {
  readonly beaconHeight: BeaconHeight;
  /** The pools of the previous state. */
  readonly directory: PoolDirectory | undefined;
  readonly previous: PreviousPools;
  /** Whether the pools are stored for the next response. */
  readonly isStored: boolean;
};

/** Two token ids and a dash. */
const ID_LENGTH = 129;
const TOKEN_ID_LENGTH = 64;

const [ZERO, NINE] = [0x30, 0x39];
/** The number of digits that always fit into a double. A number is read as two such parts. */
const DIGITS_OF_A_PART = 15;
const MAX_DIGITS = 20;

/**
 * Creates the reader of pools at that height.
 *
 * A parser would store each key as a property name, outside of the young generation. With ten thousand pools a height, these
 * names were most of the garbage.
 */
export function createPoolBytesReader(options: PoolBytesOptions): PoolBytesReader {
  const { beaconHeight, directory, previous, isStored } = options;
  const keyStart = `"pdepool-${beaconHeight}-`;
  let bytes: Buffer = Buffer.alloc(0);
  /** The offset of the next byte. */
  let at = 0;

  function skipSpaces(): void {
    while (isSpace(bytes[at] ?? 0)) at += 1;
  }

  /** Each `skip` function moves behind what it is named after, or returns `false` if something else is there. */
  function skipText(text: string): boolean {
    for (let index = 0; index < text.length; index++) if (bytes[at + index] !== text.charCodeAt(index)) return false;
    at += text.length;
    return true;
  }

  function skipToken(text: string): boolean {
    skipSpaces();
    return skipText(text);
  }

  function skipName(name: string): boolean {
    return skipToken(name) && skipToken(':');
  }

  /** One native comparison: byte by byte, the ids took most of the time of a state. */
  function skipId(id: string): boolean {
    const from = at;
    at += ID_LENGTH;
    return bytes.toString('latin1', from, at) === id;
  }

  /** A member with the token id that starts at `idAt`, where the key has it. */
  function skipTokenId(name: string, idAt: number): boolean {
    if (!skipName(name) || !skipToken('"') || at + TOKEN_ID_LENGTH > bytes.length) return false;
    const order = bytes.compare(bytes, idAt, idAt + TOKEN_ID_LENGTH, at, at + TOKEN_ID_LENGTH);
    at += TOKEN_ID_LENGTH;
    return order === 0 && skipText('"');
  }

  /** An integer from 0 to 2^64 - 1; `undefined` for anything else. */
  function readUint64(): bigint | undefined {
    skipSpaces();
    const from = at;
    let [first, second] = [0, 0];
    for (let digit = bytes[at] ?? 0; digit >= ZERO && digit <= NINE; digit = bytes[at] ?? 0) {
      if (at - from === MAX_DIGITS) return undefined;
      if (at - from < DIGITS_OF_A_PART) first = first * 10 + (digit - ZERO);
      else second = second * 10 + (digit - ZERO);
      at += 1;
    }
    const count = at - from;
    if (count === 0 || (bytes[from] === ZERO && count > 1)) return undefined;
    if (count <= DIGITS_OF_A_PART) return BigInt(first);
    const value = BigInt(first) * 10n ** BigInt(count - DIGITS_OF_A_PART) + BigInt(second);
    return value > MAX_AMOUNT ? undefined : value;
  }

  /** The pool whose key goes on with this id. */
  function readPool(id: string): PoolInBytes | undefined {
    const idAt = at;
    if (id.length !== ID_LENGTH || !skipId(id) || !skipText('"') || !skipToken(':') || !skipToken('{'))
      return undefined;
    if (!skipTokenId('"Token1IDStr"', idAt) || !skipToken(',') || !skipName('"Token1PoolValue"')) return undefined;
    const reserve1 = readUint64();
    if (reserve1 === undefined || !skipToken(',')) return undefined;
    if (!skipTokenId('"Token2IDStr"', idAt + TOKEN_ID_LENGTH + 1) || !skipToken(',')) return undefined;
    const reserve2 = skipName('"Token2PoolValue"') ? readUint64() : undefined;
    return reserve2 === undefined || !skipToken('}') ? undefined : { end: at, reserve1, reserve2 };
  }

  return {
    read(chunk, from, place) {
      bytes = chunk;
      at = from;
      if (directory === undefined || !skipToken(keyStart)) return undefined;
      const start = at;
      const same = previous.find(directory, place, bytes, start);
      if (same !== undefined) return same;
      const pool = readPool(directory.ids[place] ?? '');
      if (pool !== undefined && isStored) previous.store(directory, place, bytes, start, pool);
      return pool;
    },
  };
}
