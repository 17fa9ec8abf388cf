import type { Instant } from '../domain/instant.ts';

/**
 * What an answer was made from, noted while its fields are read. How long the answer stays true follows from it: it would
 * be made the same for as long as everything that it rests on is what it was.
 */
export type Basis = {
  /** Notes that the answer rests on what a source holds, which was this value. */
  restsOn<T>(read: () => T, value: T): void;
  /** Notes that the answer rests on something that was read for everyone, and serves them until then. */
  lastsUntil(moment: Instant): void;
  /** Notes that the answer tells of this very moment, such as an age. @returns the value that is told */
  momentary<T>(value: T): T;
  /** Whether the answer would be made the same at that moment. */
  holds(now: Instant): boolean;
  /** When the answer has to be made again even if nothing that it rests on has changed; `Infinity` for never. */
  expiresAt(): Instant;
  /** Whether nothing that the answer rests on can ever change: it tells of final heights alone. */
  isFinal(): boolean;
};

/** Makes the basis of an answer of which nothing was read yet. */
export function createBasis(): Basis {
  const noted: (() => boolean)[] = [];
  let expiresAt = Number.POSITIVE_INFINITY;

  return {
    restsOn(read, value) {
      noted.push(() => read() === value);
    },
    lastsUntil(moment) {
      expiresAt = Math.min(expiresAt, moment);
    },
    momentary(value) {
      expiresAt = Number.NEGATIVE_INFINITY;
      return value;
    },
    holds: (now) => now < expiresAt && noted.every((isSame) => isSame()),
    expiresAt: () => expiresAt,
    isFinal: () => noted.length === 0 && expiresAt === Number.POSITIVE_INFINITY,
  };
}
