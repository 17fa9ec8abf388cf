import { type ErrorDetails, UpstreamRpcError } from '../../errors.ts';
import { readObject, readString, ShapeError, type WireObject } from '../wire.ts';

/** The JSON-RPC methods that the gateway calls. */
export type NodeMethod = 'getblockchaininfo' | 'getbeaconbeststatedetail' | 'getpdestate';

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
  const envelope = readObject(document, '$');
  if (envelope['Id'] !== id) throw new ShapeError(`the request id ${id}`, '$.Id');
  if (envelope['Error'] != null) throw readError(envelope['Error'], details);

  return readObject(envelope['Result'], '$.Result');
}

/** `Code` and `Message` may be missing. The cause is the first line of the stack trace; the rest are paths of the server. */
function readError(value: unknown, details: ErrorDetails): UpstreamRpcError {
  const error = readObject(value, '$.Error');
  const code = typeof error['Code'] === 'number' ? error['Code'] : undefined;
  const trace = error['StackTrace'] == null ? '' : readString(error['StackTrace'], '$.Error.StackTrace');

  return new UpstreamRpcError(code, { ...details, message: error['Message'], because: trace.split('\n', 1)[0] });
}
