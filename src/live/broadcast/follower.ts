import { type Broadcast, createBroadcast } from './broadcast.ts';
import { isSettledWithin } from './wait-at-most.ts';

/**
 * Something at an upstream that is read again and again, one reading at a time, and shared by everyone. While reading
 * fails, the last good value stays.
 */
export type Follower<T> = {
  /**
   * The last good value, unless it has become too old. Where there is none, it waits for the reading under way.
   *
   * @throws what the reading failed with, or what `tooLate` says when it has taken too long
   */
  get(): Promise<T>;
  /** The same without waiting. */
  current(): T | undefined;
  /** The last good value, however old. */
  newest(): T | undefined;
  /** Each new value from now on, the current one first. */
  subscribe: Broadcast<T>['subscribe'];
  subscribers: Broadcast<T>['subscribers'];
  skippedValues: Broadcast<T>['skippedValues'];
  /** Whether the newest reading that ended has failed. */
  isFailing(): boolean;
  stop(): void;
};

/** What a follower reads, and how often. */
export type FollowerOptions<T> = {
  /** Reads once; the previous value is given so that nothing need be published where nothing changed. */
  readonly read: (previous: T | undefined) => Promise<T>;
  /** From the end of one reading to the start of the next. */
  readonly intervalMs: number;
  /** How long anyone waits for the first value, and the error that they get then. */
  readonly maxWaitMs: number;
  readonly timeoutError: () => Error;
  /** Whether a value is too old to be given to anyone while reading fails; none ever is where nothing is said. */
  readonly isTooOld?: (value: T) => boolean;
  readonly watcher: Watcher;
  /** Called with each value that is published. */
  readonly published?: ((value: T) => void) | undefined;
};

/** Who is told when something that is followed breaks and heals; each once, not at every reading. */
export type Watcher = {
  failed(error: unknown): void;
  recovered(): void;
};

/** Starts to follow at once, and goes on until it is stopped. */
export function createFollower<T>(options: FollowerOptions<T>): Follower<T> {
  const {
    read,
    intervalMs,
    maxWaitMs: patienceMs,
    timeoutError: tooLate,
    isTooOld = () => false,
    watcher,
    published,
  } = options;
  const latest = createBroadcast<T>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  /** The first failure of its kind: everyone gets the same error while it repeats. */
  let failure: { readonly error: unknown } | undefined;
  /** What everyone gets for whom the reading under way takes too long. */
  let late: Error | undefined;
  let underWay = readOnce();

  async function readOnce(): Promise<void> {
    late = undefined;
    try {
      const previous = latest.current();
      const value = await read(previous);
      if (stopped) return;
      if (failure !== undefined) watcher.recovered();
      failure = undefined;
      if (value === previous) return;
      published?.(value);
      latest.publish(value);
    } catch (error) {
      if (stopped) return;
      if (isSameKind(error, failure?.error)) return;
      watcher.failed(error);
      failure = { error };
    } finally {
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
      if (current() === undefined && !(await isSettledWithin(patienceMs, underWay))) {
        late ??= tooLate();
        throw late;
      }
      const value = current();
      if (value === undefined) throw failure?.error ?? new Error('stopped before anything was read');
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

/** Errors repeat at each reading of a broken upstream: the log tells when it breaks and how, not how often. */
function isSameKind(a: unknown, b: unknown): boolean {
  return a instanceof Error && b instanceof Error && a.message === b.message;
}
