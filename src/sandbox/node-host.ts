import type { Block } from './chain/block.ts';
import type { Chain } from './chain/chain.ts';
import type { NodeCall, NodeFault } from './faults.ts';
import { createHost, type HostControl, type RecordedRequest } from './http/host.ts';
import type { Address } from './http/listen.ts';
import { createNodeWriter, type Headers, type HostResponse } from './http/response-writer.ts';
import { beaconBlock } from './node/beacon-block.ts';
import { beaconState } from './node/beacon-state.ts';
import { BLOCKS_PER_EPOCH, chainInfo } from './node/chain-info.ts';
import { committeesOf } from './node/committees.ts';
import { createErrorLimits } from './node/error-limits.ts';
import { printGo, toGo } from './node/go-json.ts';
import { parseRpcRequest, printEnvelope, type RpcOutcome } from './node/rpc.ts';
import {
  blockNotFound,
  heightInvalid,
  noSuchBlock,
  payloadInvalid,
  stateError,
  statePruned,
  v3Error,
} from './node/rpc-errors.ts';
import { createV1StatePrinter } from './node/state-v1.ts';
import { createV3State } from './node/state-v3.ts';
import { instructionsOf, withDamagedTrade } from './v3/instructions.ts';

/** What tests see of a node. */
export type NodeControl = HostControl<NodeFault, NodeCall>;

const NODE_CALLS: readonly NodeCall[] = ['getblockchaininfo', 'getbeaconbeststatedetail', 'getpdestate'];
const CALLS_OF_V3: readonly NodeCall[] = [...NODE_CALLS, 'pdexv3_getState', 'retrievebeaconblockbyheight'];

const CORS_HEADERS: Headers = [
  ['Access-Control-Allow-Credentials', 'true'],
  [
    'Access-Control-Allow-Headers',
    'Content-Type, Origin, Device-Type, Device-Id, Authorization, Accept-Language, Access-Control-Allow-Headers, Access-Control-Allow-Credentials, Access-Control-Allow-Origin, Access-Control-Allow-Methods, *',
  ],
  ['Access-Control-Allow-Methods', 'POST, PUT, GET, OPTIONS, DELETE'],
  ['Access-Control-Allow-Origin', '*'],
  ['Connection', 'close'],
];
const HEADERS: Headers = [...CORS_HEADERS, ['Content-Type', 'application/json']];
const MAX_CACHED_RESULTS = 6;

/**
 * Starts a node of a chain, over JSON-RPC 1.0. It responds like the real node to each call that the gateway makes. Of
 * `pdexv3_getState` it lacks the filter key `All`, and the shares of a pool that was emptied. A fault that hides blocks applies to
 * its calls, and not to the blocks that it pushes.
 */
