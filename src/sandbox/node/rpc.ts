import { type GoValue, printGo, quoteGo } from './go-json.ts';

/** A decoded request. */
type RpcRequest = {
  readonly id: unknown;
  readonly jsonrpc: string;
  readonly method: string;
  /** `null` if the request has none. */
  readonly params: unknown;
};

/** An error of the node's application, sent with HTTP status 200. */
export type RpcError = { readonly Code: number; readonly Message: string; readonly StackTrace: string };

/** The outcome of a call: a result, already printed and indented by one level, or an error. */
export type RpcOutcome = { readonly result: Buffer } | { readonly error: RpcError };

/** Parses a request body. Names are case-insensitive. `undefined` if Go would not decode it. */
export function parseRpcRequest(body: string): RpcRequest | undefined {
  const json = parseJson(body);
  const fields = fieldsOf(json === null ? {} : json);
  if (fields === undefined) return undefined;

  const jsonrpc = fields.get('jsonrpc') ?? '';
  const method = fields.get('method') ?? '';
  if (typeof jsonrpc !== 'string' || typeof method !== 'string') return undefined;
  return { id: fields.get('id') ?? null, jsonrpc, method, params: fields.get('params') ?? null };
}

/** Prints the JSON-RPC response with an outcome, in pieces. */
export function printEnvelope(
  id: string | number,
  request: RpcRequest,
  params: GoValue,
  outcome: RpcOutcome,
): Buffer[] {
  const error = 'error' in outcome ? printGo(outcome.error, 1) : 'null';
  const tail = [
    `\t"Error": ${error}`,
    `\t"Params": ${printGo(params, 1)}`,
    `\t"Method": ${quoteGo(request.method)}`,
    `\t"Jsonrpc": ${quoteGo(request.jsonrpc)}`,
  ];
  const result = 'result' in outcome ? outcome.result : Buffer.from('null');
  return [Buffer.from(`{\n\t"Id": ${printGo(id)},\n\t"Result": `), result, Buffer.from(`,\n${tail.join(',\n')}\n}\n`)];
}

/** Parses JSON. `undefined` if it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The fields of an object. Go compares their names without regard to case. */
export function fieldsOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return new Map(Object.entries(value).map(([name, field]) => [name.toLowerCase(), field]));
}
