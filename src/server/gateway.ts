import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Service } from '../graphql/context.ts';
import { createErrorMask } from '../graphql/errors.ts';
import { createExecutor } from '../graphql/execution/execute.ts';
import { createPlanner } from '../graphql/execution/planner.ts';
import { schema } from '../graphql/schema.ts';
import { createTurnQueue } from '../live/broadcast/turn-limit.ts';
import type { Log } from '../log.ts';
import { type AccessLogMode, createAccessLog } from './access-log.ts';
import { createClientAddresses } from './clients/client-address.ts';
import { createConnectionLimits } from './clients/connection-limits.ts';
import { createRateLimits } from './clients/rate-limits.ts';
import { createGraphqlHandler } from './http/graphql-handler.ts';
import { createOpenResponses } from './http/open-responses.ts';
import { createRequestIds } from './http/request-id.ts';
import { createResponseWriter } from './http/response-writer.ts';
import { createHttpServer } from './http/server.ts';
import type { Metrics } from './metrics/metrics.ts';
import { createDataVersion } from './operations/data-version.ts';
import { createDocuments } from './operations/documents.ts';
import { createPersistedQueries } from './operations/persisted-queries.ts';
import { createPipeline } from './operations/pipeline.ts';
import { createQueryResponses } from './operations/query-responses.ts';
import { createResponseCache } from './operations/response-cache.ts';
import { createSubscriptionGroups } from './operations/subscription-groups.ts';
import { stopServer } from './stopping.ts';
import { createWebSocketLog } from './websocket/log.ts';
import { createWebSocketTransport } from './websocket/transport.ts';
import { createGatewayYoga, GRAPHQL_PATH, type Yoga } from './yoga/yoga.ts';

/** The server of the gateway. */
export type Gateway = {
  /** Handles a request without a port, by the same pipeline. */
  readonly fetch: Yoga['fetch'];
  /** @returns the address of the GraphQL endpoint. @throws if the port is not available */
  listen(port: number, host: string): Promise<string>;
  /** Reports at /ready that it stops, closes all connections, and resolves when they are closed. See `stopping.ts`. */
  close(): Promise<void>;
};

/** What the server needs. */
type GatewayOptions = {
  readonly service: Service;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Which requests have a line in the log. */
  readonly accessLog: AccessLogMode;
  /** Maximum size of the response cache. */
  readonly answerCacheBytes: number;
  readonly graphiql: boolean;
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
export function createGateway(options: GatewayOptions): Gateway {
  const { service, metrics, log, answerCacheBytes, graphiql, corsOrigins, trustedProxies, keepAliveMs } = options;
  const { limits, sources, now, isSandbox } = service;
  let stopping: Promise<void> | undefined;
  const isStopping = () => stopping !== undefined;

  const requestIds = createRequestIds();
  const internal = (error: unknown) => log.error({ requestId: requestIds.current(), err: error }, 'internal error');
  const maskError = createErrorMask(internal);

  const clients = createClientAddresses(trustedProxies);
  const accessLog = createAccessLog({ mode: options.accessLog, log, clients });
  const { rate, maxConnectionsPerAddress: max } = limits;
  const connections = max === undefined ? undefined : createConnectionLimits(max, clients, metrics);
  const rates = rate && createRateLimits({ rate, clients, metrics, log, now });

  // Long work of all requests does one step per turn of the event loop, so that many long requests do not block it together.
  const { wait: takeTurn } = createTurnQueue();
  const persisted = createPersistedQueries();
  const documents = createDocuments({ schema, limits, takeTurn, onRefused: metrics.recordRefusedOperation });
  const planner = createPlanner({ schema, limits });
  const executor = createExecutor(takeTurn);
  const groups = createSubscriptionGroups({ service, executor, metrics, maskError });
  const steps = { service, persisted, documents, planner, executor, groups, metrics, maskError, takeTurn };
  const pipeline = createPipeline(steps);

  const yoga = createGatewayYoga({
    ...limits,
    pipeline,
    clients,
    rates,
    persisted,
    logsAccess: accessLog.onResponse !== undefined,
    keepAliveMs,
    maskError,
    internal,
  });
  const dataVersion = createDataVersion(sources);
  const cache = createResponseCache({ maxBytes: answerCacheBytes, dataVersion, now });
  const queryResponses = createQueryResponses({ cache, dataVersion, metrics });
  const isLast = ({ socket }: IncomingMessage) => isStopping() || connections?.isOverLimit(socket) === true;
  const responses = createOpenResponses(metrics, accessLog.onResponse);
  const graphqlHandler = createGraphqlHandler({
    yoga,
    pipeline,
    persisted,
    responses: queryResponses,
    writer: createResponseWriter({ now, rates, responses, corsOrigins, isSandbox, isLast }),
    accessLog,
    clients,
    rates,
    connections,
    requestIds,
    maskError,
    corsOrigins,
    maxBodyBytes: limits.maxBodyBytes,
  });
  const server = createHttpServer({
    graphqlHandler,
    responses,
    service,
    metrics,
    requestIds,
    accessLog,
    connections,
    graphiql,
    keepAliveMs,
    isStopping,
    isLast,
  });
  const webSockets = createWebSocketTransport({
    server,
    pipeline,
    responses: queryResponses,
    clients,
    rates,
    connections,
    metrics,
    requestIds,
    maskError,
    log: createWebSocketLog(accessLog, clients, log),
    isSandbox,
    corsOrigins,
    limits,
    keepAliveMs,
    internal,
  });
  metrics.registerSources(service);

  return {
    fetch: yoga.fetch,
    async listen(port, host) {
      server.listen(port, host);
      await once(server, 'listening');
      server.once('close', responses.abortStalled(keepAliveMs));
      const { address, family, port: taken } = server.address() as AddressInfo;
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}${GRAPHQL_PATH}`;
    },
    close() {
      stopping ??= stopServer({ ...options, server, responses, webSockets });
      return stopping;
    },
  };
}
