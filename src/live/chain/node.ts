import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ChainInfo } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { UpstreamBadShapeError, UpstreamBusyError } from '../../errors.ts';
import type { UpstreamHealth } from '../../upstream/health.ts';
import type { NodeClient } from '../../upstream/node/client.ts';
import { isUnknownMethod } from '../../upstream/node/envelope.ts';
import {
  type ErrorBudget,
  isBeforeV3,
  isStateError,
  retryUntilStateExists,
  whyStateIsMissing,
} from '../../upstream/node/state-not-found.ts';
import type { Watcher } from '../broadcast/follower.ts';
import { type Block, createBlockReader, type StateRequest } from './block-reader.ts';
import type { ExchangeVersions } from './exchange-versions.ts';
import {
  canBeOfBranch,
  emptyRecord,
  hasErrors,
  isPaused,
  isResponding,
  isWell,
  type NodeEvent,
  type NodeRecord,
  nextRecord,
  type ReadKind,
  type ShownBlock,
  shownTip,
} from './node-record.ts';
import { branchError, createPastStateReader, type PastState, TOO_MANY_ERRORS } from './past-state-reader.ts';
import { type Standing, standingOf } from './retained-heights.ts';

/**
 * One node: its client, and the record of everything that is known of it. Who reads from a node decides by this record alone.
 *
 * Three things stop the gateway from calling a node. The circuit breaker of its host, when the host does not respond: then
 * also its tip cannot be read. Its pauses, when it responds but cannot give a state: then other nodes are read first. Its
 * budgets, when it responds with many errors -8000.
 */
