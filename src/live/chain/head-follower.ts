import { type BeaconHeight, newestFinal } from '../../domain/beacon-height.ts';
import { isReplacedBy, UNKNOWN_HASH } from '../../domain/chain.ts';
import { type ExchangeState, isUnchanged } from '../../domain/exchange.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { Subscribe } from '../broadcast/broadcast.ts';
import { createFollower, type Watcher } from '../broadcast/follower.ts';
import type { FleetPoll } from '../fleet-port.ts';
import type { ExchangeVersions } from './exchange-versions.ts';
import { type Head, isSameBlock } from './head.ts';
import { createBlockInterval, createHeadProblems, type HeadProblem, type TipWatcher } from './head-problems.ts';
import type { Attempt } from './hedge.ts';
import type { Node } from './node.ts';
import { candidates, headToKeep, pollTips } from './node-choice.ts';
import { isWell } from './node-record.ts';
import type { Nodes, NodeTip } from './nodes.ts';
import { createPollSchedule } from './poll-schedule.ts';
import type { PoolCounts } from './pool-counts.ts';
import { headsAfter, type RecentHeads } from './recent-heads.ts';

/** Follows the tip of the chain. The heights that it publishes never go back. */
export type HeadFollower = ReturnType<typeof createHeadFollower>;

type HeadFollowerOptions = {
  readonly nodes: Nodes;
  readonly versions: ExchangeVersions;
  readonly pollMs: number;
  /** How long one response of a node may take, and how long a client waits for the first head. */
  readonly timeoutMs: number;
  /** How old the newest block may become before the head is stale, by the time at which it was made. */
  readonly maxBlockAgeMs: number;
  readonly poolCounts: PoolCounts;
  /** Remembers the newest heads, for subscribers who come back. */
  readonly recent: RecentHeads;
  readonly now: () => Instant;
  readonly watcher: HeadWatcher;
  readonly tracing?: Tracing | undefined;
  /** Polls the nodes together with the other gateways of a fleet. */
  readonly fleetPoll?: FleetPoll<Head> | undefined;
};

/** Is also notified of each head that is published. */
export type HeadWatcher = Watcher & TipWatcher & { published?(head: Head): void };

/** The time for one head, in upstream timeouts: its tip and its state are read by several calls, one after another. */
const TIMEOUTS_FOR_A_HEAD = 4;

