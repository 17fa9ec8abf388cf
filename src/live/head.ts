import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ChainInfo } from '../domain/chain.ts';
import { type ExchangeState, forgetPools, keepingPools } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { UpstreamTimeoutError } from '../errors.ts';
import type { NodeClient } from '../upstream/node/client.ts';
import { createBlockReader } from './block-reader.ts';
import { createDoubts } from './doubts.ts';
import type { Ask } from './first-answer.ts';
import { createFollower, type Follower, type Watcher } from './follower.ts';
import type { Listen } from './listen.ts';
import type { Nodes, SeenNode } from './nodes.ts';
import { createPace } from './pace.ts';
import { createRecentHeads, headsAfter } from './recent-heads.ts';

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
  /** The node cannot be read, or has shown no new height for several times the usual interval. */
  isStale(): boolean;
  /** When the next height is expected, by the usual interval; `undefined` until one is known. */
  nextAt(): Instant | undefined;
  /** The heads above a height: those that are kept, then each new one. */
  listenAfter(height: BeaconHeight): Listen<Head>;
};

/** How the chain is followed. */
export type HeadFollowerOptions = {
  readonly nodes: Nodes;
  readonly pollMs: number;
  /** How long one answer of a node may take, and how long a client waits for the first head. */
  readonly timeoutMs: number;
  /** How long a node whose tip could not be read is not tried again, at the most. */
  readonly maxPauseMs: number;
  /** How many of the newest heads are kept for listeners who come back. */
  readonly headsKept: number;
  readonly now: () => Instant;
  readonly watcher: HeadWatcher;
};

/** Also told when a node's two sources of the height still disagree after it was asked again. */
export type HeadWatcher = Watcher & { disagreed(chainInfo: BeaconHeight, beaconState: BeaconHeight): void };

/** What a head is read with, one after another; each has the upstream timeout. */
const CALLS_OF_A_HEAD = 4;

/** Starts to follow the chain that these nodes show. */
export function createHeadFollower(options: HeadFollowerOptions): HeadFollower {
  const { nodes, pollMs, timeoutMs, maxPauseMs, headsKept, now, watcher } = options;
  const recent = createRecentHeads(headsKept);
  const pace = createPace(now);
  const doubts = createDoubts(maxPauseMs);
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

    const seen = await nodes.look(previous?.source);
    const first = await nextToAsk(seen);
    if (first === undefined) return orWhyNot(seen, previous);

    const asks = [first];
    const next = async () => asks.shift() ?? nextToAsk(await nodes.look(previous?.source).catch(() => []));
    const head = await nodes.first(next, CALLS_OF_A_HEAD).catch((error) => {
      // One that shows more and cannot be read is no reason to call the others stale: they are as far as the head.
      if (previous === undefined || seen.every(({ node }) => doubts.has(node))) throw error;
      return previous;
    });
    if (head === previous) return head;

    for (const overtaken of asked.slice(0, asked.indexOf(head.source))) doubts.add(overtaken, undefined);
    doubts.clear(head.source);
    if (head.beaconHeight !== previous?.beaconHeight) pace.step();
    recent.add(head);
    if (previous !== undefined) forgetPools(previous.exchange);
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
      const { chainInfo, exchange: state } = await readBlock(node, tip, signal);
      const exchange = keepingPools(state);
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
    patienceMs: timeoutMs,
    tooLate: () => new UpstreamTimeoutError('NODE', timeoutMs, {}),
    watcher,
  });

  return {
    ...follower,
    isStale: () => follower.isFailing() || pace.isOverdue(),
    nextAt: pace.nextAt,
    listenAfter: (height) => headsAfter({ recent, ...follower }, height),
  };
}

/** Whether a node shows a block that the head is not of. A lower tip is a node that lags. */
function hasMoved(head: Head, { node, tip: { beacon } }: SeenNode, seen: readonly SeenNode[]): boolean {
  if (beacon.height !== head.beaconHeight) return beacon.height > head.beaconHeight;
  if (beacon.hash === head.hash) return false;
  // Two nodes can show two blocks at one height for a while: the head's own is believed for as long as it is well.
  const own = seen.find((each) => each.node === head.source);
  return own === undefined || own.node === node || own.tip.beacon.height < head.beaconHeight;
}
