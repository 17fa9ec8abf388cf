import { createHash } from 'node:crypto';
import type { RedisArgument } from '@redis/client';
import type { RedisReply } from './redis-client.ts';
import { createRedisConnection, type RedisConnection, type RedisWatcher } from './redis-connection.ts';

/** Redis, as the parts of the fleet use it. Values are binary: texts of replies are `Buffer`. */
export type Redis = Pick<RedisConnection, 'isAvailable' | 'ready' | 'close'> & {
  /** Calls a function whenever `isAvailable` has changed. */
  onChange(listener: () => void): void;
  /**
   * The key of something that belongs to the fleet as a whole. All these keys are in one slot of a cluster, so that a script
   * can use several of them.
   */
  fleetKey(name: string): string;
  /** The key of one of many things of a kind, such as the account of a client. A cluster spreads them. */
  key(kind: string, id: string): string;
  /**
   * Sends a command, such as `command(key, 'GET', key)`. One that takes longer than 500 ms has failed.
   *
   * @param key the key that the command uses, which decides about the server of a cluster
   * @throws RedisUnavailableError, or the error of a reply
   */
  command(key: string, ...args: readonly RedisArgument[]): Promise<RedisReply>;
  /** Runs a script with `EVALSHA`, and with `EVAL` where Redis does not know it. @throws as `command` */
  run(script: RedisScript, keys: readonly [string, ...string[]], args: readonly RedisArgument[]): Promise<RedisReply>;
  /** The channel on which the replicas of the fleet send each other messages. */
  readonly channel: string;
  /** Calls a function with each message of the channel, also with those of this gateway. */
  onMessage(listener: (message: string) => void): void;
  /** How many commands have failed, also because Redis was not available. */
  errors(): number;
};

/** A script in Lua, which Redis runs as one step. */
type RedisScript = { readonly text: string; readonly sha: string };

/** Creates a script. */
export function createScript(text: string): RedisScript {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** The elements of a reply that is a list; none of another reply. */
export function listOf(reply: RedisReply | undefined): readonly RedisReply[] {
  return Array.isArray(reply) ? reply : [];
}

type RedisOptions = {
  readonly urls: readonly URL[];
  /** What the keys of the fleet start with. */
  readonly prefix: string;
  /** Is notified once when Redis can be used, and once when it no longer can. */
  readonly watcher?: Omit<RedisWatcher, 'failed'> | undefined;
};

/** How long a probe is in Redis. */
const PROBE_MS = 1_000;

/** Connects to Redis, and connects again whenever that is lost. It is not available before that has succeeded. */
export function createRedis({ urls, prefix, watcher }: RedisOptions): Redis {
  const listeners = new Set<() => void>();
  const messageListeners = new Set<(message: string) => void>();
  let errors = 0;
  let wasAvailable: boolean | undefined;

  function changed(isAvailable: boolean, error?: unknown): void {
    if (isAvailable === wasAvailable) return;
    wasAvailable = isAvailable;
    if (isAvailable) watcher?.available();
    else watcher?.unavailable(error);
    for (const listener of listeners) listener();
  }

  const failed = () => {
    errors += 1;
  };
  const probeKey = `{${prefix}}:probe`;
  const probe = { key: probeKey, args: ['SET', probeKey, '1', 'PX', String(PROBE_MS)] };
  const subscription = {
    channel: `${prefix}:bell`,
    onMessage(message: string) {
      for (const listener of messageListeners) listener(message);
    },
  };
  const commands = createRedisConnection(urls, probe, subscription, {
    available: () => changed(true),
    unavailable: (error) => changed(false, error),
    failed,
  });

  return {
    isAvailable: commands.isAvailable,
    onChange: (listener) => void listeners.add(listener),
    ready: commands.ready,
    fleetKey: (name) => `{${prefix}}:${name}`,
    key: (kind, id) => `${prefix}:${kind}:${id}`,
    command: (key, ...args) => commands.send(key, args),
    async run({ text, sha }, keys, args) {
      const rest = [String(keys.length), ...keys, ...args];
      try {
        return await commands.send(keys[0], ['EVALSHA', sha, ...rest]);
      } catch (error) {
        if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
        errors -= 1;
        return commands.send(keys[0], ['EVAL', text, ...rest]);
      }
    },
    channel: subscription.channel,
    onMessage: (listener) => void messageListeners.add(listener),
    errors: () => errors,
    close: commands.close,
  };
}