/** Starts to follow the chain of these nodes. */
export function createHeadFollower(options: HeadFollowerOptions) {
  const { nodes, versions, pollMs, timeoutMs, maxBlockAgeMs, poolCounts, recent, now, watcher, tracing, fleetPoll } =
    options;
  const interval = createBlockInterval(now);
  const schedule = createPollSchedule(pollMs);
  const problems = createHeadProblems({ interval, maxBlockAgeMs, now, watcher });

  /** Polls the tips, chooses the node, and reads its block. @returns the previous head if there is no other block */
  async function read(previous: Head | undefined): Promise<Head> {
    const tips = await pollTips(nodes, previous);
    await versions.lookForV3(
      tips.map(({ node, tip: { beacon } }) => ({
        height: beacon.height,
        hasV3: (maxCalls) => node.hasV3(beacon.height, maxCalls),
      })),
    );
    const highest = Math.max(...tips.map(({ tip }) => tip.beacon.height));
    if (previous !== undefined) problems.polled(highest, previous.beaconHeight);

    const called: Node[] = [];
    function attemptOf(shown: readonly NodeTip[]): Attempt<Head> | undefined {
      const candidate = candidates(shown, previous, timeoutMs).find(({ node }) => !called.includes(node));
      if (candidate === undefined) return undefined;
      called.push(candidate.node);
      return (signal) => readHead(candidate, previous, signal);
    }

    let upcoming = attemptOf(tips);
    if (upcoming === undefined) return headToKeep(tips, previous);

    /** Another node is tried after a failure or a delay: by then, other nodes may show the block, or a later one. */
    async function nextAttempt(): Promise<Attempt<Head> | undefined> {
      const attempt = upcoming ?? attemptOf(await nodes.poll(previous?.source).catch(() => []));
      upcoming = undefined;
      return attempt;
    }

    const head = await nodes.firstSuccess(nextAttempt, TIMEOUTS_FOR_A_HEAD).catch((error) => {
      // A node that shows a higher tip and cannot be read does not make the others stale: they are as far as the head.
      if (previous === undefined || !tips.some(({ node }) => isWell(node.record().newBlocks))) throw error;
      return previous;
    });
    if (previous !== undefined && isSameBlock(head, previous)) return previous;

    for (const overtaken of called.slice(0, called.indexOf(head.source))) overtaken.overtaken('newBlocks');
    return head;
  }

  async function readHead({ node, tip }: NodeTip, previous: Head | undefined, signal: AbortSignal): Promise<Head> {
    const { chainInfo, exchange, previousHash } = await node.readBlock(tip, signal);
    const { height: beaconHeight, hash, time } = chainInfo.beacon;
    const previousHeight = previous?.beaconHeight;
    const traceparent = tracing?.current();
    const observedAt = now();
    const block = { beaconHeight, previousHeight, hash, previousHash, time, chainInfo, exchange };
    return { ...block, source: node, observedAt, traceparent };
  }

  const follower = createFollower<Head>({
    async read(previous) {
      if (fleetPoll === undefined) return read(previous);
      const [idleMs, pushed] = [schedule.usualMs(), schedule.awaited()];
      return fleetPoll.poll({ previous, remembered: recent.all(), remember: recent.fill, idleMs, pushed, read });
    },
    intervalMs(isFailing) {
      const intervalMs = schedule.intervalMs(isFailing);
      return fleetPoll?.intervalMs(intervalMs) ?? intervalMs;
    },
    upstream: 'NODE',
    timeoutMs,
    watcher,
    beforePublish(head, previous) {
      if (head.beaconHeight !== previous?.beaconHeight) interval.observe(head.observedAt);
      versions.observe(head.exchange);
      // A pool can have been only on a block that was replaced. Of a block below skipped heights, nobody knows whether it was.
      const isSkipped = previous !== undefined && head.beaconHeight > previous.beaconHeight + 1;
      if (previous !== undefined && (isSkipped || isReplacedBy(previous, head)))
        poolCounts.forgetFrom(newestFinal(previous.beaconHeight) + 1);
      poolCounts.check(head.exchange);
      schedule.published(head);
      const heads = [...(head.filledIn ?? []), head];
      for (const each of heads) recent.add(each);
      for (const each of heads) if (each.hash !== UNKNOWN_HASH) watcher.published?.(each);
    },
    trace: tracing && {
      start: () => tracing.startPoll('head'),
      describe: ({ beaconHeight, exchange, source }, before) => ({
        height: beaconHeight,
        changedPools: before && countChanged(exchange, before.exchange),
        host: source.name,
      }),
    },
  });
  fleetPoll?.onPublished(follower.readNow);
  schedule.onDue(follower.readNow);

  return {
    ...follower,
    /** Whether the node cannot be read, no new height came for several usual intervals, or the newest block is too old. */
    isStale: (): boolean => problems.staleness(follower).length > 0,
    /** All that is wrong with the head, or with its nodes. If the head is stale, at least why. */
    problems: (): readonly HeadProblem[] => problems.all(follower),
    /** When the next height is expected, by the usual interval; `undefined` until one is known. */
    nextAt: interval.nextAt,
    /**
     * The heads above a height: first those that are remembered, then each new one. In a fleet, it resolves when this gateway has
     * all heads that were published before, so that none of them is skipped.
     */
    async subscribeAfter(height: BeaconHeight): Promise<Subscribe<Head>> {
      await fleetPoll?.untilCurrent();
      return headsAfter({ recent, ...follower }, height);
    },
    /** The newest heads that were published, ascending. */
    recent: recent.all,
    /** Whether a head can have states that were filled in before it. */
    canFillIn: fleetPoll !== undefined,
    /** For the websockets of the nodes: a block that was pushed is polled at once. */
    push: schedule.push,
  };
}

/** How many pools differ from those of the state before. */
function countChanged(state: ExchangeState, before: ExchangeState): number {
  return state.directory.ids.filter((_, place) => !isUnchanged(state, place, before)).length;
}
