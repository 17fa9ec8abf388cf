import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { createErrorMask } from '../graphql/errors.ts';
import type { Log } from '../logging/log.ts';
import { createRestApi } from '../rest/rest-api.ts';
import { type AccessLogMode, createAccessLog } from './access-log.ts';
import { createClientAddresses } from './clients/client-address.ts';
import { createConnectionLimits } from './clients/connection-limits.ts';
import { LOOPBACK_ORIGINS } from './clients/origins.ts';
import type { Account } from './clients/rate-limits.ts';
import { createRateLimits } from './clients/rate-limits.ts';
import { createGraphqlEndpoint } from './http/graphql-endpoint.ts';
import { createGraphqlHandler } from './http/graphql-handler.ts';
import { createOpenResponses } from './http/open-responses.ts';
import { createResponseWriter } from './http/response-writer.ts';
import { createRestRoutes } from './http/rest.ts';
import { createRoutes, isGraphqlPath } from './http/routes.ts';
import { closeServer, createAdminServer, createHttpServer, listenOn, originOf } from './http/server.ts';
import { handleWithoutUpgrade, isWebSocketUpgrade } from './http/upgrade.ts';
import type { AccessDetails } from './operations/log-details.ts';
import { createOperations, type OperationsOptions } from './operations/operations.ts';
import type { BuiltExplorer } from './pages/explorer-files.ts';
import { createRequestIds, GRAPHQL_PATH, type HttpExchange } from './requests/http-exchange.ts';
import { stopServer } from './stopping.ts';
import { createWebSocketLog } from './websocket/log.ts';
import { createWebSocketTransport } from './websocket/transport.ts';
import { createGatewayYoga, fetchWith, type Yoga } from './yoga/yoga.ts';

/** The server of the gateway. */
export type GatewayServer = {
  /**
   * Handles a request to the GraphQL endpoint without a port, by the same pipeline. Its path is ignored. Once the server is
   * closed, this and the requests of other servers get status 503.
   */
  fetch(input: Request | string, init?: RequestInit): Promise<Response>;
  /**
   * Handles a request that another server has received, by its path.
   *
   * @param next called in place of a response with status 404
   */
  handle(request: IncomingMessage, response: ServerResponse, next?: () => void): void;
  /**
   * Opens a websocket on a connection of another server. The path of the request is ignored. A request to change to another
   * protocol is handed back to that server, as a request without `Upgrade`.
   */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /**
   * Listens, first on the admin port if there is one.
   *
   * @returns the address of the GraphQL endpoint
   * @throws Error if a port is not available; the gateway then listens on none
   */
  listen(port: number, host: string): Promise<string>;
  /** The address of the admin port, while the gateway listens on one. */
  adminUrl(): string | undefined;
  /**
   * Reports at /ready that it stops, closes all connections, and resolves when they are closed. See `stopping.ts`. The admin
   * port is closed last.
   */
  close(): Promise<void>;
};

/** What the server needs. */
type GatewayServerOptions = Omit<OperationsOptions, 'maskError'> & {
  readonly log: Log;
  /** Which requests have a line in the log. */
  readonly accessLog: AccessLogMode;
  readonly explorer: BuiltExplorer;
  readonly graphiql: boolean;
  /** Whether the REST API is served. */
  readonly rest: boolean;
  /** The segment of the paths of the REST API that names the partner. */
  readonly marketDataPartner: string;
  readonly marketPollMs: number;
  readonly marketMaxAgeMs: number;
  readonly bookSweepPerMinute: number;
  /** The port of /health, /ready and /metrics; `undefined` if they are on the same port as the GraphQL endpoint. */
  readonly adminPort: number | undefined;
  /** The address for the admin port; by default, that of the GraphQL endpoint. */
  readonly adminHost: string | undefined;
  /** Origins whose pages may send operations, besides the gateway's own. */
  readonly corsOrigins: readonly string[];
  /** Addresses and ranges of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** How long a client may keep the gateway waiting. */
  readonly keepAliveMs: number;
  readonly stopWindowMs: number;
  readonly stopTimeoutMs: number;
};

