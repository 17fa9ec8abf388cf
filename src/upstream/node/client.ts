import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ChainInfo } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { UpstreamBadStatusError } from '../../errors.ts';
import type { Circuit } from '../circuit.ts';
import type { HealthRecord } from '../health.ts';
import type { HttpClient } from '../http.ts';
import { createDocumentReader, parseObject } from '../json.ts';
import type { ResponseReader } from '../response-body.ts';
import type { Spacing } from '../spacing.ts';
import { type BeaconBlock, createBeaconBlockReader, createBeaconTipReader } from './beacon-block.ts';
import { readChainInfo } from './chain-info.ts';
import { readParams } from './decode-v3.ts';
import {
  canBeUnknownMethod,
  checkOwnChain,
  type NodeMethod,
  type ResultOf,
  readAnyResult,
  readResult,
  toRequest,
} from './envelope.ts';
import { type PoolDirectories, readStateTime } from './pools-reader.ts';
import { createPoolsV1Reader } from './pools-v1.ts';
import type { PoolsV3, PoolsV3Reader, TimedOrders, TimedParams } from './pools-v3.ts';
import { isBeforeV3, isUnknownVerbosity, whyStateIsMissing } from './state-not-found.ts';

/** The calls of a full node. Each throws an UpstreamError if it fails, or the reason of a signal that aborts it. */
export type NodeClient = ReturnType<typeof createNodeClient>;

type NodeClientOptions = {
  /** In the log and the metrics. */
  readonly name: string;
  readonly http: HttpClient;
  readonly url: URL;
  readonly health: HealthRecord;
  readonly circuit: Circuit;
  readonly spacing: Spacing;
  readonly directories: PoolDirectories;
  readonly poolsV3Reader: PoolsV3Reader;
};

