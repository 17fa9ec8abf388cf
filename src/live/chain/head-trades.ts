import { LRUCache } from 'lru-cache';
import { type BeaconHeight, canBeHead } from '../../domain/beacon-height.ts';
import { canBeBelow, UNKNOWN_HASH } from '../../domain/chain.ts';
import { drain, fullBucket, msUntilAvailable, refill } from '../../domain/token-bucket.ts';
import { type BlockTrades, mismatches } from '../../domain/trade.ts';
import { BranchError, HeightNotAvailableError, UpstreamBadShapeError, UpstreamBusyError } from '../../errors.ts';
import type { Bulkhead, QueuedCall } from '../../turns/bulkhead.ts';
import type { Requester } from '../../turns/fair-queue.ts';
import type { PushedBlock } from '../../upstream/node/push-session.ts';
import { type ErrorBudget, isNoSuchBlock, retryUntilThere } from '../../upstream/node/state-not-found.ts';
import type { Watcher } from '../broadcast/follower.ts';
import { type ReadOnce, readAlone } from '../fleet-port.ts';
import type { Head } from './head.ts';
import type { Node } from './node.ts';
import { canBeOfBranch, ERROR_RATE } from './node-record.ts';
import type { Nodes } from './nodes.ts';

/** The trades of blocks: those of the newest heads stay in memory. */
export type HeadTrades = ReturnType<typeof createHeadTrades>;

/** Is notified of what is wrong with the trades of blocks. */
export type TradesWatcher = Watcher & {
  /** Of blocks that are read with `readPast`. */
  readonly past: Watcher;
  /** An accepted trade cannot be decoded, so that the trades of the block are not known. */
  undecodable(height: BeaconHeight): void;
  /** The amounts of these pools differ from what the trades of the block give. */
  mismatched(height: BeaconHeight, poolIds: readonly string[]): void;
};

/** Names the block whose trades a fleet reads once. */
export type BlockName = { readonly chainName: string; readonly height: BeaconHeight; readonly hash: string };

type HeadTradesOptions = {
  readonly nodes: Pick<Nodes, 'readFrom' | 'ofChain'>;
  readonly bulkhead: Bulkhead;
  /** The newest heads that were served. */
  readonly served: () => readonly Head[];
  /** The maximum number of blocks in memory. */
  readonly maxBlocks: number;
  /** After a failure, the trades of a block are read again for a client after this time. */
  readonly retryMs: number;
  readonly watcher: TradesWatcher;
  /** Reads for all gateways of a fleet; alone by default. */
  readonly readOnce?: ReadOnce<BlockName, BlockTrades> | undefined;
};

/** Blocks that were pushed and are not served yet. */
const MAX_PUSHED = 8;

/** Behind a load balancer, or while the tip is replaced, the block can be another one. It is requested at most this number of times. */
const MAX_READS_OF_A_BLOCK = 3;

/** A node behind a load balancer can lack the newest blocks for a while. Below them, it has pruned what it lacks. */
const NEWEST_BLOCKS = 64;

const WRONG_BLOCK = 'the block has another height, or a time that cannot be true';