export type Node = {
  readonly name: string;
  readonly client: NodeClient;
  record(): NodeRecord;
  /** Polls its tip. Callers during a poll get the response of that poll. @throws UpstreamError */
  pollTip(): Promise<ChainInfo>;
  /** Whether the last poll succeeded and the current one, if any, has not been waiting for long. */
  isResponding(): boolean;
  /** Another gateway has polled this tip. */
  receiveTip(block: ShownBlock): void;
  /** Reads the newest block; see `ReadBlock`. @throws UpstreamError */
  readBlock(tip: ChainInfo, signal: AbortSignal): Promise<Block>;
  /**
   * Whether it has the third version of the exchange at a height, within the budget of errors for new blocks.
   *
   * @param maxCalls a node without the method responds as if it had failed: how often it is called then
   * @throws UpstreamError
   */
  hasV3(height: BeaconHeight, maxCalls: number): Promise<boolean>;
  /**
   * Reads an earlier state, within a budget of errors, and without a call if the node is known to have pruned it.
   *
   * If the block of its height is known, the state must have its time. Otherwise a state of a URL that has shown two chains is
   * refused, and one that can still be replaced is returned only if the tip is not another block of the head's height.
   *
   * @throws UpstreamBusyError if the budget of errors is used up, UpstreamError
   */
  readPastState(state: PastState, signal: AbortSignal): Promise<ExchangeState>;
  /** Whether it has the final state of a height. */
  standing(height: BeaconHeight): Standing;
  /** Another node that was called later responded first: this one is paused. */
  overtaken(kind: ReadKind): void;
  /** Whether other nodes should be called first. */
  isPaused(kind: ReadKind): boolean;
  /** Whether it is well, and does not limit the rate of calls. */
  isAtRest(): boolean;
  status(): NodeStatus;
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
export function createNode(client: NodeClient, options: NodeOptions): Node {
  const { versions, isRightChain, graceMs, maxPauseMs, watcher } = options;
  const { name } = client;
  let record = emptyRecord(maxPauseMs, performance.now());
  let poll: Promise<ChainInfo> | undefined;

  function note(event: NodeEvent): void {
    record = nextRecord(record, event, performance.now());
  }

  function budgetOf(kind: ReadKind): ErrorBudget {
    return {
      has: (count) => hasErrors(record, kind, count, performance.now()),
      spend: () => note({ type: 'error caused', kind }),
    };
  }

  /** The one function that reads the exchange from the node. */
  async function readState({ kind, height, isV1 }: StateRequest, signal: AbortSignal): Promise<ExchangeState> {
    const isV3 = versions.current() === 'V3' && !isV1 && !versions.isBeforeV3(height);
    const read = isV3 ? readV3 : kind === 'newBlocks' ? client.exchangeState : client.earlierState;
    try {
      return await retryUntilStateExists(() => read(height, signal, kind), budgetOf(kind), signal);
    } catch (error) {
      if (!isBeforeV3(error) || kind === 'newBlocks') throw error;
      versions.noteBeforeV3(height);
      return readState({ kind, height, isV1: true }, signal);
    }
  }

  async function readV3(height: BeaconHeight, signal: AbortSignal, kind: ReadKind): Promise<ExchangeState> {
    const isNewest = kind === 'newBlocks';
    const readParams = async () => ({ ...(await client.exchangeParams(height, signal)), beaconHeight: height });
    const [pools, params] = await Promise.all([
      isNewest ? client.poolsV3(height, signal) : client.earlierPoolsV3(height, signal),
      isNewest ? versions.params(readParams) : readParams(),
    ]);
    return { ...pools, v3: { ...pools.v3, params } };
  }

  const readBlock = createBlockReader(client, readState, watcher.disagreed);
  const readPastState = createPastStateReader({ client, record: () => record, note, readState });

  async function pollOnce(): Promise<ChainInfo> {
    const wasFailing = record.failure !== undefined;
    note({ type: 'poll began' });
    try {
      const tip = await client.chainInfo();
      if (!isRightChain(tip)) {
        const wrongChain = `its chain ${JSON.stringify(tip.chainName)} is not the chain that the gateway follows`;
        throw new UpstreamBadShapeError('NODE', wrongChain, { host: name });
      }
      note({ type: 'tip polled', tip });
      if (wasFailing) watcher.recovered();
      return tip;
    } catch (error) {
      note({ type: 'poll failed', error });
      if (!wasFailing) watcher.failed(error);
      throw error;
    } finally {
      poll = undefined;
    }
  }

  return {
    name,
    client,
    record: () => record,
    pollTip() {
      poll ??= pollOnce();
      return poll;
    },
    async hasV3(height, maxCalls) {
      const errors = budgetOf('newBlocks');
      for (let calls = 1; ; calls++) {
        if (!errors.has(1)) throw new UpstreamBusyError('NODE', TOO_MANY_ERRORS);
        try {
          await retryUntilStateExists(() => client.exchangeParams(height), errors);
          return true;
        } catch (error) {
          const isUnknown = isUnknownMethod(error);
          if (isBeforeV3(error) || isUnknown || (isUnknown === undefined && calls >= maxCalls)) return false;
          if (isUnknown === false) throw error;
        }
      }
    },
    isResponding: () => isResponding(record, graceMs, performance.now()),
    receiveTip: (block) => note({ type: 'tip received', block }),
    async readBlock(tip, signal) {
      try {
        const block = await readBlock(tip, signal);
        note({ type: 'read succeeded', kind: 'newBlocks' });
        return block;
      } catch (error) {
        if (!signal.aborted) note({ type: 'read failed', kind: 'newBlocks', error, jitter: Math.random() });
        throw error;
      }
    },
    async readPastState(past, signal) {
      // A state that is not requested is no fault of the node.
      if (past.block === undefined && canBeOfBranch(record, past.height)) throw branchError(past.height, name);
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
    standing: (height) => standingOf(record.heights, height, performance.now()),
    overtaken: (kind) => note({ type: 'read failed', kind, error: undefined, jitter: Math.random() }),
    isPaused: (kind) => isPaused(record[kind], performance.now()),
    isAtRest: () =>
      client.spaceMs() === 0 && isWell(record.newBlocks) && !isPaused(record.pastStates, performance.now()),
    status: () => ({
      name,
      tip: shownTip(record),
      prunedHeight: record.heights.highestPruned?.height,
      spaceMs: client.spaceMs(),
      failure: record.received === undefined ? record.failure : undefined,
      health: client.health(),
    }),
  };
}
