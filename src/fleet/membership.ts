import type { Instant } from '../domain/instant.ts';
import { isSettledWithin } from '../live/broadcast/wait-at-most.ts';
import type { RefusedMessageError } from './byte-reader.ts';
import type { Lease } from './lease.ts';
import type { Publisher } from './publisher.ts';
import type { Reader, Received, ReceivedValues } from './reader.ts';
import type { Redis } from './redis.ts';
import type { RedisClock } from './redis-clock.ts';
import { RedisUnavailableError } from './redis-connection.ts';
import type { SharedSources } from './shared-sources.ts';
import type { StreamName } from './streams.ts';
import { createUntilCurrent } from './until-current.ts';
import type { UpstreamStatus } from './upstream-status.ts';

/** What a gateway does in its fleet: it has just started, it leads, it follows the leader, or it cannot and reads the upstreams itself. */
export type Role = 'JOINING' | 'LEADER' | 'FOLLOWER' | 'ALONE';

/** How this gateway takes part in its fleet. */
export type MembershipStatus = {
  readonly role: Role;
  /** Since when it has the role. */
  readonly since: Instant;
  /** Since when the leader leads; `undefined` while none is known. */
  readonly leaderSince: Instant | undefined;
  /** The fencing number of the lease that it holds or follows; `undefined` while none is known. */
  readonly fence: number | undefined;
  /** How often the gateway became the leader. */
  readonly takeovers: number;
};

/** The role of this gateway, and all that changes it. */
export type Membership = {
  start(): void;
  role(): Role;
  status(): MembershipStatus;
  /**
   * Resolves when it is known whether the fleet follows the same chain, after a few seconds at most.
   *
   * @returns the name of the other chain; `undefined` if it is the same, or if that cannot be known now
   */
  otherChain(): Promise<string | undefined>;
  /**
   * Publishes a value that this gateway has read, if it leads.
   *
   * @returns the value, if it may be served here
   */
  share<T>(value: T, publish: () => Promise<boolean>): Promise<T | undefined>;
  /** Resolves when this gateway has received all heads that were published before the call, after two seconds at most. */
  untilCurrent(): Promise<void>;
  /** Whether this gateway writes the history for all: it leads, or is alone. */
  isRecorder(): boolean;
  /** Gives the lease back. The gateway serves what the next leader publishes until it has stopped. */
  leave(): Promise<void>;
  stop(): void;
};

/** Is notified when something about the fleet changes, once each time. */
export type FleetWatcher = {
  role(role: Role, before: Role): void;
  /** A message cannot be read, and the one before it could be. */
  refused(stream: StreamName, error: RefusedMessageError): void;
  /** Redis has the fleet of another chain. */
  otherChain(name: string): void;
  /** Redis has replied with an error that only an operator can resolve. */
  failed(error: unknown): void;
};

type MembershipOptions = {
  readonly redis: Redis;
  readonly lease: Lease;
  readonly clock: RedisClock;
  readonly reader: Reader;
  readonly publisher: Publisher;
  readonly shared: SharedSources;
  readonly leaseMs: number;
  readonly now: () => Instant;
  readonly watcher: FleetWatcher;
};

/** How long a gateway that starts waits for Redis. */
const START_MS = 500;

/** How long a gateway that starts waits until it knows that the fleet follows the same chain. */
const CHECK_MS = 3_000;

/** How long it waits for the name of its own chain. */
const CHAIN_MS = 2_000;

/** How long a read waits in Redis. */
const BLOCK_MS = 1_000;

/** The pause after an error of Redis. */
const PAUSE_MS = 100;

