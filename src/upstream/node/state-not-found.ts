import { type ErrorDetails, UpstreamRpcError } from '../../errors.ts';
import { type RetryPolicy, retry } from '../retry.ts';

const STATE_NOT_FOUND = -8000;

/** Whether the node says that it has no exchange state at the height asked for: not yet, or no longer. */
export function isStateNotFound(error: unknown): boolean {
  return error instanceof UpstreamRpcError && error.rpcCode === STATE_NOT_FOUND;
}

/** The same said for a node that need not be asked. */
export function stateNotFound(details: ErrorDetails): UpstreamRpcError {
  return new UpstreamRpcError(STATE_NOT_FOUND, details);
}

const SHORTLY: RetryPolicy = { times: 4, delayMs: 250, when: isStateNotFound };

/**
 * Asks for a state near the tip, and again shortly where it is not there: behind a load balancer, the node that answers
 * can be a block behind the one that named the height.
 */
export function askUntilStateIsThere<T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  return retry(ask, { ...SHORTLY, signal });
}
