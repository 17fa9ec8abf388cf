import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { createErrorMask } from '../graphql/errors.ts';
import type { Log } from '../logging/log.ts';
import { type AccessLogMode, createAccessLog } from './access-log.ts';
import { createClientAddresses } from './clients/client-address.ts';
import { createConnectionLimits } from './clients/connection-limits.ts';
import { LOOPBACK_ORIGINS } from './clients/origins.ts';
import { type Account, createRateLimits } from './clients/rate-limits.ts';
import { createGraphqlHandler } from './http/graphql-handler.ts';
import { createOpenResponses } from './http/open-responses.ts';
import { createResponseWriter } from './http/response-writer.ts';
import { createRestRoutes, type RestOptions } from './http/rest.ts';
import { type ClientRoutes, createRoutes } from './http/routes.ts';
import {
  closeServer,
  createAdminServer,
  createHttpServer,
  handleWithoutUpgrade,
  isWebSocketUpgrade,
  listenOn,
  originOf,
} from './http/server.ts';
import type { AccessDetails } from './operations/log-details.ts';
import { createOperations, type OperationsOptions } from './operations/operations.ts';
import { TEXT } from './pages/file-response.ts';
import {
  createRequestIds,
  GRAPHQL_PATH,
  type HttpExchange,
  normalizeTarget,
  pathOf,
} from './requests/http-exchange.ts';
import { type StopOptions, stopServer } from './stopping.ts';
import type { TransportOptions } from './transport-options.ts';
import { createWebSocketLog } from './websocket/log.ts';
import { createWebSocketTransport } from './websocket/transport.ts';
import { createGatewayYoga, fetchWith, type Yoga } from './yoga/yoga.ts';

type GatewayServerOptions = Omit<OperationsOptions, 'maskError'> &
  Pick<TransportOptions, 'corsOrigins' | 'keepAliveMs'> &
  Pick<RestOptions, 'marketDataPartner' | 'marketPollMs' | 'marketMaxAgeMs' | 'bookSweepPerMinute'> &
  Pick<ClientRoutes, 'explorer' | 'graphiql'> &
  Pick<StopOptions, 'stopWindowMs' | 'stopTimeoutMs'> & {
    readonly log: Log;
    /** Which requests have a line in the log. */
    readonly accessLog: AccessLogMode;
    /** Whether the REST API is served. */
    readonly rest: boolean;
    /** The port of /health, /ready and /metrics; `undefined` if they are on the same port as the GraphQL endpoint. */
    readonly adminPort: number | undefined;
    /** The address for the admin port; by default, that of the GraphQL endpoint. */
    readonly adminHost: string | undefined;
    /** Addresses and ranges of proxies whose `X-Forwarded-For` is trusted. */
    readonly trustedProxies: readonly string[];
  };

