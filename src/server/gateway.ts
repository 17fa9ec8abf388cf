import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Service } from '../graphql/context.ts';
import { createErrorMask } from '../graphql/errors.ts';
import { createExecutor } from '../graphql/execution/execute.ts';
import { createInputs } from '../graphql/inputs.ts';
import { schema } from '../graphql/schema.ts';
import { createTurnLimit } from '../live/broadcast/turn-limit.ts';
import type { Log } from '../log.ts';
import { type AccessLogMode, createAccessLog } from './access-log.ts';
import { createClientAddresses } from './clients/client-address.ts';
import { createConnectionLimits } from './clients/connection-limits.ts';
import { createRateLimits } from './clients/rate-limits.ts';
import { createContexts } from './context-of.ts';
import { createDataVersions } from './http/data-version.ts';
import { createExecution } from './http/execution.ts';
import { createGraphqlHandler } from './http/graphql-handler.ts';
import { createHttpCaching } from './http/http-caching.ts';
import { createOpenResponses } from './http/open-responses.ts';
import { createRequestIds } from './http/request-id.ts';
import { createResponseCache } from './http/response-cache.ts';
import { createResponseWriter } from './http/response-writer.ts';
import { createHttpServer } from './http/server.ts';
import { abortStalledReaders } from './http/stalled-readers.ts';
import type { Metrics } from './metrics/metrics.ts';
import { createAdmission } from './operations/admission.ts';
import { createDocuments } from './operations/documents.ts';
import { createEngine } from './operations/engine.ts';
import { createPersistedQueries } from './operations/persisted-queries.ts';
import { createQueryExecution } from './operations/run.ts';
import { createSubscriptionGroups } from './operations/subscription-groups.ts';
import { createWebSocketLog } from './websocket/log.ts';
import { createWebSocketTransport } from './websocket/transport.ts';
import { createGatewayYoga, GRAPHQL_PATH, type Yoga } from './yoga/yoga.ts';

/** The doors of the gateway. */
export type Gateway = {
  /** Asks without a port: the same pipeline as over HTTP. */
  readonly fetch: Yoga['fetch'];
  /** @returns the address of the GraphQL endpoint. @throws where the port cannot be had */
  listen(port: number, host: string): Promise<string>;
  /**
   * Says so at /ready, then answers on for the stop window, each answer the last on its connection, while websockets are
   * closed with 1001 and streams broken off one by one, so that their clients connect again elsewhere, and not all at once.
   * Then stops accepting, and gives requests under way time to end. Where nobody is connected it ends at once.
   */
  close(): Promise<void>;
};

/** What the doors are made of. */
export type GatewayOptions = {
  readonly service: Service;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Which requests have a line in the log. */
  readonly accessLog: AccessLogMode;
  /** How many bytes of finished answers are kept. */
  readonly answerCacheBytes: number;
  readonly graphiql: boolean;
  /** Whose pages may ask, beside those of the gateway itself. */
  readonly corsOrigins: readonly string[];
  /** Addresses and ranges of proxies, which are believed what they say of their clients. */
  readonly trustedProxies: readonly string[];
  /** How long a peer may let the gateway wait. */
  readonly keepAliveMs: number;
  /** Over how long the clients are let go when the gateway stops. */
  readonly stopWindowMs: number;
  /** How long requests under way may take to end after that. */
  readonly stopTimeoutMs: number;
};

