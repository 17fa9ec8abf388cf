import { type AnyUpstream, GatewayError, haveSameReason, UpstreamTimeoutError } from '../../errors.ts';
import type { PollSpan, Published } from '../../tracing/tracing.ts';
import { waitAtMost } from '../../turns/wait-at-most.ts';
import { createBroadcast } from './broadcast.ts';

/**
 * Something at an upstream that is polled, one read at a time, for all clients. While reads fail, the last good value stays.
 */
export type Follower<T> = ReturnType<typeof createFollower<T>>;

/** What a follower reads, and how often. */
export type FollowerOptions<T> = {
  /** Reads once. If it returns the previous value, or `undefined`, nothing is published. */
  readonly read: (previous: T | undefined) => Promise<T | undefined>;
  /** From the end of one read, which may have failed, to the start of the next. */
  readonly intervalMs: (isFailing: boolean) => number;
  /** The upstream that is read, for the error of a caller that waits too long. */
  readonly upstream: AnyUpstream;
  /** How long a caller waits for the first value. */
  readonly timeoutMs: number;
  /** Whether a value is too old to be returned while reads fail; by default it never is. */
  readonly isTooOld?: (value: T) => boolean;
  readonly watcher: Watcher;
  /** Called with each value before it is published. */
  readonly beforePublish?: ((value: T, previous: T | undefined) => void) | undefined;
  /** Records polls that lead to a publication, and the first of those that fail. */
  readonly trace?:
    | { start(): PollSpan | undefined; describe?(value: T, previous: T | undefined): Published }
    | undefined;
};

/**
 * Is notified when something that is read begins to fail, when it fails for another reason than before, and when it can be read
 * again: each once, not at every read.
 */
export type Watcher = {
  failed(error: unknown): void;
  recovered(): void;
};

/** Starts to poll at once, until it is stopped. */
export function createFollower<T>(options: FollowerOptions<T>) {
  const { read, intervalMs, upstream, timeoutMs, isTooOld = () => false, watcher, beforePublish, trace } = options;
  const latest = createBroadcast<T>();
  /** Resolves when there is a value or an error. A read can end without both. */
  const first = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let isReading = true;
  /** The first error of its reason: all callers get the same one while it repeats. */
  let failure: { readonly error: unknown } | undefined;
  /** The error of all callers for whom the read in progress takes too long. */
  let timeout: Error | undefined;
  // After the caller has all that the first read needs.
  let currentPoll = Promise.resolve().then(poll);

  async function poll(): Promise<void> {
    if (stopped) return;
    timeout = undefined;
    isReading = true;
    const span = trace?.start();
    try {
      const previous = latest.current();
      const value = await (span === undefined ? read(previous) : span.run(() => read(previous)));
      if (stopped || value === undefined) return;
      if (failure !== undefined) watcher.recovered();
      failure = undefined;
      if (value === previous) return;
      try {
        beforePublish?.(value, previous);
      } finally {
        // Whatever else goes wrong, clients get the value.
        latest.publish(value);
        first.resolve();
      }
      span?.published(trace?.describe?.(value, previous) ?? {});
    } catch (error) {
      if (stopped || !fail(error)) return;
      span?.failed(error instanceof GatewayError ? error.code : 'INTERNAL_SERVER_ERROR');
    } finally {
      span?.discard();
      isReading = false;
      if (!stopped) timer = setTimeout(readAgain, intervalMs(isFailing()));
    }
  }

  /** @returns whether the error has another reason than the last one */
  function fail(error: unknown): boolean {
    if (haveSameReason(error, failure?.error)) return false;
    watcher.failed(error);
    failure = { error };
    first.resolve();
    return true;
  }

  /** Whether the last read failed. */
  function isFailing(): boolean {
    return failure !== undefined;
  }

  function readAgain(): void {
    currentPoll = poll();
  }

  /** Reads now, unless a read is in progress. @returns whether it does */
  function readNow(): boolean {
    if (stopped || isReading) return false;
    clearTimeout(timer);
    readAgain();
    return true;
  }

  /** The last good value, unless it has become too old. */
  function current(): T | undefined {
    const value = latest.current();
    return value !== undefined && failure !== undefined && isTooOld(value) ? undefined : value;
  }

  return {
    /**
     * The current value. If there is none, it waits for the read in progress.
     *
     * @throws the error of that read, or the timeout error
     */
    async get(): Promise<T> {
      if (failure !== undefined && latest.current() !== undefined && current() === undefined) throw failure.error;
      if (current() === undefined && !(await waitAtMost(timeoutMs, Promise.all([currentPoll, first.promise])))) {
        timeout ??= new UpstreamTimeoutError(upstream, timeoutMs, {});
        throw timeout;
      }
      const value = current();
      if (value === undefined) throw failure?.error ?? new UpstreamTimeoutError(upstream, timeoutMs, {});
      return value;
    },
    current,
    /** The last good value, however old. */
    newest: latest.current,
    subscribe: latest.subscribe,
    subscribers: latest.subscribers,
    skippedValues: latest.skippedValues,
    isFailing,
    /** Why the last read failed; `undefined` if it did not. */
    failure: (): unknown => failure?.error,
    readNow,
    stop(): void {
      stopped = true;
      first.resolve();
      clearTimeout(timer);
    },
  };
}