/** Creates the server: HTTP with server-sent events, and websockets, all with one pipeline. */
export function createGatewayServer(options: GatewayServerOptions) {
  const { service, metrics, log, tracing } = options;
  const { trustedProxies, keepAliveMs, adminPort, adminHost, explorer } = options;
  const { limits, now, isSandbox, version, sources } = service;
  const corsOrigins = isSandbox ? [...options.corsOrigins, ...LOOPBACK_ORIGINS] : options.corsOrigins;
  let stopping: Promise<void> | undefined;
  const isStopping = () => stopping !== undefined;
  let isClosed = false;

  const requestIds = createRequestIds();
  const internal = (error: unknown) => log.error({ requestId: requestIds.current(), err: error }, 'internal error');
  const maskError = createErrorMask(internal);

  const clients = createClientAddresses(trustedProxies);
  const accessLog = createAccessLog({ mode: options.accessLog, log, clients });
  const { rate, maxConnectionsPerAddress: max, maxBodyBytes, maxOperationsPerRequest, maxCandles } = limits;
  const connections = max === undefined ? undefined : createConnectionLimits(max, clients, metrics);
  const rates = rate && createRateLimits({ rate, clients, metrics, log, now });

  const operations = createOperations({ ...options, maskError });
  const { minimumHeights, persisted, takeTurn } = operations;
  const endpoint = { clients, rates, connections, minimumHeights, requestIds, maskError, metrics, now, isSandbox };
  const transport = { ...endpoint, ...operations, corsOrigins, keepAliveMs, internal, tracing };

  const isLast = ({ socket }: IncomingMessage) => isStopping() || connections?.isOverLimit(socket) === true;
  const responses = createOpenResponses({ metrics, onResponse: accessLog.onResponse, isLast });
  const yogaOptions = { ...transport, maxBodyBytes, maxOperationsPerRequest, trackStream: responses.trackStream };
  let created: Yoga | undefined;
  // Creating Yoga would delay the start, and a plain request does not need it.
  const yoga = () => (created ??= createGatewayYoga(yogaOptions));
  const writer = createResponseWriter({ ...transport, responses });
  const respondByYoga = (exchange: HttpExchange, { paid }: Account) => {
    const begin = (access: AccessDetails, retryAfter?: string) => writer.begin(exchange, access, retryAfter);
    const served = { ...exchange, paid, begin };
    requestIds.run(exchange.id, () => yoga()(exchange.request, exchange.response, { served }));
  };
  const graphqlHandler = createGraphqlHandler({ ...transport, writer, accessLog, maxBodyBytes, respondByYoga });
  const restOptions = { ...options, ...endpoint, responses, takeTurn, version, sources, maxCandles };
  const rest = options.rest ? createRestRoutes(restOptions) : undefined;
  const pages = { service, metrics, requestIds, accessLog, maskError, isStopping };
  const hasAdminPages = adminPort === undefined;
  const admin = hasAdminPages ? undefined : createAdminServer({ ...pages, keepAliveMs });
  // GraphiQL sends operations as texts.
  const graphiql = options.graphiql && !options.persistedOnly;
  const forClients = { graphqlHandler, rest, explorer, graphiql };
  const handle = createRoutes({ ...pages, forClients, hasAdminPages, responses });
  const isUpgrade = (request: IncomingMessage) => isWebSocketUpgrade(request) && pathOf(request) === GRAPHQL_PATH;
  const server = createHttpServer({ handle, responses, connections, metrics, keepAliveMs, isUpgrade });
  const webSocketLog = createWebSocketLog({ accessLog, clients, log, persisted });
  const webSockets = createWebSocketTransport({ ...transport, log: webSocketLog, limits });
  server.on('upgrade', (request, socket, head) => {
    if (isWebSocketUpgrade(request)) normalizeTarget(request);
    // Node calls `isUpgrade` only since 24.9.
    if (isUpgrade(request)) webSockets.handleUpgrade(request, socket, head);
    else handleWithoutUpgrade(request, socket, head);
  });
  metrics.registerSources(service);
  const stopAborting = responses.abortStalled(keepAliveMs);

  return {
    /**
     * Handles a request to the GraphQL endpoint without a port, by the same pipeline. Its path is ignored. Once the server is
     * closed, this and the requests of other servers get status 503.
     */
    async fetch(request: Request): Promise<Response> {
      if (isClosed) return new Response(CLOSED, { status: 503 });
      return responses.trackFetch(fetchWith(yoga(), request));
    },
    /** Handles a request that another server has received, by its path. @param next called instead if no route handles it */
    handle(request: IncomingMessage, response: ServerResponse, next?: () => void): void {
      if (isClosed) {
        response.writeHead(503, { 'content-type': TEXT }).end(CLOSED);
        return;
      }
      const untrack = responses.trackForeign(response);
      const passOn = () => {
        untrack();
        next?.();
      };
      handle(request, response, next && passOn);
    },
    /**
     * Opens a websocket on a connection of another server. The path of the request is ignored. A request to change to another
     * protocol is handed back to that server, as a request without `Upgrade`.
     */
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      if (!isWebSocketUpgrade(request)) handleWithoutUpgrade(request, socket, head);
      else webSockets.handleUpgrade(request, socket, head);
    },
    /**
     * Listens, first on the admin port if there is one.
     *
     * @returns the address of the GraphQL endpoint
     * @throws Error if a port is not available; the gateway then listens on none
     */
    async listen(port: number, host: string): Promise<string> {
      // An orchestrator that waits for /ready can request it before the first client comes.
      if (admin && adminPort !== undefined) await listenOn(admin, adminPort, adminHost ?? host);
      try {
        return `${await listenOn(server, port, host)}${GRAPHQL_PATH}`;
      } catch (error) {
        if (admin) await closeServer(admin);
        throw error;
      }
    },
    /** The address of the admin port, while the gateway listens on one. */
    adminUrl: () => (admin?.listening ? originOf(admin) : undefined),
    /** Stops the server (`stopping.ts`), and closes the admin port last, whose /ready reports that it stops. */
    close(): Promise<void> {
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
