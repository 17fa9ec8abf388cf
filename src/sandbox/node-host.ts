import type { NodeFault } from './faults.ts';
import { type Address, createHost, type HostControl, type RecordedRequest } from './http/host.ts';
import { type Answer, type Headers, nodeWire } from './http/wire.ts';
import { beaconState } from './node/beacon-state.ts';
import { chainInfo } from './node/chain-info.ts';
import { committeesOf } from './node/committees.ts';
import { createExchangeStatePrinter } from './node/exchange-state.ts';
import { printGo, toGo } from './node/go-json.ts';
import { parseRpcRequest, printEnvelope, type RpcOutcome } from './node/rpc.ts';
import { heightInvalid, payloadInvalid, stateMissing } from './node/rpc-errors.ts';
import type { Block } from './world/block.ts';
import type { World } from './world/world.ts';

/** The calls a node answers. */
export type NodeCall = (typeof nodeCalls)[number];

/** A node, seen from a test. */
export type NodeControl = HostControl<NodeFault, NodeCall>;

const nodeCalls = ['getblockchaininfo', 'getbeaconbeststatedetail', 'getpdestate'] as const;

const crossOrigin: Headers = [
  ['Access-Control-Allow-Credentials', 'true'],
  [
    'Access-Control-Allow-Headers',
    'Content-Type, Origin, Device-Type, Device-Id, Authorization, Accept-Language, Access-Control-Allow-Headers, Access-Control-Allow-Credentials, Access-Control-Allow-Origin, Access-Control-Allow-Methods, *',
  ],
  ['Access-Control-Allow-Methods', 'POST, PUT, GET, OPTIONS, DELETE'],
  ['Access-Control-Allow-Origin', '*'],
  ['Connection', 'close'],
];
const headers: Headers = [...crossOrigin, ['Content-Type', 'application/json']];
const resultsKept = 6;

/** Starts a node that tells what `world` is, over JSON-RPC 1.0, with all the manners of the real one. */
export function createNodeHost(world: World, address: Address, maxClients: number): Promise<NodeControl> {
  const committees = committeesOf(world.seed);
  const printState = createExchangeStatePrinter(world);
  const results = new Map<string, Buffer>();

  function printed(name: NodeCall, block: Block, print: () => string): RpcOutcome {
    const key = `${name}/${block.height}/${block.version}`;
    const result = results.get(key) ?? Buffer.from(print());
    results.delete(key);
    results.set(key, result);
    for (const oldest of results.keys()) if (results.size > resultsKept) results.delete(oldest);
    return { result };
  }

  function call(name: NodeCall, params: unknown, faults: readonly NodeFault[]): RpcOutcome {
    const tip = tipShown(world, faults);
    switch (name) {
      case 'getblockchaininfo':
        return printed(name, tip, () => printGo(chainInfo(world.seed, committees, tip), 1));
      case 'getbeaconbeststatedetail': {
        const previous = world.block(tip.height - 1);
        return printed(name, tip, () => printGo(beaconState(world.seed, committees, tip, previous), 1));
      }
      case 'getpdestate': {
        const [first] = Array.isArray(params) ? params : [];
        if (typeof first !== 'object' || first === null || Array.isArray(first)) return { error: payloadInvalid() };
        const height: unknown = first.BeaconHeight;
        if (typeof height !== 'number' || !Number.isInteger(height)) return { error: heightInvalid() };

        const block = height > tip.height ? undefined : world.block(height);
        if (!block || faults.some(({ kind }) => kind === 'state-missing')) return { error: stateMissing(height) };
        return printed(name, block, () => printState(block));
      }
    }
  }

  return createHost<NodeFault, NodeCall>(address, {
    identify(method, _path, body) {
      const request = hasNoBody(method) ? undefined : parseRpcRequest(body);
      return { name: nodeCalls.find((name) => name === request?.method), params: request?.params };
    },
    fits: (fault, { name, params }) =>
      fault.kind !== 'state-missing' || (name === 'getpdestate' && heightOf(params) === world.tip.height),
    answer({ method, name }, body, faults) {
      if (hasNoBody(method)) return bodiless(method);
      const request = parseRpcRequest(body);
      if (!request) return { status: 400, headers, body: [] };
      if (typeof request.id !== 'string' && typeof request.id !== 'number') return undefined;
      if (!name) return { status: 500, headers, body: [] };

      const id = faults.some(({ kind }) => kind === 'wrong-id') ? otherThan(request.id) : request.id;
      const outcome = call(name, request.params, faults);
      return { status: 200, headers, body: printEnvelope(id, request, toGo(request.params), outcome) };
    },
    wire: nodeWire,
    keepsAlive: false,
    tooBusy: { maxClients, answer: tooBusy },
  });
}

function tipShown(world: World, faults: readonly NodeFault[]): Block {
  const lag = faults.reduce((sum, fault) => sum + (fault.kind === 'lag' ? fault.blocks : 0), 0);
  return world.block(Math.max(world.oldestHeight, world.tip.height - lag)) ?? world.tip;
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

function bodiless(method: string): Answer {
  const length: Headers = method === 'OPTIONS' ? [['Content-Length', '0']] : [];
  return { status: 200, headers: [...headers, ['Date', new Date().toUTCString()], ...length], body: [] };
}

function tooBusy(): Answer {
  const body = Buffer.from('503 Too busy.  Try again later.\n');
  const plain: Headers = [
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['X-Content-Type-Options', 'nosniff'],
    ['Date', new Date().toUTCString()],
    ['Content-Length', String(body.length)],
  ];
  return { status: 503, headers: [...crossOrigin, ...plain], body: [body] };
}
