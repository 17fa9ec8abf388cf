import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ChainInfo } from '../../domain/chain.ts';
import { UpstreamBadShapeError } from '../../errors.ts';
import { createBackOff } from '../../upstream/circuit.ts';
import type { UpstreamHealth } from '../../upstream/health.ts';
import type { NodeClient } from '../../upstream/node/client.ts';
import type { Watcher } from '../broadcast/follower.ts';
import { type Block, createBlockReader } from './block-reader.ts';
import { createNodePastStates, type NodePastStates } from './node-past-states.ts';
import { createShownBlocks, type ShownBlock, type ShownBlocks } from './shown-blocks.ts';

/**
 * One node: its client, and everything that the gateway knows about its state. Who reads from a node decides by this alone.
 *
 * Three things stop the gateway from calling a node. The circuit breaker of its host, when the host does not respond: then
 * also its tip cannot be read. The pauses of `newBlocks` and `pastReads`, when it responds but cannot give a state: then
 * other nodes are read first. The error budgets, when it responds with many errors -8000.
 */
export type Node = {
  readonly name: string;
  readonly client: NodeClient;
  /** Polls its tip. Callers during a poll get the response of that poll. @throws UpstreamError */
  pollTip(): Promise<ChainInfo>;
  isPolling(): boolean;
  /** The tip of the last poll; `undefined` if that poll failed, and before the first. */
  tip(): ChainInfo | undefined;
  /** Whether the last poll succeeded and the current one, if any, has not been waiting for long. */
  isResponding(): boolean;
  /** Another gateway has polled this tip; `undefined` if that poll failed. */
  receiveTip(block: ShownBlock | undefined): void;
  readonly shown: ShownBlocks;
  /** Reads the newest block; see `ReadBlock`. The outcome counts in `newBlocks`. @throws UpstreamError */
  readBlock(tip: ChainInfo, signal: AbortSignal): Promise<Block>;
  /** Whether its newest blocks can be read. */
  readonly newBlocks: ReadHealth;
  readonly pastStates: NodePastStates;
  /** Whether its earlier states can be read. */
  readonly pastReads: ReadHealth;
  status(): NodeStatus;
};

/**
 * Whether reads of one kind from a node succeed. The circuit breaker of its host covers a host that does not respond. This
 * covers a node that responds, also with its tip, and fails to give a state.
 */
type ReadHealth = {
  /** The node was read: it is well again. */
  succeeded(): void;
  /** A read failed: the node is paused, for longer each time. Reads that fail during a pause are part of one failure. */
  failed(error: unknown): void;
  /** Another node that was called later responded first. The node is paused in the same way, without an error. */
  overtaken(): void;
  /** Whether the last read neither failed nor was overtaken. */
  isWell(): boolean;
  /** Whether other nodes should be called first. */
  isPaused(): boolean;
  /** What the reads since the last success failed with; `undefined` if the node was only slow. */
  lastError(): unknown;
};

/** A node as operators see it. */
export type NodeStatus = {
  readonly name: string;
  /** The block of its tip; `undefined` if the last poll failed. */
  readonly tip: ShownBlock | undefined;
  /** The highest height that it is known to have pruned; `undefined` if none is known. */
  readonly prunedHeight: BeaconHeight | undefined;
  /** Minimum time between two calls to it, because it limits their rate; 0 if it does not. */
  readonly spaceMs: number;
  /** Why its tip cannot be read; `undefined` if it can. */
  readonly failure: unknown;
  /** How the calls to it went. */
  readonly health: UpstreamHealth;
};

/** Is notified when the tip of a node, or its earlier states, cannot be read, and when they can be read again. */
export type NodeWatcher = Watcher & {
  readonly pastStates: Watcher;
  /** The two sources of the height of its tip still differ after they were read again; once until they agree. */
  disagreed(chainInfo: BeaconHeight, beaconState: BeaconHeight): void;
};

type NodeOptions = {
  /** Whether a tip is of the chain that is followed. */
  readonly isRightChain: (tip: ChainInfo) => boolean;
  /** How long a poll may take while the node still counts as responding. */
  readonly graceMs: number;
  /** The longest pause of a node that cannot be read. */
  readonly maxPauseMs: number;
  readonly watcher: NodeWatcher;
};

/** Creates a node of which nothing is known yet. */
export function createNode(client: NodeClient, { isRightChain, graceMs, maxPauseMs, watcher }: NodeOptions): Node {
  const { name } = client;
  const shown = createShownBlocks();
  const newBlocks = createReadHealth(maxPauseMs);
  const readBlock = createBlockReader(client, watcher.disagreed);
  const pastStates = createNodePastStates(client, shown, watcher.pastStates);
  let tip: ChainInfo | undefined;
  /** The tip that another gateway has polled since this one did. */
  let received: ShownBlock | undefined;
  let poll: Promise<ChainInfo> | undefined;
  let polledAt = 0;
  let failure: unknown;

  async function pollOnce(): Promise<ChainInfo> {
    try {
      const answer = await client.chainInfo();
      if (!isRightChain(answer)) {
        const wrongChain = `its chain ${JSON.stringify(answer.chainName)} is not the chain that the gateway follows`;
        throw new UpstreamBadShapeError('NODE', wrongChain, { host: name });
      }
      tip = answer;
      received = undefined;
      shown.add(answer.beacon);
      if (failure !== undefined) watcher.recovered();
      failure = undefined;
      return answer;
    } catch (error) {
      tip = undefined;
      received = undefined;
      if (failure === undefined) watcher.failed(error);
      failure = error;
      throw error;
    } finally {
      poll = undefined;
    }
  }

  return {
    name,
    client,
    pollTip() {
      if (poll === undefined) {
        polledAt = performance.now();
        poll = pollOnce();
      }
      return poll;
    },
    isPolling: () => poll !== undefined,
    tip: () => tip,
    isResponding: () =>
      received !== undefined || (tip !== undefined && (poll === undefined || performance.now() - polledAt <= graceMs)),
    receiveTip(block) {
      tip = undefined;
      received = block;
      if (block !== undefined) shown.add(block);
    },
    shown,
    async readBlock(tip, signal) {
      try {
        const block = await readBlock(tip, signal);
        newBlocks.succeeded();
        return block;
      } catch (error) {
        if (!signal.aborted) newBlocks.failed(error);
        throw error;
      }
    },
    newBlocks,
    pastStates,
    pastReads: createReadHealth(maxPauseMs),
    status: () => ({
      name,
      tip: tip?.beacon ?? received,
      prunedHeight: pastStates.prunedUpTo(),
      spaceMs: client.spaceMs(),
      failure: received === undefined ? failure : undefined,
      health: client.health(),
    }),
  };
}

/** Starts with a node that is well. Its pauses grow up to the longest. */
function createReadHealth(maxPauseMs: number): ReadHealth {
  const backOff = createBackOff(maxPauseMs);
  let pause: ReturnType<typeof backOff.next> | undefined;
  let pausedUntil = 0;
  let lastError: unknown;

  const isPaused = () => performance.now() < pausedUntil;

  function noteFailure(error: unknown): void {
    if (isPaused()) {
      lastError ??= error;
      return;
    }
    pause = pause === undefined ? backOff.next() : pause.next(undefined);
    pausedUntil = performance.now() + pause.duration;
    lastError = error;
  }

  return {
    succeeded() {
      pause = undefined;
      pausedUntil = 0;
      lastError = undefined;
    },
    failed: noteFailure,
    overtaken: () => noteFailure(undefined),
    isWell: () => pause === undefined,
    isPaused,
    lastError: () => lastError,
  };
}
