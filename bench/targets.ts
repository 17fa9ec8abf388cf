import type { Transport } from './load/connection.ts';
import type { BenchProcess } from './processes.ts';

/** Node's own HTTP server: the baseline of targets over HTTP. */
export const BARE_HTTP = 'bare node:http';
/** The package `ws` alone: the baseline of servers with subscribers. */
export const BARE_WS = 'bare ws';
/** The gateway of this checkout. */
export const GATEWAY = 'gateway';
/** The same over websockets, where it is also measured over HTTP. */
export const GATEWAY_BY_WEBSOCKET = 'gateway, over websockets';
/** The GraphQL server with which the gateway is built. */
export const YOGA = 'Yoga';
/** The fastest GraphQL server among the reference servers. */
export const MERCURIUS_JIT = 'Mercurius with its JIT';
/** A GraphQL server in Rust. Its binary needs a newer C library than many systems have. */
export const TAILCALL = 'Tailcall';

/** One server that is measured over one transport. */
export type Target = {
  readonly server: BenchProcess;
  readonly transport: Transport;
  /** Called before each of its rounds. Two targets can be the same process, prepared in two ways. */
  readonly prepare?: () => Promise<unknown>;
};

/** The targets by their names, in the order of the report. */
export type Targets = ReadonlyMap<string, Target>;

type ReferenceServer = { readonly file: string; readonly args?: readonly string[] };

/** The reference servers by name. Each gets the file with the snapshot as its first argument. */
export const REFERENCE_SERVERS: ReadonlyMap<string, ReferenceServer> = new Map([
  [BARE_HTTP, { file: 'reference-servers/bare-http.ts' }],
  [BARE_WS, { file: 'reference-servers/bare-ws.ts' }],
  [MERCURIUS_JIT, { file: 'reference-servers/mercurius.ts', args: ['jit'] }],
  ['Mercurius', { file: 'reference-servers/mercurius.ts' }],
  ['Apollo Server', { file: 'reference-servers/apollo.ts' }],
  [YOGA, { file: 'reference-servers/yoga.ts' }],
  [TAILCALL, { file: 'reference-servers/tailcall.ts' }],
]);

/** The GraphQL servers over HTTP that the chart shows beside the gateway. */
export const GRAPHQL_SERVERS = [MERCURIUS_JIT, 'Mercurius', 'Apollo Server', YOGA];

/** The gateways of a testbed, and how it starts a reference server by its name: `undefined` if that cannot run here. */
type Servers = {
  readonly gateway: BenchProcess;
  readonly gateways: ReadonlyMap<string, BenchProcess>;
  startReference(name: string): Promise<BenchProcess | undefined>;
};

/** Starts targets. @param isIncluded whether a reference server takes part */
export type StartTargets = (servers: Servers, isIncluded: (name: string) => boolean) => Promise<Targets>;

/** Starts the targets over HTTP. */
export const startHttpTargets: StartTargets = async (servers, isIncluded) =>
  new Map([
    ...(await startReferences(servers, [BARE_HTTP].filter(isIncluded))),
    ...gatewaysBy(servers, 'http'),
    ...(await startReferences(servers, GRAPHQL_SERVERS.filter(isIncluded))),
  ]);

/** The same and Tailcall, which has pages of pools only. */
export const startPageTargets: StartTargets = async (servers, isIncluded) =>
  new Map([
    ...(await startHttpTargets(servers, isIncluded)),
    ...(await startReferences(servers, [TAILCALL].filter(isIncluded))),
  ]);

/** Takes the gateway over HTTP, and over websockets. */
export const startWebSocketTargets: StartTargets = async (servers) =>
  new Map([
    ...gatewaysBy(servers, 'http'),
    [GATEWAY_BY_WEBSOCKET, { server: servers.gateway, transport: 'websocket' as const }],
  ]);

/** Takes only the gateways of all checkouts, over one transport. */
export function startGateways(transport: Transport): StartTargets {
  return async (servers) => gatewaysBy(servers, transport);
}

function gatewaysBy({ gateways }: Servers, transport: Transport): Targets {
  return new Map([...gateways].map(([name, server]) => [name, { server, transport }]));
}

async function startReferences(servers: Servers, names: readonly string[]): Promise<Targets> {
  const targets = new Map<string, Target>();
  for (const name of names) {
    const server = await servers.startReference(name);
    if (server !== undefined) targets.set(name, { server, transport: 'http' });
  }
  return targets;
}
