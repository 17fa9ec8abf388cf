import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisArgument } from '@redis/client';
import type { RedisClient, RedisReply } from './redis-client.ts';

/** Redis cannot be used now: it is not connected, did not reply in time, or cannot write. */
export class RedisUnavailableError extends Error {
  constructor(cause?: unknown) {
    super('Redis cannot be used now', cause === undefined ? undefined : { cause });
    this.name = 'RedisUnavailableError';
  }
}

/** Redis, as the parts of the fleet use it. Values are binary: texts of replies are `Buffer`. */
export type Redis = ReturnType<typeof createRedis>;

/** The elements of a reply that is a list; none of another reply. */
export function listOf(reply: RedisReply | undefined): readonly RedisReply[] {
  return Array.isArray(reply) ? reply : [];
}

/**
 * Is notified when Redis is available for the first time, and of each failure of the connection. After that, it is notified that
 * Redis is available when this has lasted for ten seconds.
 */
export type RedisWatcher = { available(): void; unavailable(error: unknown): void };

type RedisOptions = {
  readonly urls: readonly URL[];
  /** What the keys of the fleet start with. */
  readonly prefix: string;
  readonly watcher?: RedisWatcher | undefined;
  /** For how long Redis must be available until an outage is over. */
  readonly stableMs?: number;
};

/** A command that takes longer counts as failed. */
const COMMAND_TIMEOUT_MS = 500;

/** From one attempt to connect, or probe, to the next. It is doubled until the maximum. */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

/** An outage is over when Redis was available for so long. Until then, each pause is longer: commands can fail although probes succeed. */
const STABLE_MS = 10_000;

/** Number of probes without a reply after which the connection is opened again. */
const PROBES_UNTIL_REOPENED = 3;

/** How long a client may take to connect, with the discovery of a cluster. */
const OPEN_TIMEOUT_MS = 5_000;

/** Replies that mean that Redis cannot be used, and not that a command is wrong. */
const OUTAGES =
  /^(READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|OOM|NOAUTH|WRONGPASS|NOPERM|ERR max number of clients|ERR unknown command)/;

