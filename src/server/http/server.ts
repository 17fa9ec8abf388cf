import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { Service } from '../../graphql/context.ts';
import type { AccessLog } from '../access-log.ts';
import type { ConnectionLimits } from '../clients/connection-limits.ts';
import type { EndpointMetrics, Metrics } from '../metrics/metrics.ts';
import { createGraphiqlHandler } from '../pages/graphiql.ts';
import { HEALTH_PATH, handleHealth, handleReady, READY_PATH, readinessProblems, STOPPING } from '../pages/health.ts';
import { createIndex, INDEX_PATH } from '../pages/index-page.ts';
import { handleSchema, SCHEMA_PATH } from '../pages/schema-file.ts';
import { GRAPHQL_PATH } from '../yoga/yoga.ts';
import type { GraphqlHandler } from './graphql-handler.ts';
import { isNavigation } from './navigation.ts';
import type { HttpExchange, OpenResponses } from './open-responses.ts';
import { REQUEST_ID_HEADER, type RequestIds } from './request-id.ts';
import { SANDBOX_HEADER } from './sandbox-header.ts';

/** The path that a Prometheus reads. */
export const METRICS_PATH = '/metrics';

/** What the HTTP server is made of. */
export type HttpServerOptions = {
  readonly graphqlHandler: GraphqlHandler;
  readonly responses: OpenResponses;
  readonly service: Service;
  readonly metrics: Metrics;
  readonly requestIds: RequestIds;
  readonly accessLog: AccessLog;
  readonly connections: ConnectionLimits | undefined;
  /** Whether browsers get GraphiQL. */
  readonly graphiql: boolean;
  /** How long a peer may let the gateway wait: it is left within two such periods. */
  readonly keepAliveMs: number;
  /** Whether the gateway is about to end. */
  readonly isStopping: () => boolean;
  /** Whether the answer to a request is the last on its connection. */
  readonly isLast: (request: IncomingMessage) => boolean;
};

/** Answers what comes to one path, and says how its answers go to those who follow them. */
type Door = { readonly counts: EndpointMetrics; open(exchange: HttpExchange): void };

/** Makes the HTTP server: each path leads to one door, and no other path leads anywhere. */
export function createHttpServer(options: HttpServerOptions): Server {
  const { graphqlHandler, responses, service, metrics, requestIds, connections, keepAliveMs, isStopping, isLast } =
    options;
  const graphql: Door = { counts: metrics.endpointMetrics('graphql'), open: graphqlHandler };
  const graphiql = plain(
    'graphiql',
    createGraphiqlHandler(service.isSandbox ? 'pdex-gateway (sandbox)' : 'pdex-gateway'),
  );
  const ready = plain('ready', (_request, response) =>
    handleReady(isStopping() ? [STOPPING] : readinessProblems(service), service, response),
  );
  const doors: ReadonlyMap<string, Door> = new Map([
    [GRAPHQL_PATH, graphql],
    [SCHEMA_PATH, plain('schema', handleSchema)],
    [HEALTH_PATH, plain('health', handleHealth)],
    [READY_PATH, ready],
    [METRICS_PATH, plain('metrics', (_request, response) => answerMetrics(metrics, response))],
  ]);
  const index = plain('index', createIndex({ ...service, graphiql: options.graphiql }));
  const unreadable = plain('unreadable', answerUnreadable);
  const nowhere = plain('nowhere', answerNowhere);
  const isReadableHost = createHostReader();
  const { onRequest: received } = options.accessLog;

  /** A door whose answers are followed from their beginning on. */
  function plain(name: string, open: (request: IncomingMessage, response: ServerResponse) => unknown): Door {
    return {
      counts: metrics.endpointMetrics(name),
      open(exchange) {
        const { request, response, id } = exchange;
        response.setHeader(REQUEST_ID_HEADER, id);
        if (service.isSandbox) response.setHeader(...SANDBOX_HEADER);
        if (isLast(request)) response.setHeader('connection', 'close');
        responses.follow(exchange);
        requestIds.run(id, () => open(request, response));
      },
    };
  }

  function doorOf(request: IncomingMessage): Door {
    if (!isReadableHost(request.headers.host)) return unreadable;
    const path = pathOf(request);
    if (path === INDEX_PATH) return isRead(request) ? index : nowhere;
    const door = doors.get(path) ?? nowhere;
    return door === graphql && options.graphiql && isNavigation(request) ? graphiql : door;
  }

  const server = createServer(timeoutsOf(keepAliveMs), (request, response) => {
    const begun = performance.now();
    dropTrailingSlash(request);
    const { counts, open } = doorOf(request);
    const exchange = { request, response, id: requestIds.of(request), begun, counts, access: undefined };
    received?.(exchange);
    open(exchange);
  });
  responses.onOver(() => {
    // A connection that is kept for a next request would keep the gateway from its end.
    if (!server.listening) setImmediate(() => server.closeIdleConnections());
  });
  server.on('connection', responses.connected);
  if (connections) server.on('connection', connections.connected);
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

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

const GRAPHQL_PATH_SLASH = `${GRAPHQL_PATH}/`;

/** Makes `/graphql/` the same as `/graphql`, for all that reads the URL of the request later. */
export function dropTrailingSlash(request: IncomingMessage): void {
  const { url } = request;
  if (url?.startsWith(GRAPHQL_PATH_SLASH) && pathOf(request) === GRAPHQL_PATH_SLASH)
    request.url = GRAPHQL_PATH + url.slice(GRAPHQL_PATH_SLASH.length);
}

/** The exact path of a request, without its query. */
export function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '/';
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

/** Doors make a URL of the host and the path. Nearly all requests name the host that the one before has named. */
function createHostReader(): (host: string | undefined) => boolean {
  let readable: string | undefined;
  return (host) => {
    if (host === readable || host === undefined) return true;
    if (!URL.canParse(`http://${host}`)) return false;
    readable = host;
    return true;
  };
}

function answerUnreadable(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8' });
  response.end('The Host header of this request is invalid.\n');
}

function answerNowhere(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`Not found. The GraphQL endpoint is ${GRAPHQL_PATH}.\n`);
}

async function answerMetrics(metrics: Metrics, response: ServerResponse): Promise<void> {
  const text = await metrics.text();
  response.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' });
  response.end(text);
}