/** Creates the trades, with none read yet. */
export function createHeadTrades(options: HeadTradesOptions) {
  const { nodes, bulkhead, served, maxBlocks, retryMs, watcher, readOnce = readAlone } = options;
  const known = new LRUCache<string, QueuedCall<BlockTrades>>({ max: maxBlocks });
  const pushed = new LRUCache<string, () => Promise<BlockTrades>>({ max: MAX_PUSHED });
  const [ofHeads, ofPast] = [onceOf(watcher), onceOf(watcher.past)];
  let bucket = fullBucket(ERROR_RATE, performance.now());
  let mismatched = 0;

  /** Each head may cause one error, also without a budget. */
  const errors: ErrorBudget = {
    has() {
      bucket = refill(bucket, ERROR_RATE, performance.now());
      return msUntilAvailable(bucket, ERROR_RATE, 1) === 0;
    },
    spend() {
      if (errors.has()) bucket = drain(bucket, 1);
    },
  };

  async function readFrom(node: Node, { beaconHeight, hash, time }: Head, signal: AbortSignal): Promise<BlockTrades> {
    for (let calls = 0; calls < MAX_READS_OF_A_BLOCK; calls++) {
      const request = () => node.client.beaconBlock(beaconHeight, signal);
      const block = await retryUntilThere(request, errors, signal);
      if (hash === UNKNOWN_HASH ? block.time === time : block.hash === hash) return block.trades();
    }
    throw new BranchError(beaconHeight, { host: node.name });
  }

  function readFromAny(head: Head): Promise<BlockTrades> {
    const order = nodes.ofChain(head, head.beaconHeight, served());
    return nodes.readFrom(order, (node, signal) => readFrom(node, head, signal), MAX_READS_OF_A_BLOCK);
  }

  /**
   * Reads the block of a final height below a head. No client waits for it, and it takes no place in memory.
   *
   * @param received gets the number of bytes of each part of a response
   * @throws HeightNotAvailableError if no node has it any more, UpstreamError
   */
  async function readPast(beaconHeight: BeaconHeight, head: Head, received: (bytes: number) => void) {
    async function readPastFrom(node: Node, signal: AbortSignal) {
      if (canBeOfBranch(node.record(), beaconHeight)) throw new BranchError(beaconHeight, { host: node.name });
      const { height, hash, time, trades } = await node.client.beaconBlock(beaconHeight, signal, received);
      if (height !== beaconHeight || time === undefined || !canBeBelow(time, head))
        throw new UpstreamBadShapeError('NODE', WRONG_BLOCK, { host: node.name, height });
      return { beaconHeight, hash, time, trades: await trades() };
    }
    try {
      const block = await nodes.readFrom(
        nodes.ofChain(head, beaconHeight, served()),
        readPastFrom,
        MAX_READS_OF_A_BLOCK,
      );
      if (!block.trades.isComplete) watcher.undecodable(beaconHeight);
      ofPast.succeeded();
      return block;
    } catch (error) {
      if (isNoSuchBlock(error) && beaconHeight < head.beaconHeight - NEWEST_BLOCKS)
        throw new HeightNotAvailableError(beaconHeight, head.beaconHeight);
      // One line in the log is enough if no block can be read.
      if (!ofHeads.isFailing()) ofPast.failed(error);
      throw error;
    }
  }

  function readUnlessPushed(head: Head): Promise<BlockTrades> {
    const { beaconHeight: height, hash, chainInfo } = head;
    // Without a hash, the gateways of a fleet could mean different blocks.
    if (hash === UNKNOWN_HASH) return readFromAny(head);
    return readOnce({ chainName: chainInfo.chainName, height, hash }, () => readFromAny(head));
  }

  async function read(head: Head): Promise<BlockTrades> {
    const { beaconHeight: height, hash } = head;
    const name = nameOf(height, hash);
    const readBlock = pushed.get(name) ?? (() => readUnlessPushed(head));
    // A frame can have megabytes.
    pushed.delete(name);
    const trades = await readBlock();
    if (!trades.isComplete) watcher.undecodable(height);
    compare(head, trades);
    return trades;
  }

  function compare(head: Head, trades: BlockTrades): void {
    const parent = served().find(({ hash }) => hash !== UNKNOWN_HASH && hash === head.previousHash);
    if (parent === undefined) return;
    const found = mismatches(parent.exchange, head.exchange, trades);
    mismatched += found.length;
    if (found.length > 0) watcher.mismatched(head.beaconHeight, found);
  }

  function readOrShare(head: Head, queue: Bulkhead['queue']): QueuedCall<BlockTrades> {
    const name = nameOf(head.beaconHeight, head.hash);
    const before = known.get(name);
    if (before !== undefined) return before;
    const call = queue(() => read(head));
    known.set(name, call);
    call.response.then(ofHeads.succeeded, (error) => {
      const isBusy = error instanceof UpstreamBusyError;
      if (!isBusy) ofHeads.failed(error);
      if (known.peek(name) !== call) return;
      if (isBusy) known.delete(name);
      // For this time, all clients get the error, and cause no call.
      else known.set(name, call, { ttl: retryMs });
    });
    return call;
  }

  return {
    /**
     * The trades of the block of a head; none in V1. All requests for them share one read.
     *
     * @param requester the client and operation that wait for it in the queue
     * @throws UpstreamError
     */
    async of(head: Head, requester: Requester): Promise<BlockTrades> {
      return head.exchange.v3 === undefined ? NO_TRADES : readOrShare(head, bulkhead.queue).wait(requester);
    },
    /** A head is published: its trades are read, and compared with its state. A head never waits for them. */
    published(head: Head): void {
      if (head.exchange.v3 !== undefined) readOrShare(head, callAtOnce);
    },
    /** A node has pushed a block. If it has sent the instructions too, nothing needs to be read. */
    received({ height, hash, trades }: Pick<PushedBlock, 'height' | 'hash' | 'trades'>): void {
      if (trades !== undefined && canBeHead(height, served().at(-1))) pushed.set(nameOf(height, hash), trades);
    },
    readPast,
    /** How many pools had amounts that did not follow from the trades. */
    mismatches: () => mismatched,
  };
}

/** Makes a call outside the queue. */
function callAtOnce<T>(call: () => Promise<T>): QueuedCall<T> {
  const response = call();
  return { wait: () => response, response };
}

/** Notifies of the first of several failures in a row, and of the success after them. */
function onceOf(watcher: Watcher) {
  let isFailing = false;
  return {
    isFailing: () => isFailing,
    failed(error: unknown): void {
      if (!isFailing) watcher.failed(error);
      isFailing = true;
    },
    succeeded(): void {
      if (isFailing) watcher.recovered();
      isFailing = false;
    },
  };
}

/** Of a block of V1. */
const NO_TRADES: BlockTrades = { trades: [], isComplete: true, poolsWithLiquidityChanges: new Set() };

function nameOf(height: BeaconHeight, hash: string): string {
  return `${height} ${hash}`;
}
