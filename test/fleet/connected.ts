import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, onTestFinished } from 'vitest';
import { createRedis, type Redis, RedisUnavailableError } from '../../src/fleet/redis.ts';
import type { FleetWatcher } from '../../src/fleet/values.ts';
import { type RedisServer, type ServerLink, startRedis } from '../support/redis.ts';

/** Starts redis-server for all tests of a `describe`. What is returned is empty until they run. */
export function startRedisForTests(): RedisServer {
  const shared = {} as RedisServer;
  beforeAll(async () => {
    const server = Object.assign(shared, await startRedis());
    return server.close;
  });
  return shared;
}

/** Connects for one test, and waits until Redis can be used. */
export async function connectForTest({ url }: Pick<RedisServer | ServerLink, 'url'>, prefix = 'test'): Promise<Redis> {
  const redis = createRedis({ urls: [url], prefix });
  onTestFinished(redis.close);
  if (!(await redis.ready(60_000))) throw new Error('Redis did not become available');
  return redis;
}

/** The same for a test that is not about a slow Redis: on a busy machine, a command is sent again. */
export async function connectPatiently(server: Pick<RedisServer, 'url'>): Promise<Redis> {
  const redis = await connectForTest(server);
  return {
    ...redis,
    isAvailable: () => true,
    command: (...command) => patiently(redis, () => redis.command(...command)),
    run: (...script) => patiently(redis, () => redis.run(...script)),
  };
}

/** Sends something again until Redis was available for it. */
export async function patiently<T>(redis: Redis, send: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof RedisUnavailableError)) throw error;
      await redis.ready(1_000);
    }
  }
}

/** Reads something until Redis has it: a replica that was paused has lost the lock of a read. */
export async function readUntil(isStored: () => Promise<boolean>, read: () => Promise<unknown>): Promise<void> {
  while (!(await isStored())) {
    await read();
    for (let looks = 0; looks < 100 && !(await isStored()); looks++) await sleep(5);
  }
}

/** Whether Redis has a key. To start `redis-cli` for each look takes much longer. */
export async function hasKey(redis: Redis, key: string): Promise<boolean> {
  return (await redis.command(key, 'EXISTS', key)) === 1;
}

/** A watcher that keeps how the reads went, in order, and what was damaged. */
export function keptOutcomes(): FleetWatcher & { readonly outcomes: string[]; readonly damages: string[] } {
  const outcomes: string[] = [];
  const damages: string[] = [];
  return {
    outcomes,
    damages,
    ended: (_kind, outcome) => void outcomes.push(outcome),
    damaged: (kind) => void damages.push(kind),
    waited() {},
    moved() {},
  };
}
