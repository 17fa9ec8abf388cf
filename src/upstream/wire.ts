import { MAX_AMOUNT } from '../domain/amount.ts';
import { TIMESTAMPS_END } from '../domain/instant.ts';
import { parseTokenId, type TokenId } from '../domain/token.ts';

/** A value that does not match the interface specification. Its message says what was expected, and where. */
export class ShapeError extends Error {
  constructor(expected: string, path: string) {
    super(`expected ${expected} at ${path}`);
    this.name = 'ShapeError';
  }
}

/** An object of a response. Any of its fields may be missing or of another type. */
export type WireObject = Readonly<Record<string, unknown>>;

/** Reads an object. @throws ShapeError */
export function readObject(value: unknown, path: string): WireObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ShapeError('an object', path);
  return value as WireObject;
}

/** Reads an array. @throws ShapeError */
export function readArray(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new ShapeError('an array', path);
  return value;
}

/** Reads a string. U+FFFD replaces half of a surrogate pair, which clients could not read. @throws ShapeError */
export function readString(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new ShapeError('a string', path);
  return value.toWellFormed();
}

/** Reads an integer from 0 to 2^53 - 1, or to a lower maximum. @throws ShapeError */
export function readInteger(value: unknown, path: string, max?: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new ShapeError('an integer', path);
  if (max !== undefined && value > max) throw new ShapeError(`an integer up to ${max}`, path);
  return value;
}

/** Reads an unsigned 64-bit integer exactly, or one up to a larger maximum. @throws ShapeError */
export function readUint64(value: unknown, path: string, max = MAX_AMOUNT): bigint {
  if (typeof value === 'bigint' && value >= 0n && value <= max) return value;
  return BigInt(readInteger(value, path));
}

/** Reads a Unix timestamp in a unit that `toInstant` knows. Its JSON is a number below 2^53, or has a fraction. @throws ShapeError */
export function readTimestamp(value: unknown, path: string): number {
  if (typeof value !== 'number' || !(value >= 0 && value < TIMESTAMPS_END))
    throw new ShapeError('a Unix timestamp', path);
  return value;
}

/** Reads 64 hexadecimal characters of either case as a token id. @throws ShapeError */
export function readTokenId(value: unknown, path: string): TokenId {
  const tokenId = typeof value === 'string' ? parseTokenId(value.toLowerCase()) : undefined;
  if (tokenId === undefined) throw new ShapeError('64 hexadecimal characters', path);
  return tokenId;
}

/** A response, or a part of it, exceeds the maximum in the message. */
export class TooLargeError extends Error {
  constructor(maximum: string) {
    super(`more than ${maximum}`);
    this.name = 'TooLargeError';
  }
}
