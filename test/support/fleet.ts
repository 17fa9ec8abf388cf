import { onTestFinished } from 'vitest';
import type { FleetStatus } from '../../src/fleet/fleet.ts';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { startGateway, startSandbox, type TestGateway, type TestGatewayOptions } from './gateway.ts';
import { linkServer, type RedisServer, type ServerLink } from './redis.ts';
import { until } from './until.ts';

/** A gateway of a fleet, with a connection to Redis of its own that can be slow or cut. */
export type Replica = TestGateway & {
  readonly link: ServerLink;
  status(): FleetStatus;
  close(): Promise<void>;
};

/** Starts a replica in front of a sandbox, which ends with the test. @param isCut whether it cannot reach Redis at first */
export async function startReplica(
  redis: RedisServer,
  {
    prefix,
    isCut = false,
    ...options
  }: TestGatewayOptions & { readonly prefix: string; readonly of: SandboxHosts; readonly isCut?: boolean },
): Promise<Replica> {
  const link = await linkServer(redis);
  if (isCut) link.cut();
  const config = { redisUrl: [link.url], ...options.config, redisPrefix: prefix };
  const gateway = await startGateway({ ...options, config });
  let closing: Promise<void> | undefined;
  async function closeOnce(): Promise<void> {
    await gateway.close();
    await link.close();
  }
  const close = () => {
    closing ??= closeOnce();
    return closing;
  };
  onTestFinished(close);
  const status = () => {
    const found = gateway.app.fleet?.status();
    if (found === undefined) throw new Error('the gateway is in no fleet');
    return found;
  };
  return { ...gateway, link, status, close };
}

/** Replicas in front of one sandbox. */
export type TestFleet = {
  readonly sandbox: SandboxHosts;
  readonly all: readonly Replica[];
  readonly first: Replica;
  readonly second: Replica;
  /** Waits until these replicas, and no others, read together, and each of them knows it. A replica looks once a second. */
  settled(replicas?: readonly Replica[]): Promise<void>;
  /** Makes blocks, and waits until all replicas serve the newest. */
  advance(blocks?: number): Promise<void>;
};

/** Starts replicas, and waits until they read together. */
export async function startFleet(
  redis: RedisServer,
  { replicas = 2, ...options }: TestGatewayOptions & { readonly prefix: string; readonly replicas?: number },
): Promise<TestFleet> {
  const sandbox = await startSandbox(options.sandbox);
  onTestFinished(sandbox.close);
  const all = await Promise.all(
    Array.from({ length: replicas }, () => startReplica(redis, { ...options, of: sandbox })),
  );
  const [first, second = all[0]] = all;
  if (first === undefined || second === undefined) throw new Error('a fleet without replicas');
  async function settled(some = all): Promise<void> {
    await until(() =>
      some.every((replica) => replica.status().isConnected && replica.status().replicas === some.length),
    );
    await Promise.all(some.map((replica) => replica.untilReady()));
  }
  await Promise.all(all.map(untilConnected));
  await Promise.all(all.map((replica) => replica.untilReady()));
  return {
    sandbox,
    all,
    first,
    second,
    settled,
    async advance(blocks = 1) {
      sandbox.advance(blocks);
      await Promise.all(all.map((replica) => replica.untilHeight(sandbox.chain.tip.height)));
    },
  };
}

/** How often replicas became alone so far. On a busy machine, Redis may not reply in time: then a replica reads for itself. */
export function timesAlone(replicas: readonly Pick<TestGateway, 'lines'>[]): number {
  return replicas.flatMap(({ lines }) => lines.filter(({ msg }) => msg.includes('alone'))).length;
}

/** Waits until a replica reads alone. */
export function untilAlone(replica: Replica): Promise<void> {
  return until(() => !replica.status().isConnected);
}

/** Waits until a replica reads together with others. */
export function untilConnected(replica: Replica): Promise<void> {
  return until(() => replica.status().isConnected);
}