/** Replies to a script with a command that the user may not send, of Redis 7.2 and of 7.0. */
const REFUSED_IN_SCRIPT = /^ERR (ACL failure in script|The user executing the script can't)/;

/** Connects to Redis, and connects again whenever that is lost. It is not available before that has succeeded. */
export function createRedis({ urls, prefix, watcher, stableMs = STABLE_MS }: RedisOptions) {
  const channel = `${prefix}:bell`;
  const probeKey = `{${prefix}}:probe`;
  const closing = new AbortController();
  const events = new EventEmitter<{ change: []; message: [text: string] }>().setMaxListeners(0);
  let client: RedisClient | undefined;
  /** `undefined` until it was first known. */
  let isAvailable: boolean | undefined;
  const isUsable = () => isAvailable === true;
  /** Redis has failed, and was not available for long since then. */
  let isOutage = false;
  let errors = 0;
  /** Wakes the loop that connects and probes. */
  let wake: () => void = () => {};
  void run();

  /** Connects and probes until Redis is available, then sleeps until it is not. */
  async function run(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    let probes = 0;
    while (!closing.signal.aborted) {
      try {
        const opened = client ?? (await open());
        // A command that writes: a server that is read-only or full is not available either.
        await within(COMMAND_TIMEOUT_MS, opened.send(probeKey, ['SET', probeKey, '1', 'PX', '1000']));
        if (closing.signal.aborted) break;
        probes = 0;
        const lost = Promise.withResolvers<void>();
        wake = lost.resolve;
        change(true);
        const stable = setTimeout(() => {
          pauseMs = 0;
          if (isOutage) watcher?.available();
          isOutage = false;
        }, stableMs);
        await lost.promise;
        clearTimeout(stable);
      } catch (error) {
        lose(error);
        probes += 1;
        if (probes >= PROBES_UNTIL_REOPENED) reopen();
      }
      await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { signal: closing.signal }).catch(() => {});
      pauseMs = Math.max(FIRST_PAUSE_MS, Math.min(2 * pauseMs, MAX_PAUSE_MS));
    }
    reopen();
  }

  /** Connects `client`. In the meantime, it is not used, and `reopen` and `close` end the attempt. */
  async function open(): Promise<RedisClient> {
    const { createRedisClient } = await import('./redis-client.ts');
    closing.signal.throwIfAborted();
    const onMessage = (message: string) => void events.emit('message', message);
    const opened = createRedisClient(urls, { channel, onMessage }, (error) => {
      if (client !== opened) return;
      reopen();
      lose(error);
    });
    client = opened;
    const connecting = opened.connect();
    try {
      await within(OPEN_TIMEOUT_MS, connecting);
      closing.signal.throwIfAborted();
      return opened;
    } catch (error) {
      client = undefined;
      opened.destroy();
      // Also one that connects although it was destroyed.
      void connecting.catch(() => {}).then(opened.destroy);
      throw error;
    }
  }

  function reopen(): void {
    client?.destroy();
    client = undefined;
  }

  function change(isNow: boolean): void {
    if (isNow === isAvailable) return;
    isAvailable = isNow;
    if (!isNow) isOutage = true;
    else if (!isOutage) watcher?.available();
    events.emit('change');
  }

  function lose(error: unknown): void {
    if (closing.signal.aborted) return;
    watcher?.unavailable(error);
    change(false);
    wake();
  }

  async function send(key: string, args: readonly RedisArgument[]): Promise<RedisReply> {
    const used = client;
    if (!isUsable() || used === undefined) throw new RedisUnavailableError();
    try {
      return await within(COMMAND_TIMEOUT_MS, used.send(key, args));
    } catch (error) {
      if (closing.signal.aborted) throw new RedisUnavailableError(error);
      errors += 1;
      const { message } = error as Error;
      if (used.isReply(error) && !OUTAGES.test(message) && !REFUSED_IN_SCRIPT.test(message)) throw error;
      if (used === client) lose(error);
      throw new RedisUnavailableError(error);
    }
  }

  return {
    /**
     * Whether Redis can be used now. After a command that failed, it cannot until a probe succeeds: each command fails at once
     * with RedisUnavailableError, and nothing is queued.
     */
    isAvailable: isUsable,
    /** Resolves when Redis is available, or when the time is over. @returns whether it is available */
    async ready(maxWaitMs: number): Promise<boolean> {
      const signal = AbortSignal.timeout(maxWaitMs);
      while (!isUsable() && !signal.aborted) await once(events, 'change', { signal }).catch(() => {});
      return isUsable();
    },
    /** Calls a function whenever `isAvailable` has changed. */
    onChange: (listener: () => void) => void events.on('change', listener),
    /**
     * The key of something that belongs to the fleet as a whole. All these keys are in one slot of a cluster, so that a script
     * can use several of them.
     */
    fleetKey: (name: string) => `{${prefix}}:${name}`,
    /** The key of one of many things of a kind, such as a state. A cluster spreads them. */
    key: (kind: string, id: string) => `${prefix}:${kind}:${id}`,
    /**
     * Sends a command, such as `command(key, 'GET', key)`. One that takes longer than 500 ms has failed.
     *
     * @param key the key that the command uses, which decides about the server of a cluster
     * @throws RedisUnavailableError at once while Redis is not available, and when it becomes so; the error of a reply such as
     *   `WRONGTYPE`
     */
    command: (key: string, ...args: readonly RedisArgument[]) => send(key, args),
    /** Runs a script in Lua, which Redis runs as one step. @throws as `command` */
    run: (script: string, keys: readonly [string, ...string[]], args: readonly RedisArgument[]) =>
      send(keys[0], ['EVAL', script, String(keys.length), ...keys, ...args]),
    /** The channel on which the replicas of the fleet send each other messages. */
    channel,
    /** Calls a function with each message of the channel, also with those of this gateway. */
    onMessage: (listener: (message: string) => void) => void events.on('message', listener),
    /** How many commands have failed. Those that were not sent, because Redis is not available, do not count. */
    errors: () => errors,
    close(): void {
      isAvailable = false;
      closing.abort();
      wake();
      reopen();
    },
  };
}

/** The monotonic clock of this gateway, and that of Redis. */
export type RedisClock = ReturnType<typeof createRedisClock>;

/** Creates the clocks. Nothing is known of that of Redis yet. The clocks of two replicas may differ by minutes. */
export function createRedisClock() {
  let offset = 0;
  return {
    /** Is called with the time of Redis when a reply has come. */
    observe(redisNow: number): void {
      offset = redisNow - performance.now();
    },
    /** A moment of `performance.now()` by the clock of Redis. */
    toRedis: (localMs: number) => localMs + offset,
    /** A moment of Redis by `performance.now()`, never in the future. */
    toLocal: (redisMs: number) => Math.min(performance.now(), redisMs - offset),
  };
}

/**
 * Waits at most for this time. When it is over, replies that have already arrived still count: the event loop of the
 * gateway may have been busy, and not Redis.
 */
function within<T>(timeoutMs: number, result: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => setImmediate(() => setImmediate(reject, new Error(`no reply within ${timeoutMs} ms`)));
    const timer = setTimeout(fail, timeoutMs);
    result.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
