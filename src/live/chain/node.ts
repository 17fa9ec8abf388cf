import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ChainInfo } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { BranchError, haveSameReason, UpstreamBadShapeError, UpstreamBusyError } from '../../errors.ts';
import type { NodeClient } from '../../upstream/node/client.ts';
import { type ErrorBudget, isStateError, whyStateIsMissing } from '../../upstream/node/state-not-found.ts';
import type { Watcher } from '../broadcast/follower.ts';
import { createBlockReader, type ReadBlock } from './block-reader.ts';
import { createExchangeReader } from './exchange-reader.ts';
import type { ExchangeVersions } from './exchange-versions.ts';
import {
  canBeOfBranch,
  emptyRecord,
  isPaused,
  isResponding,
  isWell,
  mayCauseErrors,
  type NodeEvent,
  type NodeRecord,
  nextRecord,
  type ReadKind,
  type ShownBlock,
  shownTip,
} from './node-record.ts';
import { createPastStateReader, type PastState } from './past-state-reader.ts';
import { type Standing, standingOf } from './retained-heights.ts';

/**
 * One node: its client, and the record of everything that is known of it. Who reads from a node decides by this record alone.
 *
 * Three things stop the gateway from calling a node. The circuit breaker of its host, when the host does not respond: then
 * also its tip cannot be read. Its pauses, when it responds but cannot give a state: then other nodes are read first. Its
 * budgets, when it responds with many errors -8000 or -14001.
 */
export type Node = ReturnType<typeof createNode>;

/** A node as operators see it. */
export type NodeStatus = ReturnType<Node['status']>;

/** Is notified when the tip of a node, or its earlier states, cannot be read, and when they can be read again. */
export type NodeWatcher = Watcher & { readonly pastStates: Watcher };

type NodeOptions = {
  readonly versions: ExchangeVersions;
  /** Whether a tip is of the chain that is followed. */
  readonly isRightChain: (tip: ChainInfo) => boolean;
  /** How long a poll may take while the node still counts as responding. */
  readonly graceMs: number;
  /** The longest pause of a node that cannot be read. */
  readonly maxPauseMs: number;
  readonly watcher: NodeWatcher;
};

/** Creates a node of which nothing is known yet. */
export function createNode(client: NodeClient, options: NodeOptions) {
  const { versions, isRightChain, graceMs, maxPauseMs, watcher } = options;
  const { name } = client;
  let record = emptyRecord(maxPauseMs, performance.now());
  let poll: Promise<ChainInfo> | undefined;

  function note(event: NodeEvent): void {
    record = nextRecord(record, event, performance.now());
  }

  function budgetOf(kind: ReadKind): ErrorBudget {
    return {
      has: () => mayCauseErrors(record, kind, 1, performance.now()),
      spend: () => note({ type: 'error caused', kind }),
    };
  }

  const { readState, readPoolOrders, hasV3 } = createExchangeReader({ client, versions, budgetOf });
  const readBlock = createBlockReader(client, readState);
  const readPastState = createPastStateReader({ client, record: () => record, note, readState, versions });

  async function pollOnce(): Promise<ChainInfo> {
    const before = record.failure;
    note({ type: 'poll began' });
    try {
      const tip = await client.chainInfo();
      if (!isRightChain(tip)) {
        const wrongChain = `its chain ${JSON.stringify(tip.chainName)} is not the chain that the gateway follows`;
        throw new UpstreamBadShapeError('NODE', wrongChain, { host: name });
      }
      note({ type: 'tip polled', tip });
      if (before !== undefined) watcher.recovered();
      return tip;
    } catch (error) {
      note({ type: 'poll failed', error });
      if (!haveSameReason(error, before)) watcher.failed(error);
      throw error;
    } finally {
      poll = undefined;
    }
  }

  return {
    name,
    client,
    record: (): NodeRecord => record,
    /** Polls its tip. Callers during a poll get the response of that poll. @throws UpstreamError */
    pollTip(): Promise<ChainInfo> {
      poll ??= pollOnce();
      return poll;
    },
    hasV3,
    /** Whether the last poll succeeded and the current one, if any, has not been waiting for long. */
    isResponding: (): boolean => isResponding(record, graceMs, performance.now()),
    receiveTip: (block: ShownBlock): void => note({ type: 'tip received', block }),
    /** Reads the newest block; see `createBlockReader`. @throws UpstreamError */
    async readBlock(tip: ChainInfo, signal: AbortSignal): Promise<ReadBlock> {
      try {
        const block = await readBlock(tip, signal);
        note({ type: 'read succeeded', kind: 'newBlocks' });
        return block;
      } catch (error) {
        if (!signal.aborted) note({ type: 'read failed', kind: 'newBlocks', error, jitter: Math.random() });
        throw error;
      }
    },
    /**
     * Reads an earlier state, within a budget of errors, and without a call if the node is known to have pruned it.
     *
     * If the block of its height is known, the state must have its time. Otherwise its time must be above 0 and not later than that of
     * the head, a state of a URL that has shown two chains is refused, and one that can still be replaced is returned only if the tip
     * is not another block of the head's height.
     *
     * @throws UpstreamBusyError if the budget of errors is used up, UpstreamError
     */
    async readPastState(past: PastState, signal: AbortSignal): Promise<ExchangeState> {
      // A state that is not requested is no fault of the node.
      if (past.block === undefined && canBeOfBranch(record, past.height))
        throw new BranchError(past.height, { host: name });
      try {
        const state = await readPastState(past, signal);
        if (isStateError(record.pastStates.lastError)) watcher.pastStates.recovered();
        note({ type: 'read succeeded', kind: 'pastStates' });
        return state;
      } catch (error) {
        // That the node does not have a state is a response. That the gateway does not call it is no fault of the node.
        const isFailure = whyStateIsMissing(error) === undefined && !(error instanceof UpstreamBusyError);
        if (!isFailure || signal.aborted) throw error;
        const wasBroken = isStateError(record.pastStates.lastError);
        note({ type: 'read failed', kind: 'pastStates', error, jitter: Math.random() });
        if (!wasBroken && isStateError(record.pastStates.lastError)) watcher.pastStates.failed(error);
        throw error;
      }
    },
    readPoolOrders,
    /** Whether it has the final state of a height. */
    standing: (height: BeaconHeight): Standing => standingOf(record.heights, height, performance.now()),
    /** Another node that was called later responded first: this one is paused. */
    overtaken: (kind: ReadKind): void => note({ type: 'read failed', kind, error: undefined, jitter: Math.random() }),
    /** Whether other nodes should be called first. */
    isPaused: (kind: ReadKind): boolean => isPaused(record[kind], performance.now()),
    /** Whether it is well, and does not limit the rate of calls. */
    isAtRest: (): boolean =>
      client.spaceMs() === 0 && isWell(record.newBlocks) && !isPaused(record.pastStates, performance.now()),
    status: () => ({
      name,
      /** The block of its tip; `undefined` if the last poll failed. */
      tip: shownTip(record),
      /** The highest height that it is known to have pruned; `undefined` if none is known. */
      prunedHeight: record.heights.highestPruned?.height,
      /** Minimum time between two calls to it, because it limits their rate; 0 if it does not. */
      spaceMs: client.spaceMs(),
      /** Why its tip cannot be read; `undefined` if it can. */
      failure: record.received === undefined ? record.failure : undefined,
      /** How the calls to it went. */
      health: client.health(),
    }),
  };
}
