import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import type { PoolOrder } from '../../domain/pool-order.ts';
import { type PoolPair, poolPairId } from '../../domain/pool-pair.ts';
import { BranchError, UpstreamBusyError, UpstreamUnreachableError } from '../../errors.ts';
import type { NodeClient } from '../../upstream/node/client.ts';
import { canBeUnknownMethod, isUnknownMethod } from '../../upstream/node/envelope.ts';
import type { PoolsV3, TimedParams } from '../../upstream/node/pools-v3.ts';
import { type ErrorBudget, isBeforeV3, retryUntilThere } from '../../upstream/node/state-not-found.ts';
import { MAX_READS_OF_A_STATE, type ReadState } from './block-reader.ts';
import type { ExchangeVersions } from './exchange-versions.ts';
import { ERRORS_USED_UP, type ReadKind } from './node-record.ts';

type ExchangeReaderOptions = {
  readonly client: NodeClient;
  readonly versions: ExchangeVersions;
  /** The errors that reads of a kind may still cause. */
  readonly budgetOf: (kind: ReadKind) => ErrorBudget;
};

/** Repeats a call until the node has the state. */
type Repeat = <T>(request: () => Promise<T>) => Promise<T>;

/** How often the parameters are read until they are those of the block of the pools, which are a thousand times as large. */
const CALLS_FOR_PARAMS = 4;

/**
 * Adds the parameters to pools. If they are those of another block, they are read again: a load balancer has called another node.
 *
 * @returns `undefined` if they are those of another block each time
 */
async function withParams(
  pools: PoolsV3,
  first: TimedParams,
  readAgain: () => Promise<TimedParams>,
): Promise<ExchangeState | undefined> {
  let read = first;
  for (let calls = 1; ; calls++) {
    if (read.time === undefined || pools.time === undefined || read.time === pools.time)
      return { ...pools, v3: { ...pools.v3, params: read.params } };
    if (calls === CALLS_FOR_PARAMS) return undefined;
    read = await readAgain();
  }
}

/** An old node closes the connection for an unknown method. It also does so for a client with too many errors, so this is not V1. */
function withHint(error: unknown): unknown {
  if (!(error instanceof UpstreamUnreachableError)) return error;
  // A new error: the circuit can throw the same one again.
  return error.withHint('if this node is too old for pdexv3_getState, set EXCHANGE_VERSION=v1');
}

/** Creates the reader of the exchange from one node, in the version that trades. */
export function createExchangeReader({ client, versions, budgetOf }: ExchangeReaderOptions) {
  /** Each call is charged to the budget, and repeated, by itself. */
  async function readNewV3(height: BeaconHeight, signal: AbortSignal, repeat: Repeat) {
    const readParams = () => repeat(() => client.newestParamsV3(height, signal));
    const [pools, params] = await Promise.all([repeat(() => client.newestPoolsV3(height, signal)), readParams()]);
    return withParams(pools, params, readParams);
  }

  /** One call after the other: a state that the node does not have causes one error. */
  async function readEarlierV3(height: BeaconHeight, signal: AbortSignal, repeat: Repeat) {
    const readParams = () => repeat(() => client.earlierParamsV3(height, signal));
    const pools = await repeat(() => client.earlierPoolsV3(height, signal));
    return withParams(pools, await readParams(), readParams);
  }

  const readV1 = { newBlocks: client.newestStateV1, pastStates: client.earlierStateV1 };
  const readV3 = { newBlocks: readNewV3, pastStates: readEarlierV3 };

  const readState: ReadState = async ({ kind, height, isV1 }, signal) => {
    const version = isV1 ? 'V1' : versions.versionAt(height);
    const repeat: Repeat = (request) => retryUntilThere(request, budgetOf(kind), signal);
    try {
      const state = await (version === 'V1'
        ? repeat(() => readV1[kind](height, signal))
        : readV3[kind](height, signal, repeat));
      if (state !== undefined) versions.observe(state);
      return state;
    } catch (error) {
      if (version !== undefined || kind === 'newBlocks' || !isBeforeV3(error)) throw error;
      versions.noteBeforeV3(height);
      return readState({ kind, height, isV1: true }, signal);
    }
  };

  return {
    readState,
    /**
     * Reads the orders of a pool from a node whose state of that height has none.
     *
     * @throws UpstreamBusyError if the budget of errors is used up, UpstreamError
     */
    async readPoolOrders(pool: PoolPair, signal: AbortSignal): Promise<readonly PoolOrder[]> {
      const { beaconHeight: height, time } = pool;
      const errors = budgetOf('pastStates');
      for (let calls = 0; calls < MAX_READS_OF_A_STATE; calls++) {
        if (!errors.has()) throw new UpstreamBusyError('NODE', ERRORS_USED_UP);
        const request = () => client.poolOrders(height, poolPairId(pool), signal);
        const read = await retryUntilThere(request, errors, signal);
        if (read.time === time) return read.orders;
      }
      throw new BranchError(height, { host: client.name });
    },
    /**
     * Whether the node has V3 at a height, within the budget of errors for new blocks.
     *
     * @param maxCalls the maximum number of calls to a node that responds as one without the method does. A node that fails responds in
     *   the same way.
     * @throws UpstreamError
     */
    async hasV3(height: BeaconHeight, maxCalls: number): Promise<boolean> {
      const errors = budgetOf('newBlocks');
      for (let calls = 1; ; calls++) {
        if (!errors.has()) throw new UpstreamBusyError('NODE', ERRORS_USED_UP);
        try {
          await retryUntilThere(() => client.probeV3(height), errors);
          return true;
        } catch (error) {
          if (isBeforeV3(error) || isUnknownMethod(error)) return false;
          if (!canBeUnknownMethod(error)) throw withHint(error);
          if (calls >= maxCalls) return false;
        }
      }
    },
  };
}
