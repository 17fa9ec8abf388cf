import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxOptions } from '../src/sandbox/sandbox.ts';
import { createFolder } from './folders.ts';
import { type SandboxProcess, startGateway, startSandbox } from './gateway.ts';
import type { Transport } from './load/connection.ts';
import { type BenchProcess, startProcess } from './processes.ts';
import { type Snapshot, takeSnapshot } from './snapshot.ts';

/** The subjects that answer over HTTP; the first is what the others are held against. */
export const BARE_HTTP = 'bare node:http';
/** What the others are held against where there are subscribers. */
export const BARE_WS = 'bare ws';
/** The gateway itself. */
export const GATEWAY = 'gateway';
/** The gateway over websockets. */
export const GATEWAY_BY_WEBSOCKET = 'gateway, over websockets';
/** The peer that the gateway is built with. */
export const YOGA = 'Yoga as it comes';

/** The quickest peer that executes what it is asked. */
export const MERCURIUS_JIT = 'Mercurius with its JIT';

/** A peer that is told where the snapshot lies, and nothing else. */
type Peer = { readonly file: string; readonly args?: readonly string[] };

const BARE: ReadonlyMap<string, Peer> = new Map([
  [BARE_HTTP, { file: 'peers/bare-http.ts' }],
  [BARE_WS, { file: 'peers/bare-ws.ts' }],
]);

const PEERS: ReadonlyMap<string, Peer> = new Map([
  [MERCURIUS_JIT, { file: 'peers/mercurius.ts', args: ['jit'] }],
  ['Mercurius', { file: 'peers/mercurius.ts' }],
  ['Apollo Server', { file: 'peers/apollo.ts' }],
  [YOGA, { file: 'peers/yoga.ts' }],
]);

/** One server that is sent queries over one transport. */
export type Subject = { readonly server: BenchProcess; readonly transport: Transport };

/** Those that answer queries over websockets too. */
const WEBSOCKET_PEERS: ReadonlyMap<string, Peer> = new Map([
  [`${MERCURIUS_JIT}, over websockets`, { file: 'peers/mercurius.ts', args: ['jit', 'websocket'] }],
  [`${YOGA}, over websockets`, { file: 'peers/yoga.ts' }],
]);

/** A world of some size, the gateway in front of it, and what peers are made from. */
export type World = AsyncDisposable & {
  readonly sandbox: SandboxProcess;
  readonly gateway: BenchProcess;
  readonly snapshot: Snapshot;
  /** Starts a peer by its name. It ends with the world. */
  startPeer(name: string): Promise<BenchProcess>;
};

/** Starts a world and the gateway, with settings other than the defaults in `env`. */
export async function startWorld(options: SandboxOptions, env: Readonly<Record<string, string>> = {}): Promise<World> {
  const sandbox = await startSandbox(options);
  const gateway = await startGateway(sandbox, { env });
  const snapshot = await takeSnapshot(gateway.url);
  const file = join(createFolder(), 'snapshot.json');
  writeFileSync(file, JSON.stringify(snapshot));
  const peers: BenchProcess[] = [];

  return {
    sandbox,
    gateway,
    snapshot,
    async startPeer(name) {
      const peer = BARE.get(name) ?? PEERS.get(name) ?? WEBSOCKET_PEERS.get(name);
      if (!peer) throw new Error(`there is no peer named ${name}`);
      const started = await startProcess({ place: 'server', file: peer.file, args: [file, ...(peer.args ?? [])] });
      peers.push(started);
      return started;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([sandbox, gateway, ...peers].map((each) => each.stop()));
    },
  };
}

/**
 * Starts what answers over HTTP, by its name, in the order in which it is reported: the bare server, the gateway, and those of
 * the others that are wanted.
 */
export async function startHttpServers(
  world: World,
  isWanted: (name: string) => boolean = () => true,
): Promise<ReadonlyMap<string, Subject>> {
  const bare = await world.startPeer(BARE_HTTP);
  const subjects = new Map<string, Subject>([
    [BARE_HTTP, { server: bare, transport: 'http' }],
    [GATEWAY, { server: world.gateway, transport: 'http' }],
  ]);
  for (const name of PEERS.keys())
    if (isWanted(name)) subjects.set(name, { server: await world.startPeer(name), transport: 'http' });
  return subjects;
}

/** Starts what answers over websockets, by its name: the gateway, also over HTTP, and those of the peers that are wanted. */
export async function startWebSocketServers(
  world: World,
  isWanted: (name: string) => boolean,
): Promise<ReadonlyMap<string, Subject>> {
  const subjects = new Map<string, Subject>([
    [GATEWAY, { server: world.gateway, transport: 'http' }],
    [GATEWAY_BY_WEBSOCKET, { server: world.gateway, transport: 'websocket' }],
  ]);
  for (const name of WEBSOCKET_PEERS.keys())
    if (isWanted(name)) subjects.set(name, { server: await world.startPeer(name), transport: 'websocket' });
  return subjects;
}
