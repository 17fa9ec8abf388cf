import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ChainInfo } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { type UpstreamError, UpstreamRpcError } from '../../errors.ts';
import { decode } from '../decode.ts';
import type { HealthRecord } from '../health.ts';
import type { HttpClient } from '../http.ts';
import { retry } from '../retry.ts';
import { readInteger, type WireObject } from '../wire.ts';
import { readChainInfo } from './chain-info.ts';
import { type NodeMethod, readResult, toRequest } from './envelope.ts';
import { readExchangeState } from './exchange-state.ts';
import { isStateNotFound } from './state-not-found.ts';

/** The three calls of a full node. Each throws an UpstreamError where it fails. */
export type NodeClient = {
  chainInfo(): Promise<ChainInfo>;
  /** The documented source of the height to read the exchange at. The answer is large: ask it rarely. */
  beaconHeight(): Promise<BeaconHeight>;
  /** @throws UpstreamRpcError with code -8000 for a height that the node does not have, yet or any more */
  exchangeState(height: BeaconHeight): Promise<ExchangeState>;
};

/** What a node client is made of. */
export type NodeClientOptions = {
  readonly http: HttpClient;
  /** One or several nodes. The client stays with one until a call to it fails, then asks the next. */
  readonly urls: readonly [URL, ...URL[]];
  readonly health: HealthRecord;
};

/** Makes a client of one or several nodes. */
export function createNodeClient({ http, urls, health }: NodeClientOptions): NodeClient {
  let lastId = 0;
  let failures = 0;
  let newestHeight = 0;

  /** Asks the current node and, where it fails, each other node once: an error that a node reports is an answer. */
  async function call<T>(method: NodeMethod, params: readonly unknown[], read: (result: WireObject) => T): Promise<T> {
    const failuresBefore = failures;
    const isNodesFault = (error: unknown) => !(error instanceof UpstreamRpcError);
    let tried = 0;
    return retry(
      async () => {
        // Calls that fail at the same time turn to the next node together, not past it.
        failures = Math.max(failures, failuresBefore + tried++);
        return ask(method, params, read);
      },
      { times: urls.length - 1, when: isNodesFault },
    );
  }

  async function ask<T>(method: NodeMethod, params: readonly unknown[], read: (result: WireObject) => T): Promise<T> {
    const id = ++lastId;
    const url = urls[failures % urls.length] ?? urls[0];
    const text = await http.request({ url, body: toRequest(id, method, params) });
    return decode('NODE', text, (document) => read(readResult(document, id)));
  }

  function watched<T>(
    method: NodeMethod,
    params: readonly unknown[],
    read: (result: WireObject) => T,
    isFault?: (error: UpstreamError) => boolean,
  ): Promise<T> {
    return health.watch(method, call(method, params, read), isFault);
  }

  async function beaconHeight(): Promise<BeaconHeight> {
    const read = (result: WireObject) => readInteger(result['BeaconHeight'], '$.Result.BeaconHeight');
    newestHeight = await watched('getbeaconbeststatedetail', [''], read);
    return newestHeight;
  }

  function exchangeState(height: BeaconHeight): Promise<ExchangeState> {
    const read = (result: WireObject) => readExchangeState(result, height);
    // That an old state is gone is an answer; that the one it has just named is missing is a fault.
    const isFault = (error: UpstreamError) => !isStateNotFound(error) || height >= newestHeight;
    return watched('getpdestate', [{ BeaconHeight: height }], read, isFault);
  }

  return {
    chainInfo: () => watched('getblockchaininfo', [], readChainInfo),
    beaconHeight,
    exchangeState,
  };
}
