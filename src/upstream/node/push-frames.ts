import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ErrorDetails } from '../../errors.ts';
import { parseJson } from '../json.ts';
import { readInteger, readObject, readString } from '../wire.ts';
import { readResult } from './envelope.ts';

/** A block that a node has inserted. It may be of a side branch, or an older one: a frame is only a reason to poll the tip. */
export type PushedBlock = { readonly height: BeaconHeight; readonly hash: string };

const SUBSCRIPTION_ID = 1;

/** The node and its documentation spell `subcription` so. The name of the subscription is any text. */
const SUBSCRIPTION = { subcription: 'pdex-gateway' };

/** The frame that subscribes. The node does not acknowledge it. */
export const SUBSCRIBE_FRAME = toFrame(SUBSCRIPTION_ID, 0);

/** The frame that ends the subscription. The node's last frame has the id of the frame that subscribed. */
export const UNSUBSCRIBE_FRAME = toFrame(SUBSCRIPTION_ID + 1, 1);

function toFrame(id: number, type: 0 | 1): string {
  const request = { jsonrpc: '1.0', method: 'subcribenewbeaconblock', params: [], id };
  return JSON.stringify({ request, ...SUBSCRIPTION, type });
}

/**
 * Reads a frame of the node.
 *
 * @throws SyntaxError, ShapeError; UpstreamRpcError if it is an error of the node
 */
export function readPushFrame(text: string, details: ErrorDetails): PushedBlock | 'unsubscribed' {
  const result = readObject(readResult(parseJson(text), SUBSCRIPTION_ID, details)['Result'], '$.Result.Result');
  if (result['Message'] !== undefined) return 'unsubscribed';
  return {
    height: readInteger(result['Height'], '$.Result.Result.Height'),
    hash: readString(result['Hash'], '$.Result.Result.Hash'),
  };
}
