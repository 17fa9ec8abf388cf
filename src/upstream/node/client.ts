import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ChainInfo } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { UpstreamBadStatusError } from '../../errors.ts';
import type { ResponseReader } from '../body.ts';
import type { Circuit } from '../circuit.ts';
import type { HealthRecord, UpstreamHealth } from '../health.ts';
import type { HttpClient } from '../http.ts';
import { createDocumentReader, parseObject } from '../json.ts';
import { createFilteredReader } from '../json-filter.ts';
import type { Spacing } from '../spacing.ts';
import { readInteger } from '../wire.ts';
import { readChainInfo } from './chain-info.ts';
import { checkOwnChain, type NodeMethod, type ResultOf, readResult, toRequest } from './envelope.ts';
import { whyStateIsMissing } from './state-not-found.ts';
import type { StateReader } from './state-reader.ts';

/** The newest block of the beacon chain as the beacon state describes it. Nodes may leave the hashes out. */
type BeaconTip = {
  readonly height: BeaconHeight;
  readonly hash: string | undefined;
  /** The hash of the block below it. */
  readonly previousHash: string | undefined;
};

/** The calls of a full node. Each throws an UpstreamError if it fails, or the reason of a signal that aborts it. */
export type NodeClient = {
  /** The name of this node in the log and the metrics. */
  readonly name: string;
  chainInfo(signal?: AbortSignal): Promise<ChainInfo>;
  /** The time between two calls, because the node limits their rate; 0 if it does not. */
  spaceMs(): number;
  /** How its calls went. */
  health(): UpstreamHealth;
  /** The documented source of the height at which to read the exchange. The response is large. */
  beaconTip(signal?: AbortSignal): Promise<BeaconTip>;
  /** The state of the newest block. @throws UpstreamRpcError with code -8000 for a height that the node does not have yet */
  exchangeState(height: BeaconHeight, signal?: AbortSignal): Promise<ExchangeState>;
  /** A state that a client requests. @throws UpstreamRpcError with code -8000, also for one that the node has pruned */
  earlierState(height: BeaconHeight, signal?: AbortSignal): Promise<ExchangeState>;
};

type NodeClientOptions = {
  readonly name: string;
  readonly http: HttpClient;
  readonly url: URL;
  readonly health: HealthRecord;
  readonly circuit: Circuit;
  readonly spacing: Spacing;
  /** Shared by the clients of all nodes. */
  readonly stateReader: StateReader;
};

/** Creates a client of one node. */
export function createNodeClient(options: NodeClientOptions): NodeClient {
  const { name, http, url, health, circuit, spacing, stateReader } = options;
  const details = { host: url.host };
  let lastId = 0;

  function send<T>({ method, params = [], reader, signal }: Call<T>): Promise<T> {
    const id = ++lastId;
    const resultOf = (document: unknown) => readResult(document, id, details);
    const request = { name: method, url, body: toRequest(id, method, params), signal };
    return http.request(request, reader(resultOf)).catch((error) => {
      if (method === 'getblockchaininfo') checkStatus(error);
      throw error;
    });
  }

  /** Nodes of other chains respond to an unknown method also with these statuses, and JSON. */
  function checkStatus(error: unknown): void {
    if (error instanceof UpstreamBadStatusError && [400, 404, 405].includes(error.status))
      checkOwnChain(parseObject(error.body), details);
  }

  function createChainInfoReader(resultOf: ResultOf): ResponseReader<ChainInfo> {
    return createDocumentReader(MAX_DOCUMENT_BYTES, (document) => {
      checkOwnChain(document, details);
      return readChainInfo(resultOf(document));
    });
  }

  /** A call of the chain follower. */
  function follow<T>(call: Call<T>): Promise<T> {
    const turn = { ...call, isForClient: false };
    return circuit.run(() => spacing.run(() => health.watch(call.method, send(call)), turn));
  }

  function stateAt(height: BeaconHeight, isNewest: boolean, signal: AbortSignal | undefined): Call<ExchangeState> {
    const reader = (resultOf: ResultOf) => stateReader.read(height, resultOf, isNewest);
    return { method: 'getpdestate', params: [{ BeaconHeight: height }], reader, signal };
  }

  return {
    name,
    spaceMs: spacing.spaceMs,
    health: health.read,
    chainInfo: (signal) => follow({ method: 'getblockchaininfo', reader: createChainInfoReader, signal }),
    beaconTip: (signal) =>
      follow({ method: 'getbeaconbeststatedetail', params: [''], reader: createBeaconTipReader, signal }),
    exchangeState: (height, signal) => follow(stateAt(height, true, signal)),
    earlierState(height, signal) {
      const call = stateAt(height, false, signal);
      // That a state is pruned, or that a height is in the future, is an answer and no failure of the node.
      const isFault = (error: unknown) => whyStateIsMissing(error) === undefined;
      const turn = { ...call, isForClient: true };
      return circuit.pass(() => spacing.run(() => health.watch(call.method, send(call), isFault), turn));
    },
  };
}

type Call<T> = {
  readonly method: NodeMethod;
  readonly params?: readonly unknown[];
  readonly reader: (resultOf: ResultOf) => ResponseReader<T>;
  readonly signal?: AbortSignal | undefined;
};

/** `getblockchaininfo` has some 20 KB. */
const MAX_DOCUMENT_BYTES = 8 * 2 ** 20;

/** Of the large response of `getbeaconbeststatedetail`, only three members are kept. */
function createBeaconTipReader(resultOf: ResultOf): ResponseReader<BeaconTip> {
  const keep = ['BeaconHeight', 'BestBlockHash', 'PreviousBestBlockHash'];
  return createFilteredReader({ within: 'Result', keep, maxBytes: MAX_DOCUMENT_BYTES }, (document) => {
    const result = resultOf(document);
    return {
      height: readInteger(result['BeaconHeight'], '$.Result.BeaconHeight'),
      hash: toText(result['BestBlockHash']),
      previousHash: toText(result['PreviousBestBlockHash']),
    };
  });
}

/** A text that the interface does not promise; `undefined` for anything else. */
function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
