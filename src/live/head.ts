import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ChainInfo } from '../domain/chain.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { UpstreamTimeoutError } from '../errors.ts';
import type { NodeClient } from '../upstream/node/client.ts';
import { askUntilStateIsThere } from '../upstream/node/state-not-found.ts';
import type { Ask } from './first-answer.ts';
import { createFollower, type Follower, type Watcher } from './follower.ts';
import type { Values } from './iterate.ts';
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
  /** The heads above a height: those that are kept, then each new one. */
  listenAfter(height: BeaconHeight): Values<Head>;
};

/** How the chain is followed. */
export type HeadFollowerOptions = {
  readonly nodes: Nodes;
  readonly pollMs: number;
  /** How long one answer of a node may take, and how long a client waits for the first head. */
  readonly timeoutMs: number;
  /** How many of the newest heads are kept for listeners who come back. */
  readonly headsKept: number;
  readonly now: () => Instant;
  readonly watcher: HeadWatcher;
};

/** Also told when a node's two sources of the height still disagree after it was asked again. */
export type HeadWatcher = Watcher & { disagreed(chainInfo: BeaconHeight, beaconState: BeaconHeight): void };

/** A block can arrive between two calls: the lower of two heights is asked for again this often. */
const TIMES_ASKED_TO_AGREE = 2;

/** What a head is read with, one after another; each has the upstream timeout. */
const CALLS_OF_A_HEAD = 3;

/** Starts to follow the chain that these nodes show. */
export function createHeadFollower(options: HeadFollowerOptions): HeadFollower {
  const { nodes, pollMs, timeoutMs, headsKept, now, watcher } = options;
  const recent = createRecentHeads(headsKept);
  const pace = createPace(now);
  const disagreements = new WeakMap<NodeClient, Disagreement>();

  /** Watches the tip with one cheap call; reads the exchange as documented only where the tip has moved. */
  async function read(previous: Head | undefined): Promise<Head> {
    const seen = await nodes.look(previous?.source);
    const ahead = previous === undefined ? seen : seen.filter(({ node, tip }) => hasMoved(previous, node, tip, seen));
    if (ahead.length === 0 && previous !== undefined) return previous;

    try {
      const asks = ahead.map(
        ({ node, tip }): Ask<Head> =>
          (signal) =>
            readWhole(node, tip, previous, signal),
      );
      const head = await nodes.first(asks, CALLS_OF_A_HEAD * timeoutMs);
      if (head.beaconHeight !== previous?.beaconHeight) pace.step();
      recent.add(head);
      return head;
    } catch (error) {
      if (error instanceof NoNews && previous !== undefined) return previous;
      throw error;
    }
  }

  async function readWhole(
    node: NodeClient,
    tip: ChainInfo,
    previous: Head | undefined,
    signal: AbortSignal,
  ): Promise<Head> {
    const { chainInfo, beaconHeight } = await agree(node, tip, signal);
    if (previous !== undefined && !isNews(previous, chainInfo, beaconHeight)) throw new NoNews();

    const exchange = await askUntilStateIsThere(() => node.exchangeState(beaconHeight, signal), signal);
    return {
      beaconHeight,
      previousHeight: previous?.beaconHeight,
      hash: chainInfo.beacon.hash,
      time: chainInfo.beacon.time,
      chainInfo,
      exchange,
      source: node,
      observedAt: now(),
    };
  }

  async function agree(node: NodeClient, tip: ChainInfo, signal: AbortSignal) {
    let chainInfo = tip;
    let beaconHeight = await node.beaconHeight(signal);
    const isKnown = isSameDisagreement(disagreements.get(node), tip, beaconHeight);
    const times = isKnown ? 0 : TIMES_ASKED_TO_AGREE;
    for (let asked = 0; asked < times && chainInfo.beacon.height !== beaconHeight; asked++) {
      if (chainInfo.beacon.height < beaconHeight) chainInfo = higherOf(chainInfo, await node.chainInfo(signal));
      else beaconHeight = Math.max(beaconHeight, await node.beaconHeight(signal));
    }

    const agrees = chainInfo.beacon.height === beaconHeight;
    if (agrees) disagreements.delete(node);
    else disagreements.set(node, { hash: chainInfo.beacon.hash, beaconHeight });
    if (!agrees && !isKnown) watcher.disagreed(chainInfo.beacon.height, beaconHeight);
    return { chainInfo, beaconHeight };
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
  };
}

/** What a node has to say goes no further than what is published. */
class NoNews extends Error {}

/**
 * Whether a tip shows a block that the head was not read at. A lower tip is a node that lags. A head whose exchange is
 * behind its own chain info could not be read whole, so it is tried again.
 */
function hasMoved(head: Head, node: NodeClient, tip: ChainInfo, seen: readonly SeenNode[]): boolean {
  const known = head.chainInfo.beacon;
  if (tip.beacon.height !== known.height) return tip.beacon.height > known.height;
  if (tip.beacon.hash === known.hash) return head.beaconHeight < known.height;
  // Two nodes can show two blocks at one height for a while: the head's own is believed for as long as it is well.
  return node === head.source || !seen.some((each) => each.node === head.source && vouches(each, head));
}

function vouches({ tip }: SeenNode, head: Head): boolean {
  return tip.beacon.height >= head.chainInfo.beacon.height;
}

/** Whether what was read goes beyond what is published: in height, or in the block at the same height. */
function isNews(head: Head, { beacon }: ChainInfo, beaconHeight: BeaconHeight): boolean {
  if (beaconHeight !== head.beaconHeight) return beaconHeight > head.beaconHeight;
  return beacon.height === beaconHeight && beacon.hash !== head.hash;
}

/** The tip and the other height that the node named when they last differed. A node that keeps to it is asked only once. */
type Disagreement = { readonly hash: string; readonly beaconHeight: BeaconHeight };

function isSameDisagreement(known: Disagreement | undefined, tip: ChainInfo, beaconHeight: BeaconHeight): boolean {
  return known?.hash === tip.beacon.hash && known.beaconHeight === beaconHeight;
}

function higherOf(a: ChainInfo, b: ChainInfo): ChainInfo {
  return b.beacon.height >= a.beacon.height ? b : a;
}
