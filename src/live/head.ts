import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ChainInfo } from '../domain/chain.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { UpstreamTimeoutError } from '../errors.ts';
import type { NodeClient } from '../upstream/node/client.ts';
import { askUntilStateIsThere } from '../upstream/node/state-not-found.ts';
import { createFollower, type Follower, type Watcher } from './follower.ts';
import { createPace } from './pace.ts';

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
  /** When it had been read whole. */
  readonly observedAt: Instant;
};

/** Follows the tip of the chain. The heights it publishes never go back. */
export type HeadFollower = Follower<Head> & {
  /** The node cannot be read, or has shown no new height for several times the usual interval. */
  isStale(): boolean;
};

/** How the chain is followed. */
export type HeadFollowerOptions = {
  readonly node: NodeClient;
  readonly pollMs: number;
  /** How long a client waits for the first head. */
  readonly timeoutMs: number;
  readonly now: () => Instant;
  readonly watcher: HeadWatcher;
};

/** Also told when the node's two sources of the height still disagree after it was asked again. */
export type HeadWatcher = Watcher & { disagreed(chainInfo: BeaconHeight, beaconState: BeaconHeight): void };

/** A block can arrive between two calls: the lower of two heights is asked for again this often. */
const TIMES_ASKED_TO_AGREE = 2;

/** Starts to follow the chain of a node. */
export function createHeadFollower({ node, pollMs, timeoutMs, now, watcher }: HeadFollowerOptions): HeadFollower {
  const pace = createPace(now);
  let disagreement: Disagreement | undefined;

  /** Watches the tip with one cheap call; reads the exchange as documented only where the tip has moved. */
  async function read(previous: Head | undefined): Promise<Head> {
    const tip = await node.chainInfo();
    if (previous !== undefined && !hasMoved(previous, tip)) return previous;

    const { chainInfo, beaconHeight } = await agree(tip);
    if (previous !== undefined && !isNews(previous, chainInfo, beaconHeight)) return previous;

    const exchange = await askUntilStateIsThere(() => node.exchangeState(beaconHeight));
    if (beaconHeight !== previous?.beaconHeight) pace.step();
    return {
      beaconHeight,
      previousHeight: previous?.beaconHeight,
      hash: chainInfo.beacon.hash,
      time: chainInfo.beacon.time,
      chainInfo,
      exchange,
      observedAt: now(),
    };
  }

  async function agree(tip: ChainInfo): Promise<{ chainInfo: ChainInfo; beaconHeight: BeaconHeight }> {
    let chainInfo = tip;
    let beaconHeight = await node.beaconHeight();
    const isKnown = isSameDisagreement(disagreement, tip, beaconHeight);
    const times = isKnown ? 0 : TIMES_ASKED_TO_AGREE;
    for (let asked = 0; asked < times && chainInfo.beacon.height !== beaconHeight; asked++) {
      if (chainInfo.beacon.height < beaconHeight) chainInfo = higherOf(chainInfo, await node.chainInfo());
      else beaconHeight = Math.max(beaconHeight, await node.beaconHeight());
    }

    const agrees = chainInfo.beacon.height === beaconHeight;
    disagreement = agrees ? undefined : { hash: chainInfo.beacon.hash, beaconHeight };
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

  return { ...follower, isStale: () => follower.isFailing() || pace.isOverdue() };
}

/**
 * Whether the tip shows a block that the head was not read at. A lower tip is a node that lags. A head whose exchange is
 * behind its own chain info could not be read whole, so it is tried again.
 */
function hasMoved(head: Head, tip: ChainInfo): boolean {
  const known = head.chainInfo.beacon;
  if (tip.beacon.height < known.height) return false;
  return tip.beacon.height > known.height || tip.beacon.hash !== known.hash || head.beaconHeight < known.height;
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
