import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { Service } from '../graphql/context.ts';
import type { ConnectionBound } from './connection-bound.ts';
import { createGraphiqlDoor, isForGraphiql } from './graphiql.ts';
import { answerHealth, HEALTH_PATH } from './health.ts';
import type { Metrics } from './metrics.ts';
import { isEventStream } from './open-answers.ts';
import { answerForOrigin } from './origins.ts';
import { answerReady, READY_PATH, reasonsNotReady } from './ready.ts';
import { REQUEST_ID_HEADER, type RequestIds, requestIdOf } from './request-id.ts';
import { GRAPHQL_PATH, type Yoga } from './yoga.ts';

/** The path that a Prometheus reads. */
export const METRICS_PATH = '/metrics';

/** What the HTTP server is made of. */
export type HttpServerOptions = {
  readonly yoga: Yoga;
  readonly service: Service;
  readonly metrics: Metrics;
  readonly requestIds: RequestIds;
  readonly connections: ConnectionBound | undefined;
  /** Whose pages may ask, beside those of the gateway itself. */
  readonly corsOrigins: readonly string[];
  /** Whether browsers get GraphiQL. */
  readonly graphiql: boolean;
  /** How long a peer may let the gateway wait: it is left within two such periods. */
  readonly keepAliveMs: number;
  /** Whether the gateway is about to end. */
  readonly isStopping: () => boolean;
};

/** Answers what comes to one path. */
type Door = { readonly name: string; open(request: IncomingMessage, response: ServerResponse): unknown };

/** Makes the HTTP server: each path leads to one door, and no other path leads anywhere. */
export function createHttpServer(options: HttpServerOptions): Server {
  const { yoga, service, metrics, requestIds, connections, corsOrigins, keepAliveMs, isStopping } = options;
  const graphql: Door = {
    name: 'graphql',
    open(request, response) {
      if (answerForOrigin(request, response, corsOrigins)) return;
      if (connections?.admits(request, response) === false) connections.refuse(request, response);
      else yoga(request, response);
    },
  };
  const graphiql: Door = { name: 'graphiql', open: createGraphiqlDoor() };
  const doors: ReadonlyMap<string, Door> = new Map([
    [GRAPHQL_PATH, graphql],
    [HEALTH_PATH, { name: 'health', open: answerHealth }],
    [
      READY_PATH,
      {
        name: 'ready',
        open: (_request, response) =>
          answerReady(isStopping() ? ['the gateway is stopping'] : reasonsNotReady(service), response),
      },
    ],
    [METRICS_PATH, { name: 'metrics', open: (_request, response) => answerMetrics(metrics, response) }],
  ]);

  function doorOf(request: IncomingMessage): Door {
    if (!hasReadableHost(request)) return UNREADABLE;
    const door = doors.get(pathOf(request)) ?? NOWHERE;
    return door === graphql && options.graphiql && isForGraphiql(request) ? graphiql : door;
  }

  const server = createServer(timeoutsOf(keepAliveMs), (request, response) => {
    const start = performance.now();
    const door = doorOf(request);
    const id = requestIdOf(request);
    response.setHeader(REQUEST_ID_HEADER, id);
    if (isStopping() || connections?.isBeyond(request.socket)) response.setHeader('connection', 'close');
    response.once('close', () => {
      const seconds = isEventStream(response) ? undefined : (performance.now() - start) / 1_000;
      metrics.answeredRequest(door.name, response.statusCode, seconds);
      // A connection that is kept for a next request would keep the gateway from its end.
      if (!server.listening) setImmediate(() => server.closeIdleConnections());
    });
    requestIds.run(id, () => door.open(request, response));
  });
  if (connections) server.on('connection', connections.opened);
  return server;
}

/**
 * A connection that is kept for a next request outlives the 60 s after which the usual load balancers let go of theirs:
 * otherwise they send a request now and then at the very moment at which the gateway closes.
 */
const KEPT_MS = 65_000;

/** How much may wait in front of a reader before nothing more is made for it: what is made waits there, while it ages. */
const MAX_WAITING_BYTES = 4_096;

/** A request has to be whole within two periods, its head and its body together. */
function timeoutsOf(keepAliveMs: number): ServerOptions {
  const requestTimeout = keepAliveMs * 1.5;
  return {
    headersTimeout: requestTimeout,
    requestTimeout,
    connectionsCheckingInterval: keepAliveMs / 2,
    keepAliveTimeout: KEPT_MS,
    highWaterMark: MAX_WAITING_BYTES,
  };
}

/** The exact path of a request, without its query. */
export function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '/';
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

/** Doors make a URL of the host and the path. */
function hasReadableHost({ headers: { host } }: IncomingMessage): boolean {
  return host === undefined || URL.canParse(`http://${host}`);
}

const UNREADABLE: Door = {
  name: 'unreadable',
  open(_request, response) {
    response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('The host of this request cannot be read.\n');
  },
};

const NOWHERE: Door = {
  name: 'nowhere',
  open(_request, response) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(`Nothing is here. GraphQL is at ${GRAPHQL_PATH}.\n`);
  },
};

async function answerMetrics(metrics: Metrics, response: ServerResponse): Promise<void> {
  const text = await metrics.text();
  response.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' });
  response.end(text);
}
