import { type GoValue, printGo, toGo } from './go-json.ts';
import { fieldsOf, parseJson, type RpcError } from './rpc.ts';
import { withTrace } from './rpc-errors.ts';

/** A request on the websocket of a node. `subcription` is spelled so on the wire. */
export type SubscriptionRequest = {
  readonly id: string | number;
  readonly jsonrpc: string;
  readonly method: string;
  readonly params: unknown;
  /** The name that the client chose for the subscription. */
  readonly subscription: string;
  readonly isUnsubscribe: boolean;
};

/** A block as the node pushes it. `time` is in Unix seconds. */
export type PushedBlock = {
  readonly height: number;
  readonly hash: string;
  readonly time: number;
  /** Only with V3 of the exchange. */
  readonly instructions?: readonly (readonly string[])[];
};

/** The only method that the sandbox has. The node spells it so. */
export const SUBSCRIBE_METHOD = 'subcribenewbeaconblock';

/** Parses a message. `undefined` if the node ignores it: it is not JSON, or it has no id. */
export function parseSubscriptionRequest(text: string): SubscriptionRequest | undefined {
  const message = fieldsOf(parseJson(text));
  const request = fieldsOf(message?.get('request'));
  const id = request?.get('id');
  const [jsonrpc, method] = [request?.get('jsonrpc') ?? '', request?.get('method') ?? ''];
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  if (typeof jsonrpc !== 'string' || typeof method !== 'string') return undefined;
  return {
    id,
    jsonrpc,
    method,
    params: request?.get('params') ?? null,
    subscription: String(message?.get('subcription') ?? ''),
    isUnsubscribe: message?.get('type') === 1,
  };
}

/** Prints the frame of a new block for a subscription. */
export function printBlockFrame(request: SubscriptionRequest, block: PushedBlock): string {
  const { hash, height, time, instructions } = block;
  const shown = instructions === undefined ? {} : { Instructions: instructions };
  return printFrame(request, { Hash: hash, Height: height, Time: time, ...shown }, null);
}

/** Prints the last frame of a subscription. It has the id of the request that subscribed. */
export function printUnsubscribed(request: SubscriptionRequest): string {
  return printFrame(request, { Message: 'Unsubscribe New Beacon Block' }, null);
}

/** Prints the response to a request that fails. */
export function printSubscriptionError(request: SubscriptionRequest, error: RpcError): string {
  return printFrame(request, null, error);
}

/** The method does not exist. */
export function methodNotFound(method: string): RpcError {
  return withTrace(-1002, 'Method not found', `Method${method}Not found`, '(*WsServer).subscribe websocket.go:194');
}

/** The parameters are not an empty list. */
export function paramsNotEmpty(): RpcError {
  return withTrace(-1003, 'Invalid parameters', 'Methods should only contain NO params', 'glob..func6 stub.go:126');
}

/** There is no such subscription to end. */
export function notSubscribed(): RpcError {
  return withTrace(-5001, 'Failed to unsubcribe', 'No Subcription Found', '(*WsServer).unsubscribe websocket.go:266');
}

function printFrame(request: SubscriptionRequest, result: GoValue, error: RpcError | null): string {
  return printGo({
    Id: request.id,
    Result: { Subscription: request.subscription, Result: result },
    Error: error,
    Params: toGo(request.params),
    Method: request.method,
    Jsonrpc: request.jsonrpc,
  });
}
