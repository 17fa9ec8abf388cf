import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { PoolDirectory } from '../../domain/pool-directory.ts';
import type { WrittenPools } from './written-pools.ts';

/** Reads pools that are expected next out of their bytes, without a text or an object of any. */
export type KnownPools = {
  /**
   * Reads a member of the node's map, `"key": value`, where it begins.
   *
   * @param place where the pool that it is expected to be of stands in the directory
   * @returns the place behind it, if it is of that pool, whole, and written as nodes write it: then the reserves are there.
   *   All else is left to a parser
   */
  read(given: Buffer, from: number, place: number): number | undefined;
  /** Of the pool that was read last. */
  reserve1(): bigint;
  reserve2(): bigint;
};

/** What a reader of pools knows. */
export type KnownPoolsOptions = {
  readonly beaconHeight: BeaconHeight;
  /** Those that are expected. */
  readonly directory: PoolDirectory | undefined;
  /** How they were written before. */
  readonly written: WrittenPools;
};

/** Two token ids and a dash. */
const ID_LENGTH = 129;
const TOKEN_ID_LENGTH = 64;

const [ZERO, NINE] = [0x30, 0x39];
/** So many digits always fit into a double, and two such parts into each other. */
const DIGITS_OF_A_PART = 15;
const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_DIGITS = 20;

/**
 * Makes the reader of pools at that height.
 *
 * A parser keeps each key as the name of a member, outside of young memory: at ten thousand pools a height, that was most
 * of what had to be collected.
 */
export function createKnownPools({ beaconHeight, directory, written }: KnownPoolsOptions): KnownPools {
  const keyStart = `"pdepool-${beaconHeight}-`;
  let bytes: Buffer = Buffer.alloc(0);
  let at = 0;
  /** Where the id stands in the key. */
  let idAt = 0;
  let reserve1 = 0n;
  let reserve2 = 0n;

  function takes(text: string): boolean {
    for (let index = 0; index < text.length; index++) if (bytes[at + index] !== text.charCodeAt(index)) return false;
    at += text.length;
    return true;
  }

  /** All at once: byte by byte, the ids took most of the time that a state takes. */
  function takesId(id: string): boolean {
    idAt = at;
    at += ID_LENGTH;
    return bytes.toString('latin1', idAt, at) === id;
  }

  function takesNext(text: string): boolean {
    while (isSpace(bytes[at])) at += 1;
    return takes(text);
  }

  function takesField(name: string): boolean {
    return takesNext(name) && takesNext(':');
  }

  /** One of the two of the key, where it begins in there. */
  function takesTokenId(name: string, start: number): boolean {
    if (!takesField(name) || !takesNext('"') || at + TOKEN_ID_LENGTH > bytes.length) return false;
    const from = idAt + start;
    const order = bytes.compare(bytes, from, from + TOKEN_ID_LENGTH, at, at + TOKEN_ID_LENGTH);
    at += TOKEN_ID_LENGTH;
    return order === 0 && takes('"');
  }

  /** An integer from 0 to 2^64 - 1, or `undefined` for anything else. */
  function number(): bigint | undefined {
    while (isSpace(bytes[at])) at += 1;
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
    return value > MAX_UINT64 ? undefined : value;
  }

  function readReserves(): boolean {
    if (!takesTokenId('"Token1IDStr"', 0) || !takesNext(',') || !takesField('"Token1PoolValue"')) return false;
    const value1 = number();
    if (value1 === undefined || !takesNext(',')) return false;
    if (!takesTokenId('"Token2IDStr"', TOKEN_ID_LENGTH + 1) || !takesNext(',')) return false;
    const value2 = takesField('"Token2PoolValue"') ? number() : undefined;
    if (value2 === undefined) return false;
    reserve1 = value1;
    reserve2 = value2;
    return true;
  }

  /** What follows the height in its key, up to its end. */
  function readAnew(id: string): boolean {
    if (id.length !== ID_LENGTH || !takesId(id) || !takes('"')) return false;
    return takesNext(':') && takesNext('{') && readReserves() && takesNext('}');
  }

  return {
    read(given, from, place) {
      bytes = given;
      at = from;
      if (directory === undefined || !takesNext(keyStart)) return undefined;
      const start = at;
      const end = written.find(directory, place, bytes, start);
      if (end !== undefined) {
        reserve1 = written.reserve1();
        reserve2 = written.reserve2();
        return end;
      }
      if (!readAnew(directory.ids[place] ?? '')) return undefined;
      written.keep(directory, place, { bytes, from: start, to: at, reserve1, reserve2 });
      return at;
    },
    reserve1: () => reserve1,
    reserve2: () => reserve2,
  };
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
