import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ChainInfo } from '../domain/chain.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import {
  UpstreamBadShapeError,
  type UpstreamError,
  UpstreamTimeoutError,
  UpstreamUnreachableError,
} from '../errors.ts';
import type { NodeClient } from '../upstream/node/client.ts';
import { askUntilStateIsThere } from '../upstream/node/state-not-found.ts';
import { createDoubts } from './doubts.ts';
import type { Ask } from './first-answer.ts';
import { createFollower, type Follower, type Watcher } from './follower.ts';
import type { Values } from './iterate.ts';
import type { Nodes, SeenNode, ShownBlock } from './nodes.ts';
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
  /** The heads above a height: those that are kept, then each new one. */
  listenAfter(height: BeaconHeight): Values<Head>;
  /** Whether this block is one of the newest that were published, and was not replaced since. */
  hasShown(block: ShownBlock): boolean;
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

/** A block can arrive between two calls: the lower of two heights is asked for again this often. */
const TIMES_ASKED_TO_AGREE = 2;

/** A block can be replaced while it is read: then it is read again this often. */
const TIMES_READ_AGAIN = 2;

/** What a head is read with, one after another; each has the upstream timeout. */
const CALLS_OF_A_HEAD = 3;

/** Starts to follow the chain that these nodes show. */
export function createHeadFollower(options: HeadFollowerOptions): HeadFollower {
  const { nodes, pollMs, timeoutMs, maxPauseMs, headsKept, now, watcher } = options;
  const recent = createRecentHeads(headsKept);
  const pace = createPace(now);
  const doubts = createDoubts(maxPauseMs);
  const disagreeing = new WeakSet<NodeClient>();
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
    const head = await nodes.first(
      async () => asks.shift() ?? nextToAsk(await nodes.look(previous?.source).catch(() => [])),
      CALLS_OF_A_HEAD * timeoutMs,
    );
    for (const node of asked.slice(0, asked.indexOf(head.source))) doubts.add(node, overtaken(node));
    doubts.clear(head.source);
    if (head.beaconHeight !== previous?.beaconHeight) pace.step();
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
    return canWait && !isOver ? [] : tried;
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
      return await readWhole(node, tip, previous, signal);
    } catch (error) {
      if (!signal.aborted) doubts.add(node, error);
      throw error;
    }
  }

  /** One block, whole: all calls to one node, and the tip once more at the end, which can have been replaced meanwhile. */
  async function readWhole(
    node: NodeClient,
    tip: ChainInfo,
    previous: Head | undefined,
    signal: AbortSignal,
  ): Promise<Head> {
    let newest = tip;
    for (let again = 0; again <= TIMES_READ_AGAIN; again++) {
      const chainInfo = await agree(node, newest, signal);
      const { height: beaconHeight, hash, time } = chainInfo.beacon;
      const exchange = await askUntilStateIsThere(() => node.exchangeState(beaconHeight, signal), signal);
      newest = await node.chainInfo(signal);
      if (isReplaced(chainInfo, newest, exchange)) continue;

      const previousHeight = previous?.beaconHeight;
      return { beaconHeight, previousHeight, hash, time, chainInfo, exchange, source: node, observedAt: now() };
    }
    throw new UpstreamBadShapeError('NODE', 'its newest block was replaced each time that it was read');
  }

  /** What a node says of the block to read, once its two sources of the height agree, or the first where they do not. */
  async function agree(node: NodeClient, tip: ChainInfo, signal: AbortSignal): Promise<ChainInfo> {
    let chainInfo = tip;
    let beaconHeight = await node.beaconHeight(signal);
    for (let asked = 0; asked < TIMES_ASKED_TO_AGREE && chainInfo.beacon.height !== beaconHeight; asked++) {
      if (chainInfo.beacon.height < beaconHeight) chainInfo = higherOf(chainInfo, await node.chainInfo(signal));
      else beaconHeight = Math.max(beaconHeight, await node.beaconHeight(signal));
    }

    const agrees = chainInfo.beacon.height === beaconHeight;
    if (!agrees && !disagreeing.has(node)) watcher.disagreed(chainInfo.beacon.height, beaconHeight);
    if (agrees) disagreeing.delete(node);
    else disagreeing.add(node);
    return chainInfo;
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
    listenAfter: (height) => headsAfter({ recent, ...follower }, height),
    hasShown: recent.has,
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

/**
 * Whether the block that was read was replaced before its state was. Where the chain has gone on since, its hash can no
 * longer be seen, but its time can: the state tells it too.
 */
function isReplaced({ beacon }: ChainInfo, newest: ChainInfo, { time }: ExchangeState): boolean {
  if (newest.beacon.height === beacon.height) return newest.beacon.hash !== beacon.hash;
  return newest.beacon.height > beacon.height && time !== undefined && time !== beacon.time;
}

function overtaken({ name }: NodeClient): UpstreamError {
  return new UpstreamUnreachableError('NODE', { host: name }, new Error('another node was quicker'));
}

function higherOf(a: ChainInfo, b: ChainInfo): ChainInfo {
  return b.beacon.height >= a.beacon.height ? b : a;
}
