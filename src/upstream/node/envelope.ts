import { type ErrorDetails, UpstreamRpcError } from '../../errors.ts';
import { Misfit, readObject, readString, type WireObject } from '../wire.ts';

/** The three calls of the node that the gateway makes. */
export type NodeMethod = 'getblockchaininfo' | 'getbeaconbeststatedetail' | 'getpdestate';

/** The documented request: JSON-RPC 1.0 with an integer id, which the node echoes. */
export function toRequest(id: number, method: NodeMethod, params: readonly unknown[]): string {
  return JSON.stringify({ id, jsonrpc: '1.0', method, params });
}

/**
 * The result inside the node's envelope.
 *
 * @param details what the log is told beside the node's error: where the answer came from
 * @throws UpstreamRpcError where the node reports an error, which it does with HTTP status 200
 * @throws Misfit for another envelope, also for the answer to another request
 */
export function readResult(document: unknown, id: number, details: ErrorDetails = {}): WireObject {
  const envelope = readObject(document, '$');
  if (envelope['Id'] !== id) throw new Misfit(`the request id ${id}`, '$.Id');
  if (envelope['Error'] != null) throw readError(envelope['Error'], details);

  return readObject(envelope['Result'], '$.Result');
}

/** `Code` and `Message` may be absent. The cause is the first line of the stack trace; the rest is the server's paths. */
function readError(value: unknown, details: ErrorDetails): UpstreamRpcError {
  const error = readObject(value, '$.Error');
  const code = typeof error['Code'] === 'number' ? error['Code'] : undefined;
  const trace = error['StackTrace'] == null ? '' : readString(error['StackTrace'], '$.Error.StackTrace');

  return new UpstreamRpcError(code, { ...details, message: error['Message'], because: trace.split('\n', 1)[0] });
}
