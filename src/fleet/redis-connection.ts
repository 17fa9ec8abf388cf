import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisArgument } from '@redis/client';
import { isSettledWithin } from '../live/broadcast/wait-at-most.ts';
import type { RedisClient, RedisReply, RedisSubscription } from './redis-client.ts';

/** Redis cannot be used now: it is not connected, did not reply in time, or cannot write. */
export class RedisUnavailableError extends Error {
  constructor(cause?: unknown) {
    super('Redis cannot be used now', cause === undefined ? undefined : { cause });
    this.name = 'RedisUnavailableError';
  }
}

/** One connection to Redis, which is opened again whenever it is lost. */
export type RedisConnection = {
  /**
   * Whether Redis can be used now. After a command that failed, it cannot until a probe succeeds: each command fails at once
   * with RedisUnavailableError, and nothing is queued.
   */
  isAvailable(): boolean;
  /** Resolves when Redis is available, or when the time is over. @returns whether it is available */
  ready(maxWaitMs: number): Promise<boolean>;
  /**
   * Sends a command.
   *
   * @throws RedisUnavailableError at once while the connection is not available, and when it becomes so; the error of a
   *   reply such as `WRONGTYPE`
   */
  send(key: string, args: readonly RedisArgument[]): Promise<RedisReply>;
  close(): void;
};

/** Is notified when Redis becomes available, and when no longer. */
export type RedisWatcher = {
  available(): void;
  unavailable(error: unknown): void;
  /** A command failed. */
  failed(): void;
};

/** A command that takes longer counts as failed. */
const COMMAND_TIMEOUT_MS = 500;

/** From one attempt to connect, or probe, to the next. It is doubled until the maximum. */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

/** Number of probes without a reply after which the connection is opened again. */
const PROBES_UNTIL_REOPENED = 3;

/** How long a client may take to connect, with the discovery of a cluster. */
const OPEN_TIMEOUT_MS = 5_000;

/** Replies that mean that Redis cannot be used, and not that a command is wrong. */
const OUTAGES =
  /^(READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|OOM|NOAUTH|WRONGPASS|NOPERM|ERR max number of clients)/;

/**
 * Opens a connection.
 *
 * @param probe a command that writes, with its key: a server that is read-only or full is not available either
 */
export function createRedisConnection(
  urls: readonly URL[],
  probe: { readonly key: string; readonly args: readonly string[] },
  subscription: RedisSubscription,
  watcher: RedisWatcher,
): RedisConnection {
  let client: RedisClient | undefined;
  let isAvailable = false;
  const closing = new AbortController();
  /** Those who wait for the connection. */
  const waiting = new Set<() => void>();
  /** Wakes the loop that connects and probes. */
  let wake: () => void = () => {};
  void run();

  /** Connects and probes until the connection is available, then sleeps until it is not. */
  async function run(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    let probes = 0;
    while (!closing.signal.aborted) {
      try {
        client ??= await open();
        await within(COMMAND_TIMEOUT_MS, client.send(probe.key, probe.args));
        if (closing.signal.aborted) break;
        isAvailable = true;
        pauseMs = FIRST_PAUSE_MS;
        probes = 0;
        watcher.available();
        for (const resolve of waiting) resolve();
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (!isAvailable) resolve();
        });
      } catch (error) {
        lose(error);
        probes += 1;
        if (probes >= PROBES_UNTIL_REOPENED) reopen();
        await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { signal: closing.signal }).catch(() => {});
        pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      }
    }
    reopen();
  }

  async function open(): Promise<RedisClient> {
    const { openRedisClient } = await import('./redis-client.ts');
    let opened: RedisClient | undefined;
    const opening = openRedisClient(urls, subscription, (error) => {
      if (client !== undefined && client !== opened) return;
      reopen();
      lose(error);
    });
    try {
      opened = await within(OPEN_TIMEOUT_MS, opening);
      return opened;
    } catch (error) {
      // One that connects later is not used.
      void opening.then(
        (late) => late.destroy(),
        () => {},
      );
      throw error;
    }
  }

  function reopen(): void {
    client?.destroy();
    client = undefined;
  }

  function lose(error: unknown): void {
    if (closing.signal.aborted) return;
    isAvailable = false;
    watcher.unavailable(error);
    wake();
  }

  return {
    isAvailable: () => isAvailable,
    async ready(maxWaitMs) {
      if (isAvailable) return true;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      await isSettledWithin(maxWaitMs, promise);
      waiting.delete(resolve);
      return isAvailable;
    },
    async send(key, args) {
      const used = client;
      if (!isAvailable || used === undefined) throw new RedisUnavailableError();
      try {
        return await within(COMMAND_TIMEOUT_MS, used.send(key, args));
      } catch (error) {
        if (closing.signal.aborted) throw new RedisUnavailableError(error);
        watcher.failed();
        if (used.isReply(error) && !OUTAGES.test((error as Error).message)) throw error;
        if (used === client) lose(error);
        throw new RedisUnavailableError(error);
      }
    },
    close() {
      isAvailable = false;
      closing.abort();
      wake();
      reopen();
    },
  };
}

/**
 * Waits at most for this time. When it is over, replies that have already arrived still count: the event loop of the
 * gateway may have been busy, and not Redis.
 */
function within<T>(timeoutMs: number, result: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => setImmediate(reject, new Error(`no reply within ${timeoutMs} ms`)));
    }, timeoutMs);
    result.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
