import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ChainInfo } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import type { Instant } from '../../domain/instant.ts';
import { UpstreamTimeoutError } from '../../errors.ts';
import type { NodeClient } from '../../upstream/node/client.ts';
import { createFollower, type Follower, type Watcher } from '../broadcast/follower.ts';
import type { Subscribe } from '../broadcast/subscriber.ts';
import { createBlockInterval } from './block-interval.ts';
import { createBlockReader } from './block-reader.ts';
import { createDoubts } from './doubts.ts';
import type { Ask } from './first-answer.ts';
import { lookUntilSure } from './look-until-sure.ts';
import type { Nodes, SeenNode } from './nodes.ts';
import type { PoolCounts } from './pool-counts.ts';
import type { Problem } from './problems.ts';
import { createRecentHeads, headsAfter } from './recent-heads.ts';
import { createTipWatch, type TipWatcher } from './tip-watch.ts';

/** One beacon height, read whole and published at once. */
export type Head = {
  readonly beaconHeight: BeaconHeight;
  /** The height published before; the same where the node replaced the block at it. `undefined` for the first. */
  readonly previousHeight: BeaconHeight | undefined;
  readonly hash: string;
  /** When the node made the block. */
  readonly time: Instant;
  readonly chainInfo: ChainInfo;
  readonly exchange: ExchangeState;
  /** Which node all of it was read from. */
  readonly source: NodeClient;
  /** When it had been read whole. */
  readonly observedAt: Instant;
};

/** Follows the tip of the chain. The heights it publishes never go back. */
export type HeadFollower = Follower<Head> & {
  /**
   * The node cannot be read, it has shown no new height for several times the usual interval, or its newest block was made
   * too long ago.
   */
  isStale(): boolean;
  /** All that is wrong with the head, or with the nodes that it is read from; for a stale head at least why it is. */
  problems(): readonly Problem[];
  /** When the next height is expected, by the usual interval; `undefined` until one is known. */
  nextAt(): Instant | undefined;
  /** The heads above a height: those that are kept, then each new one. */
  subscribeAfter(height: BeaconHeight): Subscribe<Head>;
};

/** How the chain is followed. */
export type HeadFollowerOptions = {
  readonly nodes: Nodes;
  readonly pollMs: number;
  /** How long one answer of a node may take, and how long a client waits for the first head. */
  readonly timeoutMs: number;
  /** How long a node whose tip could not be read is not tried again, at the most. */
  readonly maxPauseMs: number;
  /** How old the newest block may become until it is stale, by the time at which it was made. */
  readonly maxBlockAgeMs: number;
  readonly poolCounts: PoolCounts;
  /** How many of the newest heads are kept for subscribers who come back. */
  readonly headsKept: number;
  readonly now: () => Instant;
  readonly watcher: HeadWatcher;
};

/** Also told when a node's two sources of the height still disagree after it was asked again, and of each head. */
export type HeadWatcher = Watcher &
  TipWatcher & {
    disagreed(chainInfo: BeaconHeight, beaconState: BeaconHeight): void;
    published?(head: Head): void;
  };

/** What a head is read with, one after another; each has the upstream timeout. */
const CALLS_OF_A_HEAD = 4;

