import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ChainInfo } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { UpstreamRpcError } from '../../errors.ts';
import { decode } from '../decode.ts';
import type { HealthRecord } from '../health.ts';
import type { HttpClient } from '../http.ts';
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
  /** One or several nodes. The client stays with one until a call to it fails, then turns to the next. */
  readonly urls: readonly [URL, ...URL[]];
  readonly health: HealthRecord;
};

/** Makes a client of one or several nodes. */
export function createNodeClient({ http, urls, health }: NodeClientOptions): NodeClient {
  let lastId = 0;
  let failures = 0;
  let newestHeight = 0;

  async function call<T>(method: NodeMethod, params: readonly unknown[], read: (result: WireObject) => T): Promise<T> {
    const id = ++lastId;
    const failuresBefore = failures;
    const url = urls[failures % urls.length] ?? urls[0];
    try {
      const text = await http.request({ url, body: toRequest(id, method, params) });
      return decode('NODE', text, (document) => read(readResult(document, id)));
    } catch (error) {
      // An error that the node itself reports is an answer. Calls that fail at the same time turn to the next node together, not past it.
      if (!(error instanceof UpstreamRpcError) && failures === failuresBefore) failures++;
      throw error;
    }
  }

  async function beaconHeight(): Promise<BeaconHeight> {
    const read = (result: WireObject) => readInteger(result['BeaconHeight'], '$.Result.BeaconHeight');
    newestHeight = await health.watch(call('getbeaconbeststatedetail', [''], read));
    return newestHeight;
  }

  function exchangeState(height: BeaconHeight): Promise<ExchangeState> {
    const state = call('getpdestate', [{ BeaconHeight: height }], (result) => readExchangeState(result, height));
    // That an old state is gone is an answer; that the one it has just named is missing is a fault.
    return health.watch(state, (error) => !isStateNotFound(error) || height >= newestHeight);
  }

  return {
    chainInfo: () => health.watch(call('getblockchaininfo', [], readChainInfo)),
    beaconHeight,
    exchangeState,
  };
}
