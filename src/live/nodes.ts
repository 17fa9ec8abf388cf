import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ChainInfo } from '../domain/chain.ts';
import { UpstreamBadShapeError, UpstreamRpcError, UpstreamTimeoutError } from '../errors.ts';
import type { NodeClient } from '../upstream/node/client.ts';
import { type Ask, firstAnswer } from './first-answer.ts';
import type { Watcher } from './follower.ts';
import { isSettledWithin } from './patience.ts';

/** The nodes that the gateway reads from: which of them are well, and which is asked. */
export type Nodes = {
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
   * @param timeoutMs for all of them together; the upstream timeout where nothing is said
   * @throws what the first failed with, or rather one that has answered with an error of its own
   */
  first<T>(asks: readonly Ask<T>[], timeoutMs?: number): Promise<T>;
  /** All of them, this one first. */
  allFrom(first: NodeClient): readonly NodeClient[];
  /** This one, and those that showed the same block as their tip when they were last looked at. */
  agreeingWith(node: NodeClient, hash: string): readonly NodeClient[];
  /** How each was when it was last looked at. */
  status(): readonly NodeStatus[];
};

/** A node that is well, with the tip that it shows. */
export type SeenNode = { readonly node: NodeClient; readonly tip: ChainInfo };

/** How a node was when it was last looked at. */
export type NodeStatus = {
  readonly name: string;
  /** The beacon height of its tip; `undefined` where it did not answer. */
  readonly height: BeaconHeight | undefined;
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
  const readers = clients.map((node) => createTipReader(node, watch(node)));
  let chainName: string | undefined;

  async function look(preferred: NodeClient = clients[0]): Promise<readonly SeenNode[]> {
    const looks = readers.map((reader) => ({ isNew: !reader.isAsking(), tip: reader.ask() }));
    await orMostTelling(Promise.any(looks.map(({ tip }) => tip)));
    // One that still owes the answer to an earlier look has had its time.
    const others = looks.filter(({ isNew }) => isNew).map(({ tip }) => tip);
    await isSettledWithin(graceMs, Promise.allSettled(others));

    return bestFirst(ofOneChain(seen()), preferred);
  }

  function seen(): SeenNode[] {
    return readers.flatMap(({ node, tip }) => {
      const shown = tip();
      return shown === undefined ? [] : [{ node, tip: shown }];
    });
  }

  /** The chain is that of the node that was well first, in the order in which they are listed. */
  function ofOneChain(nodes: readonly SeenNode[]): readonly SeenNode[] {
    chainName ??= nodes[0]?.tip.chainName;
    const same = nodes.filter(({ tip }) => tip.chainName === chainName);
    if (same.length === 0) throw new UpstreamBadShapeError('NODE', 'it is of another chain than before');
    return same;
  }

  async function first<T>(asks: readonly Ask<T>[], allTogetherMs = timeoutMs): Promise<T> {
    const shareMs = timeoutMs / asks.length;
    const tooLate = () => new UpstreamTimeoutError('NODE', allTogetherMs, {});
    return orMostTelling(firstAnswer(asks, { shareMs, timeoutMs: allTogetherMs, tooLate }));
  }

  return {
    look,
    first,
    allFrom: (first) => [first, ...clients.filter((node) => node !== first)],
    agreeingWith: (node, hash) => [
      node,
      ...seen().flatMap((other) => (other.node !== node && other.tip.beacon.hash === hash ? [other.node] : [])),
    ],
    status: () => readers.map(({ node, tip }) => ({ name: node.name, height: tip()?.beacon.height })),
  };
}

/** Reads the tip of one node; everyone who asks while a call is under way gets its answer. */
type TipReader = {
  readonly node: NodeClient;
  ask(): Promise<ChainInfo>;
  isAsking(): boolean;
  /** What it last answered; `undefined` once a call has failed. */
  tip(): ChainInfo | undefined;
};

function createTipReader(node: NodeClient, watcher: Watcher): TipReader {
  let tip: ChainInfo | undefined;
  let underWay: Promise<ChainInfo> | undefined;
  let isFailing = false;

  async function askOnce(): Promise<ChainInfo> {
    try {
      tip = await node.chainInfo();
      if (isFailing) watcher.recovered();
      isFailing = false;
      return tip;
    } catch (error) {
      tip = undefined;
      if (!isFailing) watcher.failed(error);
      isFailing = true;
      throw error;
    } finally {
      underWay = undefined;
    }
  }

  return {
    node,
    ask() {
      underWay ??= askOnce();
      return underWay;
    },
    isAsking: () => underWay !== undefined,
    tip: () => tip,
  };
}

/** Where all have failed: an error that a node has answered with says more than that another could not be read. */
async function orMostTelling<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    throw error.errors.find((each) => each instanceof UpstreamRpcError) ?? error.errors[0];
  }
}

function bestFirst(nodes: readonly SeenNode[], preferred: NodeClient): readonly SeenNode[] {
  const rank = ({ node }: SeenNode) => Number(node === preferred);
  return nodes.toSorted((a, b) => b.tip.beacon.height - a.tip.beacon.height || rank(b) - rank(a));
}
