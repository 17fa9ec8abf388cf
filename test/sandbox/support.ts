import { connect } from 'node:net';
import { createSandboxHosts, type SandboxHosts, type SandboxHostsOptions } from '../../src/sandbox/sandbox.ts';

/** 2026-11-20T12:00:00Z, in Unix seconds. */
export const noon = 1_795_176_000;

/** A sandbox with a fixed seed and clock. */
export function fixedSandbox(options: SandboxHostsOptions = {}): Promise<SandboxHosts> {
  return createSandboxHosts({ seed: 7, startTime: noon, ...options });
}

/** Sends bytes on a bare socket and resolves with all that came back, once the other side has closed in good order. */
export function exchange(url: string, request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (text) => {
      answer += text;
    });
    socket.once('error', reject);
    socket.once('end', () => resolve(answer));
  });
}

/** The bytes of a request with a body. */
export function bytesOf(method: string, body: string, path = '/'): string {
  return `${method} ${path} HTTP/1.1\r\nHost: node\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** The body of a JSON-RPC request. */
export function rpcBody(method: string, params: unknown = [], id: unknown = 1): string {
  return JSON.stringify({ id, jsonrpc: '1.0', method, params });
}

/** Calls the node and resolves with the text of its response. */
export async function rpcText(url: string, method: string, params: unknown = []): Promise<string> {
  const response = await fetch(url, { method: 'POST', body: rpcBody(method, params) });
  return response.text();
}

/** A parsed response of the node; integers above 2^53 are rounded. */
export type RpcAnswer<Result> = {
  Id: unknown;
  Result: Result;
  Error: { Code: number; Message: string; StackTrace: string } | null;
  Params: unknown;
  Method: string;
  Jsonrpc: string;
};

/** Calls the node and parses its response. */
export async function rpc<Result = unknown>(
  url: string,
  method: string,
  params: unknown = [],
): Promise<RpcAnswer<Result>> {
  return JSON.parse(await rpcText(url, method, params));
}

/** The fields of the newest block of a chain that the tests read. */
export type BestBlock = {
  Height: number;
  Hash: string;
  TotalTxs: number;
  ValidationData: string;
  Epoch: number;
  Time: number;
  RemainingBlockEpoch: number;
};

/** The newest blocks by chain: `-1` is the beacon. */
export async function bestBlocks(url: string): Promise<Record<string, BestBlock | undefined>> {
  const { Result } = await rpc<{ BestBlocks: Record<string, BestBlock> }>(url, 'getblockchaininfo');
  return Result.BestBlocks;
}

/** The fields of the beacon state that the tests read. */
export type BeaconState = {
  BeaconHeight: number;
  Epoch: number;
  BestBlockHash: string;
  PreviousBestBlockHash: string;
  BestShardHash: Record<string, string>;
  BestShardHeight: Record<string, number>;
  BeaconCommittee: unknown[];
  ShardHandle: unknown;
};

/** Requests the beacon state with the parameters of the specification. */
export async function beaconState(url: string): Promise<BeaconState> {
  return (await rpc<BeaconState>(url, 'getbeaconbeststatedetail', [''])).Result;
}

/** The exchange state. */
export type ExchangeState = {
  WaitingPDEContributions: Record<string, unknown>;
  PDEPoolPairs: Record<string, unknown>;
  PDEShares: Record<string, number>;
  PDETradingFees: Record<string, number>;
  BeaconTimeStamp: number;
};

/** The exchange state of a height. */
export function stateAt(url: string, height: number): Promise<RpcAnswer<ExchangeState>> {
  return rpc(url, 'getpdestate', [{ BeaconHeight: height }]);
}

/** Sends a GET to the market-data host. */
export function ask(url: string, call: string): Promise<Response> {
  return fetch(`${url}/api/v1/public/market-data/${call}`);
}

/** The responses of the market-data host to all of its calls. */
export type MarketAnswer = {
  message: string;
  pairs: Record<string, unknown>[];
  tickers: Record<string, unknown>[];
  bids: unknown[][];
  asks: unknown[][];
  ticker_id: string;
  timestamp: number;
};

/** Sends a GET to the market-data host and parses the response. */
export async function askJson(url: string, call: string): Promise<MarketAnswer> {
  return JSON.parse(await (await ask(url, call)).text());
}
