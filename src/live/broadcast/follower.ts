import { GatewayError } from '../../errors.ts';
import type { PollSpan, Published } from '../../tracing.ts';
import { type Broadcast, createBroadcast } from './broadcast.ts';
import { isSettledWithin } from './wait-at-most.ts';

/**
 * Something at an upstream that is polled, one read at a time, for all clients. While reads fail, the last good value stays.
 */
export type Follower<T> = {
  /**
   * The last good value, unless it has become too old. If there is none, it waits for the read under way.
   *
   * @throws the error of that read, or the timeout error
   */
  get(): Promise<T>;
  /** The same without waiting. */
  current(): T | undefined;
  /** The last good value, however old. */
  newest(): T | undefined;
  /** Sends the current value first, then each new one. */
  subscribe: Broadcast<T>['subscribe'];
  subscribers: Broadcast<T>['subscribers'];
  skippedValues: Broadcast<T>['skippedValues'];
  /** Whether the last read failed. */
  isFailing(): boolean;
  stop(): void;
};

/** What a follower reads, and how often. */
export type FollowerOptions<T> = {
  /** Reads once. If it returns the previous value, nothing is published. */
  readonly read: (previous: T | undefined) => Promise<T>;
  /** From the end of one read to the start of the next. */
  readonly intervalMs: number;
  /** How long a caller waits for the first value, and the error that it gets then. */
  readonly maxWaitMs: number;
  readonly timeoutError: () => Error;
  /** Whether a value is too old to be returned while reads fail; by default it never is. */
  readonly isTooOld?: (value: T) => boolean;
  readonly watcher: Watcher;
  /** Called with each value that is published. */
  readonly published?: ((value: T) => void) | undefined;
  /** Records polls that lead to a publication, and the first of those that fail. */
  readonly trace?: PollTrace<T> | undefined;
};

/** How polls are traced. */
export type PollTrace<T> = {
  start(): PollSpan | undefined;
  describe?(value: T, previous: T | undefined): Published;
};

/** Is notified when something that is read begins to fail, and when it can be read again: each once, not at every read. */
export type Watcher = {
  failed(error: unknown): void;
  recovered(): void;
};

/** Starts to poll at once, until it is stopped. */
export function createFollower<T>(options: FollowerOptions<T>): Follower<T> {
  const { read, intervalMs, maxWaitMs, timeoutError, isTooOld = () => false, watcher, published, trace } = options;
  const latest = createBroadcast<T>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  /** The first error of its kind: all callers get the same one while it repeats. */
  let failure: { readonly error: unknown } | undefined;
  /** The error of all callers for whom the read under way takes too long. */
  let timeout: Error | undefined;
  let underWay = readOnce();

  async function readOnce(): Promise<void> {
    timeout = undefined;
    const span = trace?.start();
    try {
      const previous = latest.current();
      const value = await (span === undefined ? read(previous) : span.run(() => read(previous)));
      if (stopped) return;
      if (failure !== undefined) watcher.recovered();
      failure = undefined;
      if (value === previous) return;
      published?.(value);
      latest.publish(value);
      span?.published(trace?.describe?.(value, previous) ?? {});
    } catch (error) {
      if (stopped) return;
      if (isSameKind(error, failure?.error)) return;
      watcher.failed(error);
      failure = { error };
      span?.failed(error instanceof GatewayError ? error.code : 'INTERNAL_SERVER_ERROR');
    } finally {
      span?.discard();
      if (!stopped) timer = setTimeout(readAgain, intervalMs);
    }
  }

  function readAgain(): void {
    underWay = readOnce();
  }

  function current(): T | undefined {
    const value = latest.current();
    return value !== undefined && failure !== undefined && isTooOld(value) ? undefined : value;
  }

  return {
    async get() {
      if (failure !== undefined && latest.current() !== undefined && current() === undefined) throw failure.error;
      if (current() === undefined && !(await isSettledWithin(maxWaitMs, underWay))) {
        timeout ??= timeoutError();
        throw timeout;
      }
      const value = current();
      if (value === undefined) throw failure?.error ?? new Error('stopped before the first read ended');
      return value;
    },
    current,
    newest: latest.current,
    subscribe: latest.subscribe,
    subscribers: latest.subscribers,
    skippedValues: latest.skippedValues,
    isFailing: () => failure !== undefined,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** An upstream that fails repeats its error at each read: the log has each kind once. */
function isSameKind(a: unknown, b: unknown): boolean {
  return a instanceof Error && b instanceof Error && a.message === b.message;
}
