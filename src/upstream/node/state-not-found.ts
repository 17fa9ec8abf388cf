import { ConstantBackoff, handleWhen, retry } from 'cockatiel';
import { type ErrorDetails, UpstreamRpcError } from '../../errors.ts';

const STATE_ERROR = -8000;

/** That of the third version is the second one. */
const STATE_ERRORS: readonly (number | undefined)[] = [STATE_ERROR, -14001];

/** Of `retrievebeaconblockbyheight`. */
const NO_SUCH_BLOCK = -2003;

/** The node does not have the block (the height is in the future for this node), or it has pruned the state. */
type MissingState = 'future' | 'pruned';

/** The causes as the node's first line of the stack trace names them, the more specific first. */
const CAUSES: readonly (readonly [pattern: RegExp, why: MissingState])[] = [
  [/Block Height -?\d+ not found/, 'future'],
  [/missing trie node|leveldb: not found/, 'pruned'],
  // The node does not know the root of the state at that height, and reports no other failure.
  [/Can't found ConsensusStateRootHash of beacon height [^,]*$/, 'pruned'],
];

/**
 * Why the node has no exchange state at the height that was requested. The codes -8000 and -14001 do not say so, the cause does.
 *
 * @returns `undefined` for every other error, also for one with these codes: then the node failed to read the state
 */
export function whyStateIsMissing(error: unknown): MissingState | undefined {
  if (!isStateError(error)) return undefined;
  const { missing } = error.details as { readonly missing?: MissingState };
  return missing ?? CAUSES.find(([pattern]) => pattern.test(causeOf(error)))?.[1];
}

function causeOf({ details }: UpstreamRpcError): string {
  return String(details['because'] ?? '');
}

/** Whether the height is below the start of the third version. */
export function isBeforeV3(error: unknown): boolean {
  return isStateError(error) && causeOf(error).includes('pDEX v3 is not available');
}

/** Whether the node is older than the verbosity that was requested. */
export function isUnknownVerbosity(error: unknown): boolean {
  return isStateError(error) && causeOf(error).includes("Can't recognize verbosity");
}

/** Whether the node responded that the block is in the future for it. */
export function isInFuture(error: unknown): boolean {
  return whyStateIsMissing(error) === 'future';
}

/** Whether the node responded with error -8000 or -14001, whatever its cause. Nodes may limit these. */
export function isStateError(error: unknown): error is UpstreamRpcError {
  return error instanceof UpstreamRpcError && STATE_ERRORS.includes(error.rpcCode);
}

/** Whether the node responded that it does not have a block, whose instructions were requested. */
export function isNoSuchBlock(error: unknown): boolean {
  return error instanceof UpstreamRpcError && error.rpcCode === NO_SUCH_BLOCK;
}

/** The error of a node that need not be called, because it is known that it does not have the state. */
export function stateMissing(missing: MissingState, details: ErrorDetails): UpstreamRpcError {
  return new UpstreamRpcError(STATE_ERROR, { ...details, missing });
}

/** How many errors of a node the gateway may still cause: nodes count them, and refuse clients that cause too many. */
export type ErrorBudget = {
  /** Whether one more error may be caused now. */
  has(): boolean;
  /** The node responded with an error. */
  spend(): void;
};

const RETRIES = { maxAttempts: 4, backoff: new ConstantBackoff(250) };

/**
 * Requests a state, or a block, whose height the chain has reached. It retries if the node responds that the height is in the future:
 * behind a load balancer, the node that responds can be a block behind the one that reported the height.
 *
 * @param errors the budget that each error -8000, -14001 or -2003 is charged to. When it is used up, the node is not called again
 */
export function retryUntilThere<T>(request: () => Promise<T>, errors: ErrorBudget, signal?: AbortSignal): Promise<T> {
  async function requestOnce(): Promise<T> {
    try {
      return await request();
    } catch (error) {
      if (isStateError(error) || isNoSuchBlock(error)) errors.spend();
      throw error;
    }
  }
  const isRetried = (error: unknown) => (isInFuture(error) || isNoSuchBlock(error)) && errors.has();
  return retry(handleWhen(isRetried), RETRIES).execute(requestOnce, signal);
}
