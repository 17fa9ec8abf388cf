import type { Instant } from '../domain/instant.ts';

/**
 * What a response depends on, collected while its fields are read. Cache validity follows from it: a response is valid for as
 * long as executing the operation again would give the same response. docs/decisions/query-plans.md says why they are a class.
 */
export class Dependencies {
  readonly #sources: Source[] = [];
  #hasTokens = false;
  #expiresAt: Instant = Number.POSITIVE_INFINITY;
  #validFrom: Instant = Number.NEGATIVE_INFINITY;
  #hasFinalHeight = false;

  /**
   * Adds a source, which had this value when it was read.
   *
   * @param expectedUntil when the source is expected to have another value
   */
  dependOn<T>(read: () => T, value: T, expectedUntil: () => Instant | undefined = () => undefined): void {
    this.#sources.push({ read, value, expectedUntil });
  }

  /**
   * Adds the token list, which changes so rarely that the caches of responses which are immutable otherwise are cleared then.
   *
   * @param expectedUntil when the list is read again
   */
  dependOnTokens<T>(read: () => T, value: T, expectedUntil: () => Instant | undefined): void {
    this.#hasTokens = true;
    this.dependOn(read, value, expectedUntil);
  }

  includeFinalHeight(): void {
    this.#hasFinalHeight = true;
  }

  /**
   * Adds data that is shared by all clients until that moment, and is read again afterwards.
   *
   * @param from when it was read or looked at: if the clock is set back to an earlier time, it is read again too
   */
  expireAt(moment: Instant, from: Instant = Number.NEGATIVE_INFINITY): void {
    this.#expiresAt = Math.min(this.#expiresAt, moment);
    this.#validFrom = Math.max(this.#validFrom, from);
  }

  /** Adds a value that is only valid now, such as an age, and returns it. */
  expireNow<T>(value: T): T {
    this.#expiresAt = Number.NEGATIVE_INFINITY;
    return value;
  }

  areCurrent(now: Instant): boolean {
    return (
      this.#validFrom <= now && now < this.#expiresAt && this.#sources.every(({ read, value }) => read() === value)
    );
  }

  /** When the response expires even if no source changes; `Infinity` for never. */
  expiresAt(): Instant {
    return this.#expiresAt;
  }

  /** Until when the response is expected to be valid: an estimate. `-Infinity` if a source gives no estimate. */
  expectedUntil(): Instant {
    return this.#sources.reduce(
      (end, source) => Math.min(end, source.expectedUntil() ?? Number.NEGATIVE_INFINITY),
      this.#expiresAt,
    );
  }

  /** Whether the response stays valid for as long as the gateway runs or, if it depends on the token list, until that changes. */
  areImmutable(): boolean {
    return this.#sources.length === Number(this.#hasTokens) && this.#expiresAt === Number.POSITIVE_INFINITY;
  }

  /**
   * Whether the response can never change and contains data of final heights. Other immutable responses, such as an
   * introspection, change with a release.
   */
  areOfFinalHeights(): boolean {
    return this.areImmutable() && this.#hasFinalHeight && !this.#hasTokens;
  }
}

type Source = {
  readonly read: () => unknown;
  readonly value: unknown;
  readonly expectedUntil: () => Instant | undefined;
};
