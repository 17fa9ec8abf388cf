import { parseTokenId, type TokenId } from '../domain/token-id.ts';

/** A value that is not what the interface specification says; its message names what was expected and where. */
export class Misfit extends Error {
  constructor(expected: string, path: string) {
    super(`expected ${expected} at ${path}`);
    this.name = 'Misfit';
  }
}

/** An object of an answer, of which any field may be missing or of another type. */
export type WireObject = Readonly<Record<string, unknown>>;

/** Reads an object. @throws Misfit */
export function readObject(value: unknown, path: string): WireObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Misfit('an object', path);
  return value as WireObject;
}

/** Reads an array. @throws Misfit */
export function readArray(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Misfit('an array', path);
  return value;
}

/** Reads a text. @throws Misfit */
export function readString(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new Misfit('a string', path);
  return value;
}

/** A finite number as a double, or `undefined` for anything else; an integer of any size is a number too. */
export function toFiniteNumber(value: unknown): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** Reads an integer from 0 to 2^53 - 1. @throws Misfit */
export function readInteger(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new Misfit('an integer', path);
  return value;
}

const MAX_UINT64 = 2n ** 64n - 1n;

/** Reads an unsigned 64-bit integer, exactly. @throws Misfit */
export function readUint64(value: unknown, path: string): bigint {
  if (typeof value === 'bigint' && value >= 0n && value <= MAX_UINT64) return value;
  return BigInt(readInteger(value, path));
}

/** The last millisecond that a date can name. */
const MAX_INSTANT = 8.64e15;

/** Reads a Unix timestamp, in seconds or in milliseconds, that a date can name. @throws Misfit */
export function readTimestamp(value: unknown, path: string): number {
  const timestamp = toFiniteNumber(value);
  if (timestamp === undefined || timestamp < 0 || timestamp > MAX_INSTANT) throw new Misfit('a Unix timestamp', path);
  return timestamp;
}

/** Reads 64 hexadecimal characters of either case as a token id. @throws Misfit */
export function readTokenId(value: unknown, path: string): TokenId {
  const tokenId = typeof value === 'string' ? parseTokenId(value.toLowerCase()) : undefined;
  if (tokenId === undefined) throw new Misfit('64 hexadecimal characters', path);
  return tokenId;
}

/** More than is read of an answer, or of a part of it; its message says how much that is. */
export class Excess extends Error {
  constructor(most: string) {
    super(`more than ${most}`);
    this.name = 'Excess';
  }
}