/** Starts to follow the chain that these nodes show. */
export function createHeadFollower(options: HeadFollowerOptions): HeadFollower {
  const { nodes, pollMs, timeoutMs, maxPauseMs, maxBlockAgeMs, poolCounts, headsKept, now, watcher } = options;
  const recent = createRecentHeads(headsKept);
  const pace = createBlockInterval(now);
  const doubts = createDoubts(maxPauseMs);
  const tipWatch = createTipWatch(watcher);
  const readBlock = createBlockReader(watcher.disagreed);
  let waitingSince: number | undefined;

  /** Watches the tip with one cheap call; reads the exchange as documented only where the tip has moved. */
  async function read(previous: Head | undefined): Promise<Head> {
    const asked: NodeClient[] = [];

    async function nextToAsk(seen: readonly SeenNode[]): Promise<Ask<Head> | undefined> {
      const next = toRead(seen, previous).find(({ node }) => !asked.includes(node));
      if (next === undefined) return undefined;
      asked.push(next.node);
      return (signal) => readOrDoubt(next, previous, signal);
    }

    const seen = previous === undefined ? await nodes.look() : await lookUntilSure(nodes, previous);
    if (previous !== undefined) tipWatch.note(highestTip(seen), previous.beaconHeight);
    const first = await nextToAsk(seen);
    if (first === undefined) return orWhyNot(seen, previous);

    const asks = [first];
    const next = async () => asks.shift() ?? nextToAsk(await nodes.look(previous?.source).catch(() => []));
    const head = await nodes.first(next, CALLS_OF_A_HEAD).catch((error) => {
      // One that shows more and cannot be read is no reason to call the others stale: they are as far as the head.
      if (previous === undefined || seen.every(({ node }) => doubts.has(node))) throw error;
      return previous;
    });
    if (previous !== undefined && isSameBlock(head, previous)) return previous;

    for (const overtaken of asked.slice(0, asked.indexOf(head.source))) doubts.add(overtaken, undefined);
    doubts.clear(head.source);
    if (head.beaconHeight !== previous?.beaconHeight) pace.observe();
    poolCounts.isWhole(head.exchange);
    recent.add(head);
    return head;
  }

  /** The nodes that show more than the head, in the order in which they are to be read from. */
  function toRead(seen: readonly SeenNode[], previous: Head | undefined): readonly SeenNode[] {
    const ahead = previous === undefined ? seen : seen.filter((each) => hasMoved(previous, each, seen));
    const doubted = ahead.filter(({ node }) => doubts.has(node));
    const tried = doubted.filter(({ node }) => doubts.mayTry(node));
    if (doubted.length < ahead.length) return [...ahead.filter((each) => !doubted.includes(each)), ...tried];

    // Only those show it that could not be read before: the others are given their time to show it too.
    const canWait = doubted.length > 0 && seen.some(({ node }) => !doubts.has(node));
    waitingSince = canWait ? (waitingSince ?? performance.now()) : undefined;
    const isOver = waitingSince !== undefined && performance.now() - waitingSince > timeoutMs / 2;
    if (canWait) return isOver ? tried : [];
    // Where there is nobody else, one that was only slower than another is as good as any.
    return doubted.filter(({ node }) => doubts.mayTry(node) || doubts.reason(node) === undefined);
  }

  /** Where nothing is to be read: the head as it is, unless all that show more are doubted and there is nobody else. */
  function orWhyNot(seen: readonly SeenNode[], previous: Head | undefined): Head {
    if (previous !== undefined && seen.some(({ node }) => !doubts.has(node))) return previous;
    const [best] = seen.filter((each) => previous === undefined || hasMoved(previous, each, seen));
    if (best === undefined && previous !== undefined) return previous;
    throw best === undefined ? new UpstreamTimeoutError('NODE', timeoutMs, {}) : doubts.reason(best.node);
  }

  async function readOrDoubt({ node, tip }: SeenNode, previous: Head | undefined, signal: AbortSignal): Promise<Head> {
    try {
      const { chainInfo, exchange } = await readBlock(node, tip, signal);
      const { height: beaconHeight, hash, time } = chainInfo.beacon;
      const previousHeight = previous?.beaconHeight;
      return { beaconHeight, previousHeight, hash, time, chainInfo, exchange, source: node, observedAt: now() };
    } catch (error) {
      if (!signal.aborted) doubts.add(node, error);
      throw error;
    }
  }

  const follower = createFollower({
    read,
    intervalMs: pollMs,
    maxWaitMs: timeoutMs,
    timeoutError: () => new UpstreamTimeoutError('NODE', timeoutMs, {}),
    watcher,
    published: watcher.published,
  });

  function staleness(): readonly Problem[] {
    const time = follower.current()?.time;
    const problems: readonly (Problem | false)[] = [
      follower.isFailing() && { code: 'NODE_UNREADABLE', message: 'the node cannot be read' },
      pace.isOverdue() && {
        code: 'NO_NEW_BLOCK',
        message: 'no new beacon height arrived for more than five times the usual block interval',
      },
      time !== undefined &&
        now() - time > maxBlockAgeMs && {
          code: 'BLOCK_TOO_OLD',
          message: `the newest block, produced at ${new Date(time).toISOString()}, is older than MAX_BLOCK_AGE_MS`,
        },
    ];
    return problems.filter((problem) => problem !== false);
  }

  function lostBlocks(): readonly Problem[] {
    const tip = tipWatch.farBehind();
    if (tip === undefined) return [];
    const served = follower.current()?.beaconHeight;
    const message = `the node reports beacon height ${tip}, far below the served height ${served}: it may have lost its database`;
    return [{ code: 'NODE_FAR_BEHIND', message }];
  }

  return {
    ...follower,
    isStale: () => staleness().length > 0,
    problems: () => [...staleness(), ...lostBlocks()],
    nextAt: pace.nextAt,
    subscribeAfter: (height) => headsAfter({ recent, ...follower }, height),
  };
}

function highestTip(seen: readonly SeenNode[]): BeaconHeight {
  return Math.max(...seen.map(({ tip }) => tip.beacon.height));
}

function isSameBlock(a: Head, b: Head): boolean {
  return a.beaconHeight === b.beaconHeight && a.hash === b.hash;
}

/** Whether a node shows a block that the head is not of. A lower tip is a node that lags. */
function hasMoved(head: Head, { node, tip: { beacon } }: SeenNode, seen: readonly SeenNode[]): boolean {
  if (beacon.height !== head.beaconHeight) return beacon.height > head.beaconHeight;
  if (beacon.hash === head.hash) return false;
  // Two nodes can show two blocks at one height for a while: the head's own is believed for as long as it is well.
  const own = seen.find((each) => each.node === head.source);
  return own === undefined || own.node === node || own.tip.beacon.height < head.beaconHeight;
}
