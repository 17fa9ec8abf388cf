import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ChainInfo } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import type { Circuit } from '../circuit.ts';
import type { Reader } from '../decode.ts';
import type { HealthRecord } from '../health.ts';
import type { HttpClient } from '../http.ts';
import type { Spacing } from '../spacing.ts';
import { type NodeMethod, readResult, toRequest } from './envelope.ts';
import type { KnownExchange } from './exchange-state.ts';
import { createBeaconHeightReader, createChainInfoReader, createStateReader, type ResultOf } from './readers.ts';
import { whyStateIsMissing } from './state-not-found.ts';

/** The calls of a full node. Each throws an UpstreamError where it fails, or the reason of a signal that gives it up. */
export type NodeClient = {
  /** How the log and the metrics name this node. */
  readonly name: string;
  chainInfo(signal?: AbortSignal): Promise<ChainInfo>;
  /** How far apart calls to it are made, because it limits their rate; 0 where it does not. */
  spaceMs(): number;
  /** The documented source of the height to read the exchange at. The answer is large: ask it rarely. */
  beaconHeight(signal?: AbortSignal): Promise<BeaconHeight>;
  /** The state of the newest block. @throws UpstreamRpcError with code -8000 for a height that the node does not have yet */
  exchangeState(height: BeaconHeight, signal?: AbortSignal): Promise<ExchangeState>;
  /** A state that a client requests. @throws UpstreamRpcError with code -8000, also for one that the node has pruned */
  earlierState(height: BeaconHeight, signal?: AbortSignal): Promise<ExchangeState>;
};

/** What a node client is made of. */
export type NodeClientOptions = {
  readonly name: string;
  readonly http: HttpClient;
  readonly url: URL;
  readonly health: HealthRecord;
  readonly circuit: Circuit;
  readonly spacing: Spacing;
  /** Shared by clients of nodes that show the same exchange. */
  readonly known: KnownExchange;
};

/** Makes a client of one node. */
export function createNodeClient(options: NodeClientOptions): NodeClient {
  const { name, http, url, health, circuit, spacing, known } = options;
  const details = { host: url.host };
  let lastId = 0;

  function ask<T>({ method, params = [], reader, signal }: Call<T>): Promise<T> {
    const id = ++lastId;
    const resultOf = (document: unknown) => readResult(document, id, details);
    return http.request({ url, body: toRequest(id, method, params), signal }, reader(resultOf));
  }

  /** A call of those that follow the chain. */
  function follow<T>(call: Call<T>): Promise<T> {
    const turn = { ...call, isForClient: false };
    return circuit.run(() => spacing.run(() => health.watch(call.method, ask(call)), turn));
  }

  function stateAt(
    height: BeaconHeight,
    signal: AbortSignal | undefined,
    beforehand: KnownExchange,
  ): Call<ExchangeState> {
    const reader = (resultOf: ResultOf) => createStateReader(height, resultOf, beforehand);
    return { method: 'getpdestate', params: [{ BeaconHeight: height }], reader, signal };
  }
  /** What comes next is written as the newest is: how pools were written earlier is not kept in its place. */
  const knownForEarlier: KnownExchange = { ...known, written: { ...known.written, keep() {} } };

  return {
    name,
    spaceMs: spacing.spaceMs,
    chainInfo: (signal) => follow({ method: 'getblockchaininfo', reader: createChainInfoReader, signal }),
    beaconHeight: (signal) =>
      follow({ method: 'getbeaconbeststatedetail', params: [''], reader: createBeaconHeightReader, signal }),
    exchangeState: (height, signal) => follow(stateAt(height, signal, known)),
    earlierState(height, signal) {
      const call = stateAt(height, signal, knownForEarlier);
      // That a state is pruned, or that a height is not reached, is an answer. That it cannot be read is a failure.
      const isFault = (error: unknown) => whyStateIsMissing(error) === undefined;
      const turn = { ...call, isForClient: true };
      return circuit.pass(() => spacing.run(() => health.watch(call.method, ask(call), isFault), turn));
    },
  };
}

type Call<T> = {
  readonly method: NodeMethod;
  readonly params?: readonly unknown[];
  readonly reader: (resultOf: ResultOf) => Reader<T>;
  readonly signal?: AbortSignal | undefined;
};
