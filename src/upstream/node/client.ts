import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ChainInfo } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { type UpstreamError, UpstreamTimeoutError } from '../../errors.ts';
import type { Circuit } from '../circuit.ts';
import { decode } from '../decode.ts';
import type { HealthRecord } from '../health.ts';
import type { HttpClient } from '../http.ts';
import { readInteger, type WireObject } from '../wire.ts';
import { readChainInfo } from './chain-info.ts';
import { type NodeMethod, readResult, toRequest } from './envelope.ts';
import { readExchangeState } from './exchange-state.ts';
import { isStateNotFound } from './state-not-found.ts';

/** The three calls of a full node. Each throws an UpstreamError where it fails, or the reason of a signal that gives it up. */
export type NodeClient = {
  /** How the log and the metrics name this node: its host. */
  readonly name: string;
  chainInfo(signal?: AbortSignal): Promise<ChainInfo>;
  /** The documented source of the height to read the exchange at. The answer is large: ask it rarely. */
  beaconHeight(signal?: AbortSignal): Promise<BeaconHeight>;
  /** @throws UpstreamRpcError with code -8000 for a height that the node does not have, yet or any more */
  exchangeState(height: BeaconHeight, signal?: AbortSignal): Promise<ExchangeState>;
};

/** What a node client is made of. */
export type NodeClientOptions = {
  readonly http: HttpClient;
  readonly url: URL;
  readonly health: HealthRecord;
  readonly circuit: Circuit;
};

/** Makes a client of one node. */
export function createNodeClient({ http, url, health, circuit }: NodeClientOptions): NodeClient {
  const details = { host: url.host };
  let lastId = 0;
  let newestHeight = 0;

  async function ask<T>({ method, params = [], read, signal }: Call<T>): Promise<T> {
    const id = ++lastId;
    const text = await http.request({ url, body: toRequest(id, method, params), signal });
    return decode('NODE', text, (document) => read(readResult(document, id, details)), details);
  }

  function call<T>(call: Call<T>): Promise<T> {
    return circuit.run(() => health.watch(call.method, ask(call), call.isFault), call.isExcused);
  }

  async function beaconHeight(signal?: AbortSignal): Promise<BeaconHeight> {
    const read = (result: WireObject) => readInteger(result['BeaconHeight'], '$.Result.BeaconHeight');
    newestHeight = await call({ method: 'getbeaconbeststatedetail', params: [''], read, signal });
    return newestHeight;
  }

  function exchangeState(height: BeaconHeight, signal?: AbortSignal): Promise<ExchangeState> {
    const read = (result: WireObject) => readExchangeState(result, height);
    // That an old state is gone is an answer; that the one it has just named is missing is a fault.
    const isFault = (error: UpstreamError) => !isStateNotFound(error) || height >= newestHeight;
    // Many old states at once, as for a chart, can take too long on a node that is well.
    const isExcused = (error: UpstreamError) => error instanceof UpstreamTimeoutError && height < newestHeight;
    return call({ method: 'getpdestate', params: [{ BeaconHeight: height }], read, signal, isFault, isExcused });
  }

  return {
    name: url.host,
    chainInfo: (signal) => call({ method: 'getblockchaininfo', read: readChainInfo, signal }),
    beaconHeight,
    exchangeState,
  };
}

type Call<T> = {
  readonly method: NodeMethod;
  readonly params?: readonly unknown[];
  readonly read: (result: WireObject) => T;
  readonly signal?: AbortSignal | undefined;
  /** Which failures are held against the node's health; all where nothing is said. */
  readonly isFault?: (error: UpstreamError) => boolean;
  /** Which failures are no reason to leave the node alone. */
  readonly isExcused?: (error: UpstreamError) => boolean;
};