/** Creates the membership of a gateway. */
export function createMembership(options: MembershipOptions): Membership {
  const { redis, lease, clock, reader, publisher, shared, leaseMs, now, watcher } = options;
  const tickMs = leaseMs / 3;
  let role: Role = 'JOINING';
  let since = now();
  let takeovers = 0;
  let isStopped = false;
  let isLeaving = false;
  /** When this gateway became the leader, by the monotonic clock. */
  let ledSince = 0;
  let startedAt = 0;
  /** The last status that a leader has published. */
  let leaderStatus: Received<UpstreamStatus> | undefined;
  /** Whether everything in the streams was read, and reading goes on. */
  let isReading = false;
  /** The last head that was received from the streams; `undefined` until all that they had was received. */
  let receivedHead: string | undefined;
  /** Whether this gateway reads the streams to lead after that. */
  let isTakingOver = false;
  /** When the lease was first seen vacant. */
  let vacantSince: number | undefined;
  /** Until when another replica should lead. */
  let standsBackUntil = 0;
  let nextProbeAt = 0;
  /** The name of the chain that the nodes follow, once they were polled. */
  let chain: string | undefined;
  let otherChain: string | undefined;
  let isChecked = false;
  let wakeLoop: () => void = () => {};
  let wakeReader: () => void = () => {};
  const joined = Promise.withResolvers<void>();

  const isLeader = () => role === 'LEADER';

  function become(next: Role): void {
    if (isStopped) return;
    const before = role;
    role = next;
    if (next !== before) {
      since = now();
      if (next === 'LEADER') {
        takeovers += 1;
        ledSince = performance.now();
        isReading = false;
      }
      watcher.role(next, before);
      wakeReader();
    }
    shared.poll(next === 'LEADER' || next === 'ALONE');
  }

  /** A step of the fleet has failed. Without Redis, this gateway is alone. */
  function fail(error: unknown): void {
    if (isStopped) return;
    if (!(error instanceof RedisUnavailableError)) watcher.failed(error);
    become('ALONE');
  }

  // The loop that decides about the role.

  async function decide(): Promise<void> {
    await redis.ready(START_MS);
    while (!isStopped) {
      if (redis.isAvailable() && otherChain === undefined) await (isLeader() ? keepLease() : join()).catch(fail);
      else become('ALONE');
      const { promise: woken, resolve } = Promise.withResolvers<void>();
      wakeLoop = resolve;
      await isSettledWithin(tickMs, woken);
    }
  }

  /** Compares the chain of the nodes with that of the fleet, if both are known. */
  async function checkChain(): Promise<void> {
    const theirs = await lease.chainName();
    const isRead = chain !== undefined || (await probe(CHAIN_MS));
    isChecked = true;
    if (isRead && theirs !== undefined && theirs !== chain) refuseChain(theirs);
    joined.resolve();
  }

  /** Polls the nodes, and remembers the name of their chain. @returns whether one has responded */
  async function probe(withinMs: number): Promise<boolean> {
    const name = await shared.probe(withinMs);
    if (name === undefined) return false;
    chain ??= name;
    reader.setChain(chain);
    publisher.setChain(chain);
    return true;
  }

  const chainName = () => chain ?? shared.newest()?.chainInfo.chainName ?? '';

  function refuseChain(name: string): void {
    if (otherChain === undefined) watcher.otherChain(name);
    otherChain = name;
    become('ALONE');
  }

  async function keepLease(): Promise<void> {
    const { isHeld, challenger } = await lease.renew(chainName());
    if (!isHeld) return lose();
    if (shared.isFailing() && challenger !== undefined && challenger !== lease.id) {
      standsBackUntil = performance.now() + 2 * leaseMs;
      await release();
      return;
    }
    await clock.measure();
    await publisher.status(describe(false));
  }

  function describe(leaving: boolean): UpstreamStatus {
    const leadingMs = performance.now() - ledSince;
    return shared.describe({ lease: lease.held() ?? '', leadingMs, isLeaving: leaving });
  }

  /** Another replica has the lease, or it expired: this gateway follows, and does not serve what it has just read. */
  function lose(): void {
    become('FOLLOWER');
    wakeLoop();
  }

  async function release(): Promise<void> {
    await publisher.status(describe(true)).catch(() => {});
    become('FOLLOWER');
    await lease.release().catch(() => {});
  }

  async function join(): Promise<void> {
    if (!isChecked) await checkChain();
    if (otherChain !== undefined) return;
    const holder = await lease.holder();
    if (holder === undefined) return takeLease();
    if (holder === lease.held()) return lead();
    vacantSince = undefined;
    if (isFailing() && (await canReadNodes())) await lease.challenge();
    if (canFollow()) become('FOLLOWER');
    else if (mustBeAlone()) become('ALONE');
  }

  /** A leader that has just taken the lease needs a moment to publish something. */
  function mustBeAlone(): boolean {
    if (role === 'FOLLOWER') return isReading;
    return role === 'ALONE' || !reader.isReadable() || performance.now() - startedAt > leaseMs;
  }

  /** Whether the leader can be read and has published something recently. A gateway that is alone waits until it would not serve a lower height. */
  function canFollow(): boolean {
    if (!isReading || !reader.isReadable() || leaderStatus === undefined) return false;
    if (performance.now() - leaderStatus.publishedAt > 2 * leaseMs) return false;
    return role !== 'ALONE' || (shared.publishedHeight() ?? 0) >= (shared.newest()?.beaconHeight ?? 0);
  }

  /** Whether the leader cannot read the nodes. */
  function isFailing(): boolean {
    return leaderStatus?.value.failures.head !== undefined;
  }

  /** Whether this gateway can read the nodes: it knows if it is alone, else it polls them once in a while. */
  async function canReadNodes(): Promise<boolean> {
    if (performance.now() < standsBackUntil) return false;
    if (role === 'ALONE') return !shared.isFailing() && shared.newest() !== undefined;
    if (performance.now() < nextProbeAt) return false;
    nextProbeAt = performance.now() + leaseMs * (1 + Math.random());
    return probe(leaseMs);
  }

  /** Takes the vacant lease. A gateway that cannot read the nodes leaves it to others for the time of one lease. */
  async function takeLease(): Promise<void> {
    if (isLeaving) return;
    vacantSince ??= performance.now();
    const isOverdue = performance.now() - vacantSince > leaseMs && performance.now() > standsBackUntil;
    nextProbeAt = 0;
    if (!(await canReadNodes()) && !isOverdue) return;
    const { isAcquired, otherChain: theirs } = await lease.acquire(chainName());
    if (theirs !== undefined) return refuseChain(theirs);
    if (isAcquired) await lead();
  }

  /** Leads with the lease of this gateway, from what the leader before has published. */
  async function lead(): Promise<void> {
    vacantSince = undefined;
    isTakingOver = true;
    isReading = false;
    try {
      await clock.measure();
      const values = await reader.readAll();
      await receive(values);
      receivedHead = reader.lastHead();
      shared.poll(false);
      if (!(await shared.publishAll(values.heads.at(-1)?.value.beaconHeight))) return lose();
      become('LEADER');
    } finally {
      isTakingOver = false;
      wakeReader();
    }
    // A failure that is known now can be that of the leader before. The first renewal reports what this gateway finds itself.
    if (!shared.isFailing()) await publisher.status(describe(false));
  }

  // The loop that reads the streams.

  async function read(): Promise<void> {
    while (!isStopped) {
      if (isLeader() || isTakingOver || !redis.isAvailable() || otherChain !== undefined) {
        isReading = false;
        await new Promise<void>((resolve) => {
          wakeReader = resolve;
        });
        continue;
      }
      try {
        const wasReading = isReading;
        if (!wasReading) await clock.measure();
        const values = await (wasReading ? reader.readNext(BLOCK_MS) : reader.readAll());
        // Meanwhile this gateway may have read the streams to lead.
        if (isLeader() || isTakingOver || isReading !== wasReading) continue;
        await receive(values);
        receivedHead = reader.lastHead();
        if (wasReading) continue;
        isReading = true;
        wakeLoop();
      } catch (error) {
        isReading = false;
        if (role === 'FOLLOWER') fail(error);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  async function receive(values: ReceivedValues): Promise<void> {
    if (isStopped) return;
    const couldFollow = canFollow();
    const { status } = values;
    leaderStatus = status ?? leaderStatus;
    await shared.receive(values);
    if (status?.value.isLeaving || canFollow() !== couldFollow) wakeLoop();
  }

  // The wait of subscribers who resume.

  const untilCurrent = createUntilCurrent({
    redis,
    lease,
    isLeader,
    receivedHead: () => (isReading ? receivedHead : undefined),
    isApart,
    onLost: () => wakeLoop(),
  });

  /** Whether this gateway cannot receive heads now. One that has just started waits for Redis first. */
  function isApart(): boolean {
    const hasWaited = receivedHead !== undefined || performance.now() - startedAt > CHECK_MS;
    return isStopped || otherChain !== undefined || (!redis.isAvailable() && hasWaited);
  }

  redis.onChange(() => {
    wakeReader();
    wakeLoop();
  });

  return {
    start() {
      startedAt = performance.now();
      void decide();
      void read();
    },
    role: () => role,
    status: () => ({
      role,
      since,
      leaderSince: leaderSince(),
      fence: fenceOf(role === 'LEADER' ? lease.held() : leaderStatus?.value.lease),
      takeovers,
    }),
    async otherChain() {
      await isSettledWithin(CHECK_MS, joined.promise);
      return otherChain;
    },
    async share(value, publish) {
      if (role !== 'LEADER') return value;
      try {
        if (await publish()) return value;
        lose();
        return undefined;
      } catch (error) {
        fail(error);
        return value;
      }
    },
    untilCurrent,
    isRecorder: () => isLeader() || role === 'ALONE',
    async leave() {
      isLeaving = true;
      if (role === 'LEADER') await release();
    },
    stop() {
      isStopped = true;
      wakeReader();
      wakeLoop();
    },
  };

  function leaderSince(): Instant | undefined {
    if (role === 'LEADER') return now() - (performance.now() - ledSince);
    if (role !== 'FOLLOWER' || leaderStatus === undefined) return undefined;
    return now() - leaderStatus.value.leadingMs - (performance.now() - leaderStatus.publishedAt);
  }
}

/** The fencing number in the value of a lease. */
function fenceOf(value: string | undefined): number | undefined {
  const fence = Number.parseInt(value ?? '', 10);
  return Number.isSafeInteger(fence) ? fence : undefined;
}