export function createNodeHost(chain: Chain, address: Address, maxClients: number): Promise<NodeControl> {
  const committees = committeesOf(chain.seed);
  const printState = createV1StatePrinter(chain);
  const results = new Map<string, Buffer>();
  const errorLimits = createErrorLimits();
  const calls = chain.v3Pools.length > 0 ? CALLS_OF_V3 : NODE_CALLS;
  const v3State = createV3State(chain);
  const syncing = new WeakMap<NodeFault, { readonly startedAt: number; readonly tip: number }>();

  function printed(name: NodeCall, block: Block, print: () => string): RpcOutcome {
    const key = `${name}/${block.height}/${block.version}`;
    const result = results.get(key) ?? Buffer.from(print());
    results.delete(key);
    results.set(key, result);
    for (const oldest of results.keys()) if (results.size > MAX_CACHED_RESULTS) results.delete(oldest);
    return { result };
  }

  /** The chain as this node sees it: its tip, and the blocks of its branch. */
  function visibleChain(faults: readonly NodeFault[]): { tip: Block; block(height: number): Block | undefined } {
    const from = faults.find((fault) => fault.kind === 'fork')?.from;
    const block = (height: number) => (from === undefined ? chain.block(height) : chain.branchBlock(from, height));
    const behind = faults.reduce((sum, fault) => sum + blocksBehind(fault), 0);
    return { tip: block(Math.max(chain.oldestHeight, chain.tip.height - behind)) ?? chain.tip, block };
  }

  function blocksBehind(fault: NodeFault): number {
    if (fault.kind === 'lag') return fault.blocks;
    if (fault.kind !== 'syncing') return 0;
    const { startedAt, tip } = syncing.get(fault) ?? { startedAt: Date.now(), tip: chain.tip.height };
    syncing.set(fault, { startedAt, tip });
    const reached = tip - fault.blocks + Math.floor((Date.now() - startedAt) / (fault.everyMs ?? 20));
    return Math.max(0, chain.tip.height - reached);
  }

  function call(name: NodeCall, params: unknown, faults: readonly NodeFault[]): RpcOutcome {
    const { tip, block: blockAt } = visibleChain(faults);
    switch (name) {
      case 'getblockchaininfo':
        return printed(name, tip, () => printGo(chainInfo(chain.seed, committees, tip), 1));
      case 'getbeaconbeststatedetail': {
        const previous = blockAt(tip.height - 1);
        const epochStart = blockAt(tip.height - (tip.height % BLOCKS_PER_EPOCH));
        const below = { previous, epochStart };
        return printed(name, tip, () => printGo(beaconState(chain.seed, committees, tip, below), 1));
      }
      case 'getpdestate': {
        const [first] = Array.isArray(params) ? params : [];
        if (typeof first !== 'object' || first === null || Array.isArray(first)) return { error: payloadInvalid() };
        const height: unknown = first.BeaconHeight;
        if (typeof height !== 'number' || !Number.isInteger(height)) return { error: heightInvalid() };

        const failing = faults.find((fault) => fault.kind === 'state-error');
        if (failing) return { error: stateError(failing.because) };
        const isHidden = faults.some(({ kind }) => kind === 'state-missing');
        if (height < 1 || height > tip.height || isHidden) return { error: blockNotFound(height) };
        const block = height < oldestKept(tip, faults) ? undefined : blockAt(height);
        if (!block) return { error: statePruned(height) };
        return printed(name, block, () => printState(block));
      }
      case 'pdexv3_getState': {
        const failing = faults.find((fault) => fault.kind === 'state-error');
        if (failing) return { error: v3Error(failing.because, 2) };
        const isHidden = faults.some(({ kind }) => kind === 'state-missing');
        return v3State(params, {
          tip: isHidden ? (blockAt(tip.height - 1) ?? tip) : tip,
          block: blockAt,
          oldestKept: oldestKept(tip, faults),
          isOld: faults.some(({ kind }) => kind === 'old-node'),
          missingPools: faults.reduce((sum, fault) => sum + (fault.kind === 'missing-pools' ? fault.pools : 0), 0),
        });
      }
      case 'retrievebeaconblockbyheight': {
        const [height] = Array.isArray(params) ? params : [];
        if (typeof height !== 'number') return { error: heightInvalid() };
        const isPruned = faults.some((fault) => fault.kind === 'pruned-blocks' && tip.height - height >= fault.blocks);
        const block = height > tip.height || isPruned ? undefined : blockAt(height);
        if (block === undefined) return { error: noSuchBlock(height) };
        const below = blockAt(height - 1);
        const next = height < tip.height ? blockAt(height + 1) : undefined;
        const all = instructionsOf(chain.seed, block, block.v3);
        const instructions = faults.some(({ kind }) => kind === 'damaged-trade') ? withDamagedTrade(all) : all;
        // Not cached: the hash of the next block is empty at first.
        const shown = beaconBlock(chain.seed, committees, block, { previous: below, next, instructions });
        return { result: Buffer.from(printGo([shown], 1)) };
      }
    }
  }

  return createHost<NodeFault, NodeCall>(address, {
    identify(method, _path, body) {
      const request = hasNoBody(method) ? undefined : parseRpcRequest(body);
      return { name: calls.find((name) => name === request?.method), params: request?.params };
    },
    matches(fault, { name, params }) {
      const isState = name === 'getpdestate' || name === 'pdexv3_getState';
      if (fault.kind === 'state-missing') return isState && heightOf(params) === chain.tip.height;
      if (fault.kind === 'damaged-trade' || fault.kind === 'pruned-blocks')
        return name === 'retrievebeaconblockbyheight';
      return isState || (fault.kind !== 'pruned' && fault.kind !== 'state-error');
    },
    respond({ method, name, from }, body, faults) {
      if (hasNoBody(method)) return responseWithoutBody(method);
      const request = parseRpcRequest(body);
      if (!request) return { status: 400, headers: HEADERS, body: [] };
      if (typeof request.id !== 'string' && typeof request.id !== 'number') return undefined;
      if (!name) return { status: 500, headers: HEADERS, body: [] };

      const id = faults.some(({ kind }) => kind === 'wrong-id') ? otherThan(request.id) : request.id;
      const limits = faults.filter((fault) => fault.kind === 'error-limit');
      const client = `${from} ${name}`;
      if (limits.some((limit) => errorLimits.isExceeded(limit, client))) return undefined;
      const outcome = call(name, request.params, faults);
      if ('error' in outcome) for (const limit of limits) errorLimits.count(limit, client);
      return { status: 200, headers: HEADERS, body: printEnvelope(id, request, toGo(request.params), outcome) };
    },
    createWriter: createNodeWriter,
    keepsAlive: false,
    tooBusy: { maxClients, respond: tooBusy },
  });
}

function oldestKept(tip: Block, faults: readonly NodeFault[]): number {
  const horizons = faults.map((fault) => (fault.kind === 'pruned' ? tip.height - fault.blocks : 0));
  return Math.max(0, ...horizons);
}

function heightOf(params: unknown): unknown {
  return Array.isArray(params) ? params[0]?.BeaconHeight : undefined;
}

function otherThan(id: string | number): string | number {
  return typeof id === 'number' ? id + 1 : `not ${id}`;
}

function hasNoBody(method: RecordedRequest<NodeCall>['method']): boolean {
  return method === 'OPTIONS' || method === 'HEAD';
}

function responseWithoutBody(method: string): HostResponse {
  const length: Headers = method === 'OPTIONS' ? [['Content-Length', '0']] : [];
  return { status: 200, headers: [...HEADERS, ['Date', new Date().toUTCString()], ...length], body: [] };
}

function tooBusy(): HostResponse {
  const body = Buffer.from('503 Too busy.  Try again later.\n');
  const plain: Headers = [
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['X-Content-Type-Options', 'nosniff'],
    ['Date', new Date().toUTCString()],
    ['Content-Length', String(body.length)],
  ];
  return { status: 503, headers: [...CORS_HEADERS, ...plain], body: [body] };
}
