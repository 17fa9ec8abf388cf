import { type ErrorDetails, ForeignNodeError, UpstreamBadStatusError, UpstreamRpcError } from '../../errors.ts';
import { readObject, readString, ShapeError, type WireObject } from '../wire.ts';

/** The JSON-RPC methods that the gateway calls. */
export type NodeMethod =
  | 'getblockchaininfo'
  | 'getbeaconbeststatedetail'
  | 'getpdestate'
  | 'pdexv3_getState'
  | 'retrievebeaconblockbyheight';

/** The documented request: JSON-RPC 1.0 with an integer id, which the node sends back. */
export function toRequest(id: number, method: NodeMethod, params: readonly unknown[]): string {
  return JSON.stringify({ id, jsonrpc: '1.0', method, params });
}

/** The result in a parsed response, for the request that it belongs to. @throws ShapeError, UpstreamRpcError */
export type ResultOf = (document: unknown) => WireObject;

/**
 * The result inside the node's envelope.
 *
 * @param details fields for the log beside the node's error: where the response came from
 * @throws UpstreamRpcError if the node reports an error, which it does with HTTP status 200
 * @throws ShapeError for another envelope, also for the response to another request
 */
export function readResult(document: unknown, id: number, details: ErrorDetails = {}): WireObject {
  return readObject(readAnyResult(document, id, details), '$.Result');
}

/** The same for a method whose result can be a list. */
export function readAnyResult(document: unknown, id: number, details: ErrorDetails = {}): unknown {
  const envelope = readObject(document, '$');
  if (envelope['Id'] !== id) throw new ShapeError('the id of the request', '$.Id');
  if (envelope['Error'] != null) throw readError(envelope['Error'], details);

  return envelope['Result'];
}

/** The code of JSON-RPC 2.0 for an unknown method. */
const METHOD_NOT_FOUND = -32601;

/** That of an older node of this chain. A current one responds with status 500 and no body. */
const UNKNOWN_METHOD = -1002;

/** The statuses with which a proxy refuses a method that it does not know. */
const REFUSALS: readonly number[] = [403, 404, 405, 501];

/** Whether the node does not have the method. */
export function isUnknownMethod(error: unknown): boolean {
  return error instanceof UpstreamRpcError && [UNKNOWN_METHOD, METHOD_NOT_FOUND].includes(error.rpcCode ?? 0);
}

/**
 * Whether the node does not have the method, or perhaps not: a node also responds with status 500 and no body when it fails, and a proxy
 * in front of it can refuse the method for a while.
 */
export function canBeUnknownMethod(error: unknown): boolean {
  if (!(error instanceof UpstreamBadStatusError)) return isUnknownMethod(error);
  return REFUSALS.includes(error.status) || (error.status === 500 && error.body === '');
}

/**
 * Checks the response to `getblockchaininfo`, which every node of this chain has. Other methods do not decide: an old node
 * may lack one.
 *
 * @throws ForeignNodeError if it is that of another chain's node
 */
export function checkOwnChain(document: unknown, details: ErrorDetails = {}): void {
  if (typeof document !== 'object' || document === null) return;
  const { Id, Error: error, Result } = document as WireObject;
  const foreign = (problem: string) => new ForeignNodeError(problem, { ...details, hint: 'see FULLNODE_URL' });
  if (Id === undefined && ('id' in document || 'jsonrpc' in document))
    throw foreign('its response has the members of another JSON-RPC interface');
  if ((error as WireObject | undefined)?.['Code'] === METHOD_NOT_FOUND) throw foreign('it has no getblockchaininfo');
  if (typeof Result === 'object' && Result !== null && !('BestBlocks' in Result))
    throw foreign('its getblockchaininfo has no BestBlocks');
}

/** `Code` and `Message` may be missing. The cause is the first line of the stack trace; the rest are paths of the server. */
function readError(value: unknown, details: ErrorDetails): UpstreamRpcError {
  const error = readObject(value, '$.Error');
  const code = typeof error['Code'] === 'number' ? error['Code'] : undefined;
  const trace = error['StackTrace'] == null ? '' : readString(error['StackTrace'], '$.Error.StackTrace');

  return new UpstreamRpcError(code, { ...details, message: error['Message'], because: trace.split('\n', 1)[0] });
}
