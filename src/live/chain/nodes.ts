import { type BeaconHeight, isFinal } from '../../domain/beacon-height.ts';
import { ancestors, type ChainInfo } from '../../domain/chain.ts';
import { UpstreamBadShapeError } from '../../errors.ts';
import { waitAtMost } from '../../turns/wait-at-most.ts';
import type { NodeClient } from '../../upstream/node/client.ts';
import { isInFuture, whyStateIsMissing } from '../../upstream/node/state-not-found.ts';
import type { ExchangeVersions } from './exchange-versions.ts';
import type { Head } from './head.ts';
import { type Attempt, hedge } from './hedge.ts';
import { createNode, type Node, type NodeStatus, type NodeWatcher } from './node.ts';
import type { ShownBlock } from './node-record.ts';

/** The configured nodes, which show one chain. */
export type Nodes = ReturnType<typeof createNodes>;

/** A node that responded to a poll, with its tip. */
export type NodeTip = { readonly node: Node; readonly tip: ChainInfo };

/** How nodes are read. */
export type NodesOptions = {
  readonly clients: readonly [NodeClient, ...NodeClient[]];
  /** How long one call may take. */
  readonly timeoutMs: number;
  /** How long a poll waits for the other nodes once one has responded. */
  readonly graceMs: number;
  /** The longest pause of a node that cannot be read. */
  readonly maxPauseMs: number;
  readonly versions: ExchangeVersions;
  readonly watch: (node: NodeClient) => NodeWatcher;
};

/** Creates the nodes, of which nothing is known yet. */
export function createNodes(options: NodesOptions) {
  const { clients, timeoutMs, graceMs, maxPauseMs, versions, watch } = options;
  let chainName: string | undefined;
  /** The chain is that of the first node, in the configured order, that responded to the first poll. */
  const isRightChain = (tip: ChainInfo) => chainName === undefined || tip.chainName === chainName;
  const all = clients.map((client) =>
    createNode(client, { versions, isRightChain, graceMs, maxPauseMs, watcher: watch(client) }),
  );

  /**
   * Polls the tip of every node. Once one has responded, the others are waited for only a moment: a later response counts in
   * the next poll.
   *
   * @returns those that responded: the highest first, and among equals the preferred one
   * @throws UpstreamError if none did
   */
  async function poll(preferred = all[0]): Promise<readonly NodeTip[]> {
    const polls = all.map((node) => ({ isNew: node.record().pollingSince === undefined, tip: node.pollTip() }));
    await orMostSignificantError(Promise.any(polls.map(({ tip }) => tip)));
    // A node whose earlier poll still waits had its time. The first poll decides about the chain, so it waits for longer.
    const others = polls.filter(({ isNew }) => isNew).map(({ tip }) => tip);
    await waitAtMost(chainName === undefined ? timeoutMs / 2 : graceMs, Promise.allSettled(others));

    chainName ??= tips()[0]?.tip.chainName;
    const ofChain = tips().filter(({ tip }) => isRightChain(tip));
    if (ofChain.length === 0) throw new UpstreamBadShapeError('NODE', 'it belongs to another chain than before');
    const rank = ({ node }: NodeTip) => Number(node === preferred);
    return ofChain.toSorted((a, b) => b.tip.beacon.height - a.tip.beacon.height || rank(b) - rank(a));
  }

  function tips(): NodeTip[] {
    return all.flatMap((node) => {
      const { tip } = node.record();
      return tip === undefined ? [] : [{ node, tip }];
    });
  }

  /**
   * Reads from one node, and from the next one too if that fails or is slow; see `hedge`.
   *
   * @param next creates the attempt on the next node; `undefined` if there is none now
   * @param timeouts the time for all attempts together, in upstream timeouts
   * @throws the most significant error of the nodes; see `orMostSignificantError`
   */
  function firstSuccess<T>(next: () => Promise<Attempt<T> | undefined>, timeouts: number): Promise<T> {
    return orMostSignificantError(hedge(next, { delayMs: timeoutMs / all.length, timeoutMs: timeouts * timeoutMs }));
  }

  /** The same from these nodes, one after another. */
  function readFrom<T>(order: readonly Node[], read: ReadNode<T>, timeouts: number): Promise<T> {
    const left = order.values();
    return firstSuccess(async () => {
      const node = left.next().value;
      return node && ((signal) => read(node, signal));
    }, timeouts);
  }

  return {
    all: all as readonly Node[],
    poll,
    firstSuccess,
    readFrom,
    /**
     * The nodes that have the chain of a head up to a height; above it, blocks may still be replaced. These are the node of the head,
     * and each node that has shown one of these blocks as its tip:
     * - the head, or a block from which the head descends, if it is at the height or above it;
     * - for a final height, any block by which the height is final, if the node of the head has shown this block too.
     *
     * Nodes that respond come first.
     *
     * @param served the newest heads that were served, in ascending order
     */
    ofChain(head: Head, height: BeaconHeight, served: readonly Head[]): readonly Node[] {
      const { source } = head;
      const isAbove = (block: ShownBlock) => isFinal(height, head.beaconHeight) && isFinal(height, block.height);
      const line = ancestors(head, served).filter(({ beaconHeight }) => beaconHeight >= height);
      const hashes = new Set([...line, ...source.record().blocks.filter(isAbove)].map(({ hash }) => hash));
      const sharing = all.filter(
        (node) => node === source || node.record().blocks.some(({ hash }) => hashes.has(hash)),
      );
      const rank = (node: Node) => 2 * Number(node.isResponding()) + Number(node === source);
      return sharing.toSorted((a, b) => rank(b) - rank(a));
    },
    status: (): readonly NodeStatus[] => all.map((node) => node.status()),
  };
}

/**
 * If all nodes failed, rejects with the error that matters most:
 * 1. A node could not be read, and a retry can succeed.
 * 2. A node could not be read, and no retry can succeed.
 * 3. A node does not have the height yet.
 * 4. A node has pruned the height.
 */
async function orMostSignificantError<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    const failures = error.errors.filter((each) => whyStateIsMissing(each) === undefined);
    throw (
      failures.find(({ retryable }) => retryable) ?? failures[0] ?? error.errors.find(isInFuture) ?? error.errors[0]
    );
  }
}

type ReadNode<T> = (node: Node, signal: AbortSignal) => Promise<T>;
