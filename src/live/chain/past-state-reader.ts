import { type BeaconHeight, isFinal, newestFinal } from '../../domain/beacon-height.ts';
import { canBeBelow } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { BranchError, UpstreamBadShapeError, UpstreamBusyError } from '../../errors.ts';
import type { NodeClient } from '../../upstream/node/client.ts';
import { stateMissing, whyStateIsMissing } from '../../upstream/node/state-not-found.ts';
import { MAX_READS_OF_A_STATE, type ReadState } from './block-reader.ts';
import type { ExchangeVersions } from './exchange-versions.ts';
import {
  canBeOfBranch,
  ERRORS_USED_UP,
  isWell,
  mayCauseErrors,
  type NodeEvent,
  type NodeRecord,
  type ShownBlock,
} from './node-record.ts';
import { probeFor, standingOf } from './retained-heights.ts';

/** An earlier state, and what is known of its block. */
export type PastState = {
  readonly height: BeaconHeight;
  /** Whether it is that of the first version, also where the third one trades. */
  readonly isV1?: boolean | undefined;
  /** The block of the head below which it is. */
  readonly headBlock: ShownBlock;
  /** The block of this height from which the head descends; `undefined` if that is not known. */
  readonly block: Pick<ShownBlock, 'time'> | undefined;
};

type Wanted = Pick<PastState, 'height' | 'isV1'>;

type PastStateReaderOptions = {
  readonly client: NodeClient;
  readonly record: () => NodeRecord;
  readonly note: (event: NodeEvent) => void;
  readonly readState: ReadState;
  readonly versions: Pick<ExchangeVersions, 'versionAt'>;
};

/** Maximum number of risky calls at once, which may fail. What they show may make the others needless. */
const RISKY_AT_ONCE = 4;

/** While at least this number of errors is left, no probe is needed. */
const MANY_ERRORS = 16;

const BLOCKS_CHANGED = 'the newest blocks changed while the gateway read them';

/** Creates `readPastState` of one node. It decides by the record of the node which calls are made. */
export function createPastStateReader(options: PastStateReaderOptions) {
  const { client, record, note, readState, versions } = options;
  const riskyCalls = new Set<Promise<unknown>>();
  const mayCause = (errors: number) => mayCauseErrors(record(), 'pastStates', errors, performance.now());
  const standing = (height: BeaconHeight) => standingOf(record().heights, height, performance.now());

  /** Whether it is uncertain if a call fails. A node without V3 at a height also responds with an error. */
  function isRisky({ height, isV1 }: Wanted): boolean {
    const known = standing(height);
    const hasUnknownVersion = !isV1 && versions.versionAt(height) === undefined;
    return known !== 'pruned' && (known !== 'retained' || hasUnknownVersion || !isWell(record().pastStates));
  }

  /** Calls, and remembers what the response shows. */
  async function callNow({ height, isV1 }: Wanted, signal: AbortSignal): Promise<ExchangeState | undefined> {
    try {
      const state = await readState({ kind: 'pastStates', height, isV1 }, signal);
      note({ type: 'state response', height, response: 'found' });
      return state;
    } catch (error) {
      const why = whyStateIsMissing(error);
      if (why !== undefined) note({ type: 'state response', height, response: why === 'future' ? 'behind' : why });
      throw error;
    }
  }

  async function callWithinBudget(wanted: Wanted, signal: AbortSignal): Promise<ExchangeState | undefined> {
    if (!mayCause(1)) throw new UpstreamBusyError('NODE', ERRORS_USED_UP);
    const state = callNow(wanted, signal);
    riskyCalls.add(state);
    return state.finally(() => riskyCalls.delete(state));
  }

  /** Calls when others that are in progress, and perhaps a probe, have shown whether the node has the height. */
  async function call(wanted: Wanted, newest: BeaconHeight, signal: AbortSignal): Promise<ExchangeState | undefined> {
    const { height } = wanted;
    for (let isProbed = false; ; isProbed = true) {
      while (riskyCalls.size >= RISKY_AT_ONCE && isRisky(wanted)) await Promise.race(riskyCalls).catch(() => {});
      if (standing(height) === 'pruned') throw stateMissing('pruned', { host: client.name });
      if (!isRisky(wanted)) return callNow(wanted, signal);
      const mayProbe = standing(height) === 'unknown' && !isProbed && !mayCause(MANY_ERRORS);
      const probe = mayProbe ? probeFor(record().heights, height, newest) : undefined;
      if (probe === undefined) return callWithinBudget(wanted, signal);
      await callWithinBudget({ ...wanted, height: probe }, signal);
    }
  }

  return async ({ height, isV1, headBlock, block }: PastState, signal: AbortSignal): Promise<ExchangeState> => {
    const final = isFinal(height, headBlock.height);
    for (let calls = 0; calls < MAX_READS_OF_A_STATE; calls++) {
      const state = await call({ height, isV1 }, newestFinal(headBlock.height), signal);
      if (state === undefined) continue;
      if (block !== undefined && block.time === state.time) return state;
      if (state.time !== undefined && (block !== undefined || !canBeBelow(state.time, headBlock))) continue;
      if (canBeOfBranch(record(), height)) throw new BranchError(height, { host: client.name });
      if (final) return state;
      const { height: tip, hash } = (await client.chainInfo(signal)).beacon;
      if (tip !== headBlock.height || hash === headBlock.hash) return state;
      break;
    }
    throw final
      ? new BranchError(height, { host: client.name })
      : new UpstreamBadShapeError('NODE', BLOCKS_CHANGED, { host: client.name });
  };
}