/** Creates the server: HTTP with server-sent events, and websockets, all with one pipeline. */
export function createGatewayServer(options: GatewayServerOptions): GatewayServer {
  const { service, metrics, log, tracing } = options;
  const { trustedProxies, keepAliveMs, adminPort, adminHost, marketMaxAgeMs, bookSweepPerMinute } = options;
  const { limits, sources, now, isSandbox } = service;
  const corsOrigins = isSandbox ? [...options.corsOrigins, ...LOOPBACK_ORIGINS] : options.corsOrigins;
  let stopping: Promise<void> | undefined;
  const isStopping = () => stopping !== undefined;
  let isClosed = false;

  const requestIds = createRequestIds();
  const internal = (error: unknown) => log.error({ requestId: requestIds.current(), err: error }, 'internal error');
  const maskError = createErrorMask(internal);

  const clients = createClientAddresses(trustedProxies);
  const accessLog = createAccessLog({ mode: options.accessLog, log, clients });
  const { rate, maxConnectionsPerAddress: max } = limits;
  const connections = max === undefined ? undefined : createConnectionLimits(max, clients, metrics);
  const rates = rate && createRateLimits({ rate, clients, metrics, log, now });

  const operations = createOperations({ ...options, maskError });
  const { minimumHeights, takeTurn, persisted } = operations;
  const endpoint = { clients, rates, connections, minimumHeights, requestIds, maskError };
  const transport = { ...endpoint, ...operations, corsOrigins, metrics, keepAliveMs, internal, tracing };

  const isLast = ({ socket }: IncomingMessage) => isStopping() || connections?.isOverLimit(socket) === true;
  const responses = createOpenResponses(metrics, accessLog.onResponse);
  let created: Yoga | undefined;
  // Creating Yoga takes a tenth of a start, and a plain request does not need it.
  const yoga = () => (created ??= createGatewayYoga({ ...limits, ...transport, trackStream: responses.trackStream }));
  const writer = createResponseWriter({ now, rates, responses, metrics, corsOrigins, isSandbox, isLast });
  const respondByYoga = (exchange: HttpExchange, { paid }: Account) => {
    const begin = (access: AccessDetails, retryAfter?: string) => writer.begin(exchange, access, retryAfter);
    const served = { ...exchange, paid, begin };
    requestIds.run(exchange.id, () => yoga()(exchange.request, exchange.response, { served }));
  };
  const graphqlHandler = createGraphqlEndpoint({
    ...transport,
    writer,
    plain: createGraphqlHandler({ ...limits, ...transport, writer, accessLog }),
    other: respondByYoga,
  });
  const rest =
    options.rest &&
    createRestRoutes({
      ...service,
      ...options,
      ...endpoint,
      partner: options.marketDataPartner,
      responses,
      isLast,
      maxCandles: limits.maxCandles,
      api: createRestApi({ sources, now, maxAgeMs: marketMaxAgeMs, takeTurn, bookSweepPerMinute }, limits.maxCandles),
    });
  const pages = { service, metrics, requestIds, accessLog, maskError, isStopping };
  const hasAdminPages = adminPort === undefined;
  const admin = hasAdminPages ? undefined : createAdminServer({ ...pages, keepAliveMs });
  const handle = createRoutes({
    ...pages,
    forClients: { ...options, graphqlHandler, rest: rest || undefined },
    hasAdminPages,
    responses,
    isLast,
  });
  const isUpgrade = (request: IncomingMessage) => isWebSocketUpgrade(request) && isGraphqlPath(request);
  const server = createHttpServer({ handle, responses, connections, metrics, keepAliveMs, isUpgrade });
  const webSockets = createWebSocketTransport({
    ...transport,
    log: createWebSocketLog({ accessLog, clients, log, persisted }),
    isSandbox,
    limits,
  });
  server.on('upgrade', (request, socket, head) => {
    // Node asks `isUpgrade` only since 24.9.
    if (isUpgrade(request)) webSockets.handleUpgrade(request, socket, head);
    else handleWithoutUpgrade(request, socket, head);
  });
  metrics.registerSources(service);
  const stopAborting = responses.abortStalled(keepAliveMs);

  return {
    async fetch(input, init) {
      if (isClosed) return new Response(CLOSED, { status: 503 });
      return responses.trackFetch(fetchWith(yoga(), input, init));
    },
    handle(request, response, next) {
      if (isClosed) {
        response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8' }).end(CLOSED);
        return;
      }
      const untrack = responses.trackForeign(response);
      const passOn = () => {
        untrack();
        next?.();
      };
      handle(request, response, next && passOn);
    },
    handleUpgrade(request, socket, head) {
      if (!isWebSocketUpgrade(request)) handleWithoutUpgrade(request, socket, head);
      else if (isClosed) socket.destroy();
      else webSockets.handleUpgrade(request, socket, head);
    },
    async listen(port, host) {
      // An orchestrator that waits for /ready can request it before the first client comes.
      if (admin && adminPort !== undefined) await listenOn(admin, adminPort, adminHost ?? host);
      try {
        return `${await listenOn(server, port, host)}${GRAPHQL_PATH}`;
      } catch (error) {
        if (admin) await closeServer(admin);
        throw error;
      }
    },
    adminUrl: () => (admin?.listening ? originOf(admin) : undefined),
    close() {
      minimumHeights.stop();
      stopping ??= stopServer({ ...options, server, responses, webSockets }).finally(() => {
        isClosed = true;
        stopAborting();
        return admin && closeServer(admin);
      });
      return stopping;
    },
  };
}

const CLOSED = 'The gateway is closed.\n';
