import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { freePort } from '../../test/support/ports.ts';
import { linkServer, type RedisServer, type ServerLink, startRedis } from '../../test/support/redis.ts';
import { type GatewayListener, type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';
import type { Routes } from '../routes.ts';

/** One gateway of the fleet, with connections of its own to Redis and to the nodes. */
export type Replica = {
  readonly name: string;
  /** Its GraphQL endpoint, also after a restart. */
  readonly url: URL;
  readonly redisLink: ServerLink;
  readonly nodeLinks: readonly ServerLink[];
  process(): GatewayProcess;
  /** Whether a load balancer sends requests to it. */
  isUp(): boolean;
  kill(): Promise<void>;
  restart(): Promise<void>;
  pause(): void;
  resume(): void;
  /** The number of gateways in the fleet, as it sees it; `undefined` if it does not respond in time. */
  count(): Promise<number | undefined>;
};

/** Several gateways on one Redis. */
export type Fleet = {
  /** The Redis that the gateways use now. */
  redis(): RedisServer;
  /** Starts another Redis without keys in the place of the one before, as after a failover: its port can be taken meanwhile. */
  restartRedis(): Promise<void>;
  readonly replicas: readonly Replica[];
  readonly routes: Routes;
  /** Stops all gateways with SIGTERM. @returns their exit codes, or what went wrong */
  stop(): Promise<readonly (number | string)[]>;
  close(): Promise<void>;
};

/** How long a load balancer needs to see that a gateway does not respond. */
const NOTICED_MS = 1_000;

/** How long a response is waited for. */
const RESPONSE_MS = 1_000;

/** How long after a gateway was killed its requests can fail. */
const LOST_MS = 2_000;

/** One client of three does not name a minimum height. */
const CLIENTS_WITHOUT_MINIMUM = 3;

/** Starts Redis and so many gateways. */
export async function startFleet(sandbox: SandboxHosts, count: number, listener: GatewayListener): Promise<Fleet> {
  let redis = await startRedis();
  const replicas = await Promise.all(
    Array.from({ length: count }, (_, index) => startReplica(`gateway ${index + 1}`, { sandbox, redis, listener })),
  );
  let turn = 0;

  return {
    redis: () => redis,
    async restartRedis() {
      await redis.close();
      redis = await startRedis();
      for (const { replica } of replicas) replica.redisLink.lead(redis);
    },
    replicas: replicas.map(({ replica }) => replica),
    routes: {
      next() {
        const up = replicas.filter(({ replica }) => replica.isUp());
        turn += 1;
        return (up[turn % up.length] ?? replicas[turn % count] ?? replicas[0])?.replica.url as URL;
      },
      namesMinimum: (client) => Number(client.replace(/\D+/g, '')) % CLIENTS_WITHOUT_MINIMUM !== 0,
      explainsLoss: (url, since) => replicas.some(({ replica, wasLost }) => replica.url === url && wasLost(since)),
    },
    stop: () => Promise.all(replicas.map(({ replica }) => replica.process().stop())),
    async close() {
      const links = replicas.flatMap(({ replica: { redisLink, nodeLinks } }) => [redisLink, ...nodeLinks]);
      await Promise.all(links.map((link) => link.close()));
      await redis.close();
    },
  };
}

type ReplicaOptions = {
  readonly sandbox: SandboxHosts;
  readonly redis: RedisServer;
  readonly listener: GatewayListener;
};

async function startReplica(name: string, { sandbox, redis, listener }: ReplicaOptions) {
  const redisLink = await linkServer(redis);
  const linkTo = (urls: readonly string[]) => Promise.all(urls.map((url) => linkServer({ port: portOf(url) })));
  const [calls, pushes] = [await linkTo(sandbox.nodeUrls), await linkTo(sandbox.pushUrls)];
  const port = await freePort();
  const settings = {
    PORT: String(port),
    REDIS_URL: String(redisLink.url),
    FULLNODE_URL: calls.map(({ url }) => `http://${url.host}`).join(),
    FULLNODE_WS_URL: pushes.map(({ url }) => `ws://${url.host}`).join(),
    // Replicas share a history only in PostgreSQL.
    HISTORY_DATABASE: 'off',
  };
  const start = () => startGatewayProcess(sandbox, listener, settings);
  let gateway = await start();
  let killedAt = Number.NEGATIVE_INFINITY;
  let isKilled = false;
  let pausedAt: number | undefined;

  const replica: Replica = {
    name,
    url: gateway.url,
    redisLink,
    nodeLinks: [...calls, ...pushes],
    process: () => gateway,
    isUp: () => !isKilled && (pausedAt === undefined || performance.now() - pausedAt < NOTICED_MS),
    async kill() {
      isKilled = true;
      killedAt = performance.now();
      await gateway.kill();
    },
    async restart() {
      gateway = await start();
      isKilled = false;
    },
    pause() {
      pausedAt = performance.now();
      gateway.pause();
    },
    resume() {
      gateway.resume();
      pausedAt = undefined;
    },
    async count() {
      if (isKilled || pausedAt !== undefined) return undefined;
      try {
        const response = await fetch(new URL('/ready', gateway.url), { signal: AbortSignal.timeout(RESPONSE_MS) });
        return (await response.json()).replicas;
      } catch {
        return undefined;
      }
    },
  };
  return { replica, wasLost: (since: number) => isKilled || killedAt > since - LOST_MS };
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