/** Makes the doors: HTTP, with server-sent events, and websockets, all into one pipeline. */
export function createGateway(options: GatewayOptions): Gateway {
  const { service, metrics, log, answerCacheBytes, graphiql, corsOrigins, trustedProxies } = options;
  const { keepAliveMs, stopWindowMs, stopTimeoutMs } = options;
  const { limits, sources, now } = service;
  let stopping: Promise<void> | undefined;
  const requestIds = createRequestIds();
  const internal = (error: unknown) => log.error({ requestId: requestIds.current(), err: error }, 'internal error');
  const clients = createClientAddresses(trustedProxies);
  const accessLog = createAccessLog({ mode: options.accessLog, log, clients });
  const { rate, maxConnectionsPerAddress: max } = limits;
  const connections = max === undefined ? undefined : createConnectionLimits(max, clients, metrics);
  const rates = rate && createRateLimits({ rate, clients, metrics, log, now });
  const inputs = createInputs();
  const admission = createAdmission(limits, rates, inputs);
  const persisted = createPersistedQueries();
  // One step of all long work in each turn of the event loop: requests that come together do not hold it together.
  const turns = createTurnLimit(1);
  const documents = createDocuments({ schema, limits, takeTurn: turns.wait, refused: metrics.recordRefusedOperation });
  const maskError = createErrorMask({ internal });
  const contextOf = createContexts(service, clients);
  const executor = createExecutor({ inputs, takeTurn: turns.wait });
  const queryExecution = createQueryExecution({ admission, executor, metrics, maskError });
  const groups = createSubscriptionGroups({ service, executor, metrics, maskError });
  const yoga = createGatewayYoga({
    service,
    contextOf,
    admission,
    rates,
    persisted,
    documents,
    metrics,
    logsAccess: accessLog.onResponse !== undefined,
    queries: queryExecution,
    groups,
    keepAliveMs,
    maskError,
    internal,
  });
  const engine = createEngine({ schema, documents, contextOf, admission, queries: queryExecution });
  const generation = createDataVersions(sources);
  const isStopping = () => stopping !== undefined;
  const isLast = ({ socket }: IncomingMessage) => isStopping() || connections?.isOverLimit(socket) === true;
  const answers = createOpenResponses(accessLog.onResponse);
  const queries = createGraphqlHandler({
    yoga,
    execution: createExecution({ engine, fetchAPI: yoga.fetchAPI, persisted, admission, maskError }),
    persisted,
    kept: createResponseCache({ maxBytes: answerCacheBytes, generation, now }),
    generation,
    replies: createResponseWriter({
      caching: createHttpCaching(now),
      rates,
      answers,
      corsOrigins,
      isSandbox: service.isSandbox,
      isLast,
    }),
    accessLog,
    admission,
    connections,
    metrics,
    requestIds,
    maskError,
    corsOrigins,
    maxBodyBytes: limits.maxBodyBytes,
  });
  const server = createHttpServer({
    queries,
    answers,
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
    yoga,
    documents,
    admission,
    queries: queryExecution,
    groups,
    connections,
    metrics,
    requestIds,
    log: createWebSocketLog(accessLog, clients, log),
    isSandbox: service.isSandbox,
    corsOrigins,
    limits,
    keepAliveMs,
    internal,
  });
  metrics.registerSources(service);

  async function stop(): Promise<void> {
    if (!server.listening) return webSockets.close(0, stopTimeoutMs);

    const closed = once(server, 'close');
    const isAlone = (await promisify(server.getConnections.bind(server))()) === 0;
    const windowMs = isAlone ? 0 : stopWindowMs;
    const silent = answers.silent();
    answers.closeAfterResponse();
    const left = Promise.all([webSockets.close(windowMs, stopTimeoutMs), answers.abortStreams(windowMs)]);
    await sleep(windowMs);

    const outOfTime = sleep(stopTimeoutMs, undefined, { ref: false });
    await Promise.race([untilAllIn(server), outOfTime]);
    server.close();
    for (const socket of silent) if (socket.bytesRead === 0) socket.destroy();
    await Promise.race([Promise.all([closed, left, answers.abortStreams(0)]), outOfTime]);
    server.closeAllConnections();
    webSockets.tearDown();
    await closed;
  }

  return {
    fetch: yoga.fetch,
    async listen(port, host) {
      server.listen(port, host);
      await once(server, 'listening');
      server.once('close', abortStalledReaders(answers.all, keepAliveMs));
      const { address, family, port: taken } = server.address() as AddressInfo;
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}${GRAPHQL_PATH}`;
    },
    close() {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** Connections that come without an end do not keep the port open longer than this. */
const TAKING_IN_MS = 500;

/**
 * Waits until no connection waits to be taken in: the runtime takes one in each of its turns, and the system resets those
 * that wait when their port closes, as it does those with bytes that nobody has read.
 */
async function untilAllIn(server: Server): Promise<void> {
  const end = performance.now() + TAKING_IN_MS;
  let hasCome = true;
  server.on('connection', () => {
    hasCome = true;
  });
  while (hasCome && performance.now() < end) {
    hasCome = false;
    await immediate();
  }
}
