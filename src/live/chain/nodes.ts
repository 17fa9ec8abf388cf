import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ChainInfo } from '../../domain/chain.ts';
import type { Instant } from '../../domain/instant.ts';
import { UpstreamBadShapeError, UpstreamTimeoutError } from '../../errors.ts';
import type { NodeClient } from '../../upstream/node/client.ts';
import { isInFuture, whyStateIsMissing } from '../../upstream/node/state-not-found.ts';
import type { Watcher } from '../broadcast/follower.ts';
import { isSettledWithin } from '../broadcast/wait-at-most.ts';
import { type Ask, firstAnswer } from './first-answer.ts';
import { createTipReader } from './tip-reader.ts';

/** The nodes that the gateway reads from: which of them are well, and which is asked. */
export type Nodes = {
  /** Every node, in the order in which they are listed. */
  readonly all: readonly NodeClient[];
  /**
   * Asks each node for its tip, which is all that is known of its health. One that is slow is not waited for where another
   * answers: what it says counts at a later look.
   *
   * @returns those that are well, the best to read from first: the highest, and of equals the preferred one
   * @throws UpstreamError where none is
   */
  look(preferred?: NodeClient): Promise<readonly SeenNode[]>;
  /**
   * Asks one node, and the next where that one fails or is slow.
   *
   * @param next who is asked next; `undefined` where there is nobody else, for now
   * @param calls how many calls it takes, one after another: each has the upstream timeout
   * @throws what the first failed with, unless that is only that it has no such state and another may have it
   */
  first<T>(next: () => Promise<Ask<T> | undefined>, calls?: number): Promise<T>;
  /**
   * This node, and those that stand on the same blocks: they have shown one of these as their tip that it has shown too.
   * Those that answer come first.
   */
  standingWith(node: NodeClient, isMeant: (block: ShownBlock) => boolean): readonly NodeClient[];
  /** The block that a URL has shown at a height, where it leads to several nodes with different tips; see `TipReader`. */
  blockAt(node: NodeClient, height: BeaconHeight): ShownBlock | 'uncertain' | undefined;
  /** How many tips a node has shown since a block last was its tip. */
  looksWithout(node: NodeClient, hash: string): number;
  /** How each was when it was last looked at. */
  status(): readonly NodeStatus[];
};

/** A node that is well, with the tip that it shows. */
export type SeenNode = { readonly node: NodeClient; readonly tip: ChainInfo };

/** A block that a node showed as its tip. */
export type ShownBlock = { readonly height: BeaconHeight; readonly hash: string; readonly time: Instant };

/** How a node was when it was last looked at. */
export type NodeStatus = {
  readonly name: string;
  /** The beacon height of its tip; `undefined` where it did not answer. */
  readonly height: BeaconHeight | undefined;
  /** How far apart calls to it are made, because it limits their rate; 0 where it does not. */
  readonly spaceMs: number;
};

/** How nodes are asked. */
export type NodesOptions = {
  readonly clients: readonly [NodeClient, ...NodeClient[]];
  /** How long one answer may take. */
  readonly timeoutMs: number;
  /** How long a look waits for the other nodes once one has answered. */
  readonly graceMs: number;
  /** Makes who is told when that node breaks and heals. */
  readonly watch: (node: NodeClient) => Watcher;
};

/** Makes the nodes, of which nothing is known yet. */
export function createNodes({ clients, timeoutMs, graceMs, watch }: NodesOptions): Nodes {
  const readers = clients.map((node) => createTipReader(node, { isRightChain, graceMs, watcher: watch(node) }));
  let chainName: string | undefined;

  /** The chain is that of the node that was well at the first look, in the order in which they are listed. */
  function isRightChain(tip: ChainInfo): boolean {
    return chainName === undefined || tip.chainName === chainName;
  }

  async function look(preferred: NodeClient = clients[0]): Promise<readonly SeenNode[]> {
    const looks = readers.map((reader) => ({ isNew: !reader.isAsking(), tip: reader.ask() }));
    await orMostTelling(Promise.any(looks.map(({ tip }) => tip)));
    // One that still owes the answer to an earlier look has had its time. Which chain it is, is worth more of it.
    const others = looks.filter(({ isNew }) => isNew).map(({ tip }) => tip);
    await isSettledWithin(chainName === undefined ? timeoutMs / 2 : graceMs, Promise.allSettled(others));

    chainName ??= seen()[0]?.tip.chainName;
    const same = seen().filter(({ tip }) => isRightChain(tip));
    if (same.length === 0) throw new UpstreamBadShapeError('NODE', 'it belongs to another chain than before');
    return bestFirst(same, preferred);
  }

  function readerOf(node: NodeClient) {
    return readers.find((reader) => reader.node === node);
  }

  function seen(): SeenNode[] {
    return readers.flatMap(({ node, tip }) => {
      const shown = tip();
      return shown === undefined ? [] : [{ node, tip: shown }];
    });
  }

  async function first<T>(next: () => Promise<Ask<T> | undefined>, calls = 1): Promise<T> {
    const shareMs = timeoutMs / clients.length;
    const allTogetherMs = calls * timeoutMs;
    const tooLate = () => new UpstreamTimeoutError('NODE', allTogetherMs, {});
    return orMostTelling(firstAnswer(next, { shareMs, timeoutMs: allTogetherMs, tooLate }));
  }

  function standingWith(node: NodeClient, isMeant: (block: ShownBlock) => boolean): readonly NodeClient[] {
    const own = readerOf(node)?.shown() ?? [];
    const shared = new Set(own.filter(isMeant).map(({ hash }) => hash));
    const same = readers.filter(
      (reader) => reader.node === node || reader.shown().some((block) => isMeant(block) && shared.has(block.hash)),
    );
    const rank = (reader: (typeof readers)[number]) => 2 * Number(reader.isWell()) + Number(reader.node === node);
    const known = same.toSorted((a, b) => rank(b) - rank(a)).map((reader) => reader.node);
    return known.includes(node) ? known : [node, ...known];
  }

  return {
    all: clients,
    look,
    first,
    standingWith,
    blockAt: (node, height) => readerOf(node)?.blockAt(height),
    looksWithout: (node, hash) => readerOf(node)?.looksWithout(hash) ?? 0,
    status: () =>
      readers.map(({ node, tip }) => ({
        name: node.name,
        height: tip()?.beacon.height,
        spaceMs: node.spaceMs(),
      })),
  };
}

/**
 * Where all have failed: one that could not be read says more than another that does not have the height yet, and that one
 * more than another that has pruned it.
 */
async function orMostTelling<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    const failure = error.errors.find((each) => whyStateIsMissing(each) === undefined);
    throw failure ?? error.errors.find(isInFuture) ?? error.errors[0];
  }
}

function bestFirst(nodes: readonly SeenNode[], preferred: NodeClient): readonly SeenNode[] {
  const rank = ({ node }: SeenNode) => Number(node === preferred);
  return nodes.toSorted((a, b) => b.tip.beacon.height - a.tip.beacon.height || rank(b) - rank(a));
}
