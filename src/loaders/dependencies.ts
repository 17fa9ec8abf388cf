import type { Instant } from '../domain/instant.ts';

/**
 * What an answer was made from, noted while its fields are read. How long the answer stays true follows from it: it would
 * be made the same for as long as everything that it rests on is what it was.
 */
export type Dependencies = {
  /**
   * Notes that the answer rests on what a source holds, which was this value.
   *
   * @param expectedUntil when the source is expected to hold something else
   */
  dependOn<T>(read: () => T, value: T, expectedUntil?: () => Instant | undefined): void;
  /** Notes that the answer tells of a final height. */
  includeFinalHeight(): void;
  /** Notes that the answer rests on something that was read for everyone, and serves them until then. */
  expireAt(moment: Instant): void;
  /** Notes that the answer tells of this very moment, such as an age. @returns the value that is told */
  expireNow<T>(value: T): T;
  /** Whether the answer would be made the same at that moment. */
  areCurrent(now: Instant): boolean;
  /** When the answer has to be made again even if nothing that it rests on has changed; `Infinity` for never. */
  expiresAt(): Instant;
  /** Until when everything that the answer rests on is expected to stay as it is; no promise. */
  expectedUntil(): Instant;
  /** Whether nothing that the answer rests on can change while the gateway runs. */
  areImmutable(): boolean;
  /** Whether it is final and tells of heights: what tells of the schema alone changes with a release. */
  areOfFinalHeights(): boolean;
};

/** Makes the dependencies of an answer of which nothing was read yet. */
export function createDependencies(): Dependencies {
  const noted: { readonly isSame: () => boolean; readonly expectedUntil: () => Instant | undefined }[] = [];
  let expiresAt = Number.POSITIVE_INFINITY;
  let isOfHeights = false;

  const isFinal = () => noted.length === 0 && expiresAt === Number.POSITIVE_INFINITY;

  return {
    dependOn(read, value, expectedUntil = () => undefined) {
      noted.push({ isSame: () => read() === value, expectedUntil });
    },
    includeFinalHeight() {
      isOfHeights = true;
    },
    expireAt(moment) {
      expiresAt = Math.min(expiresAt, moment);
    },
    expireNow(value) {
      expiresAt = Number.NEGATIVE_INFINITY;
      return value;
    },
    areCurrent: (now) => now < expiresAt && noted.every(({ isSame }) => isSame()),
    expiresAt: () => expiresAt,
    expectedUntil() {
      let end = expiresAt;
      // Nothing is promised of a source that does not say.
      for (const source of noted) end = Math.min(end, source.expectedUntil() ?? Number.NEGATIVE_INFINITY);
      return end;
    },
    areImmutable: isFinal,
    areOfFinalHeights: () => isFinal() && isOfHeights,
  };
}