/** Creates a client of one node. All calls pass its circuit and its spacing, and throw UpstreamError, or the reason of their signal. */
export function createNodeClient(options: NodeClientOptions) {
  const { name, http, url, health, circuit, spacing, directories, poolsV3Reader } = options;
  const details = { host: url.host };
  let lastId = 0;
  /** If the node is too old to send orders with the pools: until when the gateway does not request them. */
  let withoutOrdersUntil: number | undefined;

  function send<T>({ method, params = [], reader, signal }: Call<T>): Promise<T> {
    const id = ++lastId;
    const resultOf = (document: unknown) => readResult(document, id, details);
    const anyResultOf = (document: unknown) => readAnyResult(document, id, details);
    const request = { name: method, url, body: toRequest(id, method, params), signal };
    return http.request(request, reader(resultOf, anyResultOf)).catch((error) => {
      // Nodes of other chains respond to an unknown method also with these statuses, and JSON.
      const isUnknown = error instanceof UpstreamBadStatusError && [400, 404, 405].includes(error.status);
      if (method === 'getblockchaininfo' && isUnknown) checkOwnChain(parseObject(error.body), details);
      throw error;
    });
  }

  function createChainInfoReader(resultOf: ResultOf): ResponseReader<ChainInfo> {
    return createDocumentReader(MAX_DOCUMENT_BYTES, (document) => {
      checkOwnChain(document, details);
      return readChainInfo(resultOf(document));
    });
  }

  /** A call of the chain follower. */
  function follow<T>(call: Call<T>): Promise<T> {
    const turn = { ...call, isForHead: true };
    return circuit.runCounted(() => spacing.run(() => health.watch(call.method, send(call)), turn));
  }

  function stateV1At(height: BeaconHeight, signal: AbortSignal | undefined): Call<ExchangeState> {
    const reader = (resultOf: ResultOf) => createPoolsV1Reader(height, directories, resultOf);
    return { method: 'getpdestate', params: [{ BeaconHeight: height }], reader, signal };
  }

  /** A call whose failures do not count for the circuit. @param isFault whether an error counts for the health of the node */
  function callUncounted<T>(call: Call<T>, isForHead: boolean, isFault: (error: unknown) => boolean): Promise<T> {
    const turn = { ...call, isForHead };
    return circuit.runUncounted(() => spacing.run(() => health.watch(call.method, send(call), isFault), turn));
  }

  function callV3<T>(call: CallV3<T>, purpose: PurposeV3): Promise<T> {
    const isFault = (error: unknown) => isFaultV3(error, purpose);
    return callUncounted({ method: 'pdexv3_getState', ...call }, purpose === 'head', isFault);
  }

  /** Reads the pools with their orders; from a node that is too old for that, without them. */
  async function readPoolsV3(
    height: BeaconHeight,
    purpose: 'head' | 'client',
    signal: AbortSignal | undefined,
  ): Promise<PoolsV3> {
    const isNewest = purpose === 'head';
    const read = (hasOrders: boolean) => {
      const params = paramsV3(height, 'PoolPairs', { Verbosity: hasOrders ? WITH_ORDERS : WITHOUT_ORDERS });
      const reader = (resultOf: ResultOf) => poolsV3Reader.read(height, resultOf, { hasOrders, isNewest });
      return callV3({ params, reader, signal }, purpose);
    };
    if (withoutOrdersUntil !== undefined) {
      if (performance.now() < withoutOrdersUntil) return read(false);
      // Of calls at the same time, one shows whether the node is still old: nodes limit the number of errors.
      withoutOrdersUntil = performance.now() + ORDERS_AGAIN_MS;
    }
    try {
      const pools = await read(true);
      withoutOrdersUntil = undefined;
      return pools;
    } catch (error) {
      if (!isUnknownVerbosity(error)) throw error;
      withoutOrdersUntil = performance.now() + ORDERS_AGAIN_MS;
      return read(false);
    }
  }

  function paramsV3At(height: BeaconHeight, signal: AbortSignal | undefined): CallV3<TimedParams> {
    const reader = (resultOf: ResultOf) =>
      createDocumentReader(MAX_DOCUMENT_BYTES, (document) => {
        const result = resultOf(document);
        return { time: readStateTime(result), params: readParams(result) };
      });
    return { params: paramsV3(height, 'Params'), reader, signal };
  }

  /**
   * The block of a height. Calls for heads come before it. Other calls show whether the node is healthy: without blocks, only trades
   * are unknown.
   *
   * @param received gets the number of bytes of each part of the response that arrives, without compression
   * @throws UpstreamRpcError for a height that the node does not have
   */
  function beaconBlock(
    height: BeaconHeight,
    signal?: AbortSignal,
    received?: (bytes: number) => void,
  ): Promise<BeaconBlock> {
    const reader: Call<BeaconBlock>['reader'] = (_, anyResultOf) => createBeaconBlockReader(anyResultOf, received);
    const call = { method: 'retrievebeaconblockbyheight', params: [height], reader, signal } as const;
    return callUncounted(call, false, () => false);
  }

  return {
    name,
    /** The time between two calls, because the node limits their rate; 0 if it does not. */
    spaceMs: spacing.spaceMs,
    health: health.read,
    chainInfo: (signal?: AbortSignal) => follow({ method: 'getblockchaininfo', reader: createChainInfoReader, signal }),
    /** The documented source of the height at which to read the exchange. The response is large. */
    beaconTip: (signal?: AbortSignal) =>
      follow({ method: 'getbeaconbeststatedetail', params: [''], reader: createBeaconTipReader, signal }),
    /** The state of V1 at the newest block. @throws UpstreamRpcError with code -8000 for a height that the node does not have yet */
    newestStateV1: (height: BeaconHeight, signal?: AbortSignal) => follow(stateV1At(height, signal)),
    /** The same at a height that a client requests. @throws UpstreamRpcError with code -8000, also if the node has pruned it */
    earlierStateV1: (height: BeaconHeight, signal?: AbortSignal) =>
      callUncounted(stateV1At(height, signal), false, (error) => whyStateIsMissing(error) === undefined),
    /** The pools of V3 at the newest block. @throws UpstreamRpcError with code -14001 where others have -8000 */
    newestPoolsV3: (height: BeaconHeight, signal?: AbortSignal) => readPoolsV3(height, 'head', signal),
    /** The same at a height that a client requests. */
    earlierPoolsV3: (height: BeaconHeight, signal?: AbortSignal) => readPoolsV3(height, 'client', signal),
    /** The parameters of V3 at the newest block. @throws as `newestPoolsV3` */
    newestParamsV3: (height: BeaconHeight, signal?: AbortSignal) => callV3(paramsV3At(height, signal), 'head'),
    /** The same at a height that a client requests. */
    earlierParamsV3: (height: BeaconHeight, signal?: AbortSignal) => callV3(paramsV3At(height, signal), 'client'),
    /** The same, to see whether the node has V3. */
    probeV3: (height: BeaconHeight, signal?: AbortSignal) => callV3(paramsV3At(height, signal), 'probe'),
    /** The orders of a pool of V3, which must exist: a node responds with none for an unknown one. @throws as `newestPoolsV3` */
    poolOrders(height: BeaconHeight, poolId: string, signal?: AbortSignal): Promise<TimedOrders> {
      const reader = (resultOf: ResultOf) => poolsV3Reader.readOrders(poolId, resultOf);
      return callV3({ params: paramsV3(height, 'PoolPairOrders', { ID: poolId }), reader, signal }, 'client');
    },
    beaconBlock,
  };
}

/** Names the part of a state of the third version that is requested. */
function paramsV3(height: BeaconHeight, part: string, { Verbosity = 1, ID = '' } = {}): readonly unknown[] {
  return [{ BeaconHeight: height, Filter: { Key: part, Verbosity, ID } }];
}

/** Pools with their orders, and without what grows with the number of liquidity providers. Nodes before September 2022 lack it. */
const WITH_ORDERS = 4;
const WITHOUT_ORDERS = 2;

/** A node can be replaced by a newer one. */
const ORDERS_AGAIN_MS = 600_000;

/** Why a part of the third version is requested. */
type PurposeV3 = 'head' | 'client' | 'probe';

/** Whether an error counts for the health of the node. Else it is a response that was to be expected. */
function isFaultV3(error: unknown, purpose: PurposeV3): boolean {
  // The pools are requested again, without orders.
  if (isUnknownVerbosity(error)) return false;
  if (purpose === 'head') return true;
  if (isBeforeV3(error) || whyStateIsMissing(error) !== undefined) return false;
  return purpose === 'client' || !canBeUnknownMethod(error);
}

type Call<T> = {
  readonly method: NodeMethod;
  readonly params?: readonly unknown[];
  readonly reader: (resultOf: ResultOf, anyResultOf: (document: unknown) => unknown) => ResponseReader<T>;
  readonly signal?: AbortSignal | undefined;
};

type CallV3<T> = Omit<Call<T>, 'method'>;

/** `getblockchaininfo` has some 10 KB. */
const MAX_DOCUMENT_BYTES = 8 * 2 ** 20;
