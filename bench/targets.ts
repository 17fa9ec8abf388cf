import type { Transport } from './load/connection.ts';
import type { BenchProcess } from './processes.ts';
import type { Testbed } from './testbed.ts';

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

/** What follows the name of a target of the other checkout in a comparison. */
export const BEFORE = ', before';
/** The gateway of the other checkout. */
export const GATEWAY_BEFORE = `${GATEWAY}${BEFORE}`;

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
  [`${MERCURIUS_JIT}, over websockets`, { file: 'reference-servers/mercurius.ts', args: ['jit', 'websocket'] }],
  [`${YOGA}, over websockets`, { file: 'reference-servers/yoga.ts' }],
]);

const GRAPHQL_SERVERS = [MERCURIUS_JIT, 'Mercurius', 'Apollo Server', YOGA];
const WEBSOCKET_SERVERS = [`${MERCURIUS_JIT}, over websockets`, `${YOGA}, over websockets`];

/** Starts targets. @param isIncluded whether a reference server takes part */
export type StartTargets = (testbed: Testbed, isIncluded: (name: string) => boolean) => Promise<Targets>;

/** Starts the targets over HTTP. */
export const startHttpTargets: StartTargets = async (testbed, isIncluded) =>
  new Map([
    ...(await startReferences(testbed, [BARE_HTTP].filter(isIncluded), 'http')),
    ...gatewaysBy(testbed, 'http'),
    ...(await startReferences(testbed, GRAPHQL_SERVERS.filter(isIncluded), 'http')),
  ]);

/** Starts the targets over websockets, and takes the gateway over HTTP as their baseline. */
export const startWebSocketTargets: StartTargets = async (testbed, isIncluded) =>
  new Map([
    ...gatewaysBy(testbed, 'http'),
    [GATEWAY_BY_WEBSOCKET, { server: testbed.gateway, transport: 'websocket' as const }],
    ...(await startReferences(testbed, WEBSOCKET_SERVERS.filter(isIncluded), 'websocket')),
  ]);

/** Takes only the gateways of all checkouts, over one transport. */
export function startGateways(transport: Transport): StartTargets {
  return async (testbed) => gatewaysBy(testbed, transport);
}

function gatewaysBy({ gateways }: Testbed, transport: Transport): Targets {
  return new Map([...gateways].map(([name, server]) => [name, { server, transport }]));
}

async function startReferences(testbed: Testbed, names: readonly string[], transport: Transport): Promise<Targets> {
  const targets = new Map<string, Target>();
  for (const name of names) targets.set(name, { server: await testbed.startReference(name), transport });
  return targets;
}
