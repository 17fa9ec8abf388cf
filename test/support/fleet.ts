import { onTestFinished } from 'vitest';
import type { Role } from '../../src/fleet/membership.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { startGateway, startSandbox, type TestGateway, type TestGatewayOptions } from './gateway.ts';
import { linkRedis, type RedisLink, type RedisServer } from './redis.ts';
import { until } from './until.ts';

/** The lease in tests, which a leader keeps also on a busy machine. A test that waits for several times of a lease sets a shorter one. */
const TEST_LEASE_MS = 10_000;

/** A gateway of a fleet, with a connection to Redis of its own that can be slow or cut. */
export type Replica = TestGateway & {
  readonly link: RedisLink;
  role(): Role;
  close(): Promise<void>;
};

/** Starts a replica in front of a sandbox, which ends with the test. @param isCut whether it cannot reach Redis at first */
export async function startReplica(
  redis: RedisServer,
  {
    prefix,
    isCut = false,
    ...options
  }: TestGatewayOptions & { readonly prefix: string; readonly of: Sandbox; readonly isCut?: boolean },
): Promise<Replica> {
  const link = await linkRedis(redis);
  if (isCut) link.cut();
  const config = { redisUrl: [link.url], ...options.config, redisPrefix: prefix };
  const gateway = await startGateway({ leaseMs: TEST_LEASE_MS, ...options, config });
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
  const role = () => {
    const status = gateway.app.fleet?.status();
    if (status === undefined) throw new Error('the gateway is in no fleet');
    return status.role;
  };
  return { ...gateway, link, role, close };
}

/** Replicas in front of one sandbox, of which one leads. */
export type TestFleet = {
  readonly sandbox: Sandbox;
  readonly all: readonly Replica[];
  leader(): Replica;
  followers(): readonly Replica[];
  /** Waits until one of these leads and the others follow it. */
  settled(replicas?: readonly Replica[]): Promise<void>;
  /** Makes blocks, and waits until all replicas serve the newest. */
  advance(blocks?: number): Promise<void>;
};

/** Starts replicas, and waits until one of them leads and the others follow. */
export async function startFleet(
  redis: RedisServer,
  { replicas = 2, ...options }: TestGatewayOptions & { readonly prefix: string; readonly replicas?: number },
): Promise<TestFleet> {
  const sandbox = await startSandbox(options.sandbox);
  onTestFinished(sandbox.close);
  const all = await Promise.all(
    Array.from({ length: replicas }, () => startReplica(redis, { ...options, of: sandbox })),
  );
  const leader = () => {
    const found = all.find((replica) => replica.role() === 'LEADER');
    if (found === undefined) throw new Error('nobody leads');
    return found;
  };
  async function settled(some = all): Promise<void> {
    const isSettled = () => {
      const roles = some.map((replica) => replica.role());
      return (
        roles.filter((role) => role === 'LEADER').length === 1 &&
        !roles.some((role) => role !== 'LEADER' && role !== 'FOLLOWER')
      );
    };
    await until(isSettled);
    await Promise.all(some.map((replica) => replica.untilReady()));
  }
  await settled();
  return {
    sandbox,
    all,
    leader,
    followers: () => all.filter((replica) => replica.role() === 'FOLLOWER'),
    settled,
    async advance(blocks = 1) {
      sandbox.advance(blocks);
      await Promise.all(all.map((replica) => replica.untilHeight(sandbox.chain.tip.height)));
    },
  };
}

/** Waits until a replica has a role. */
export function untilRole(replica: Replica, role: Role): Promise<void> {
  return until(() => replica.role() === role);
}
