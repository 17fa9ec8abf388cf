import type { Instant } from '../domain/instant.ts';

/**
 * What an answer depends on, collected while its fields are read. Cache validity follows from it: an answer is valid for as
 * long as executing the operation again would give the same answer.
 */
export type Dependencies = {
  /**
   * Adds a source, which had this value when it was read.
   *
   * @param expectedUntil when the source is expected to have another value
   */
  dependOn<T>(read: () => T, value: T, expectedUntil?: () => Instant | undefined): void;
  /**
   * Adds the token list, which changes so rarely that the caches of answers which are immutable otherwise are cleared then.
   *
   * @param expectedUntil when the list is read again
   */
  dependOnTokens<T>(read: () => T, value: T, expectedUntil: () => Instant | undefined): void;
  /** Notes that the answer contains data of a final height. */
  includeFinalHeight(): void;
  /** Adds data that is shared by all clients until that moment, and is read again afterwards. */
  expireAt(moment: Instant): void;
  /** Adds a value that is only valid now, such as an age, and returns it. */
  expireNow<T>(value: T): T;
  /** Whether the answer is valid at that moment. */
  areCurrent(now: Instant): boolean;
  /** When the answer expires even if no source changes; `Infinity` for never. */
  expiresAt(): Instant;
  /** Until when the answer is expected to be valid: an estimate. `-Infinity` if a source gives no estimate. */
  expectedUntil(): Instant;
  /** Whether the answer stays valid for as long as the gateway runs or, if it depends on the token list, until that changes. */
  areImmutable(): boolean;
  /**
   * Whether the answer can never change and contains data of final heights. Other immutable answers, such as an
   * introspection, change with a release.
   */
  areOfFinalHeights(): boolean;
};

/** Creates the dependencies of an answer, none at first. */
export function createDependencies(): Dependencies {
  const sources: Source[] = [];
  let tokens: Source | undefined;
  let expiresAt = Number.POSITIVE_INFINITY;
  let hasFinalHeight = false;

  const areImmutable = () => sources.length === 0 && expiresAt === Number.POSITIVE_INFINITY;

  return {
    dependOn(read, value, expectedUntil = () => undefined) {
      sources.push({ isSame: () => read() === value, expectedUntil });
    },
    dependOnTokens(read, value, expectedUntil) {
      tokens = { isSame: () => read() === value, expectedUntil };
    },
    includeFinalHeight() {
      hasFinalHeight = true;
    },
    expireAt(moment) {
      expiresAt = Math.min(expiresAt, moment);
    },
    expireNow(value) {
      expiresAt = Number.NEGATIVE_INFINITY;
      return value;
    },
    areCurrent: (now) =>
      now < expiresAt && sources.every(({ isSame }) => isSame()) && (tokens === undefined || tokens.isSame()),
    expiresAt: () => expiresAt,
    expectedUntil: () =>
      [...sources, ...(tokens === undefined ? [] : [tokens])].reduce(
        (end, source) => Math.min(end, source.expectedUntil() ?? Number.NEGATIVE_INFINITY),
        expiresAt,
      ),
    areImmutable,
    areOfFinalHeights: () => areImmutable() && hasFinalHeight && tokens === undefined,
  };
}

/** A source with the value that it had when it was read. */
type Source = { readonly isSame: () => boolean; readonly expectedUntil: () => Instant | undefined };

/** What of the recorded history can change a value: each height that is recorded, or only missing ones. */
export type HistoryUse = { readonly version: boolean; readonly fills: boolean };
