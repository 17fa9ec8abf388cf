import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../graphql/context.ts';
import type { Log } from '../log.ts';
import { createAdmission } from './admission.ts';
import { createClientAddresses } from './client-address.ts';
import { createConnectionBound } from './connection-bound.ts';
import { createHttpServer } from './http.ts';
import type { Metrics } from './metrics.ts';
import { trackAnswers } from './open-answers.ts';
import { createRateLimits } from './rate-limits.ts';
import { createRequestIds } from './request-id.ts';
import { openWebSocketDoor } from './websocket.ts';
import { createGatewayYoga, GRAPHQL_PATH, type Yoga } from './yoga.ts';

/** The doors of the gateway. */
export type Gateway = {
  /** Asks without a port: the same pipeline as over HTTP. */
  readonly fetch: Yoga['fetch'];
  /** @returns the address of the GraphQL endpoint. @throws where the port cannot be had */
  listen(port: number, host: string): Promise<string>;
  /**
   * Stops accepting, closes websockets with 1001 and breaks off streams, so that their clients connect again elsewhere, and
   * gives requests under way time to end.
   */
  close(): Promise<void>;
};

/** What the doors are made of. */
export type GatewayOptions = {
  readonly service: Service;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly graphiql: boolean;
  /** Whose pages may ask, beside those of the gateway itself. */
  readonly corsOrigins: readonly string[];
  /** Addresses and ranges of proxies, which are believed what they say of their clients. */
  readonly trustedProxies: readonly string[];
  /** How long requests under way may take to end. */
  readonly stopTimeoutMs: number;
};

/** Makes the doors: HTTP, with server-sent events, and websockets, all into one pipeline. */
export function createGateway(options: GatewayOptions): Gateway {
  const { service, metrics, log, graphiql, corsOrigins, trustedProxies, stopTimeoutMs } = options;
  const { limits, now } = service;
  let stopping = false;
  const requestIds = createRequestIds();
  const internal = (error: unknown) => log.error({ requestId: requestIds.current(), err: error }, 'internal error');
  const clients = createClientAddresses(trustedProxies);
  const { rate, maxConnectionsPerAddress: max } = limits;
  const connections = max === undefined ? undefined : createConnectionBound(max, clients, metrics);
  const rates = rate && createRateLimits({ rate, clients, metrics, log, now });
  const admission = createAdmission(limits, rates);
  const yoga = createGatewayYoga({ service, admission, rates, metrics, internal });
  const isStopping = () => stopping;
  const server = createHttpServer({
    yoga,
    service,
    metrics,
    requestIds,
    connections,
    corsOrigins,
    graphiql,
    isStopping,
  });
  const answers = trackAnswers(server);
  const webSockets = openWebSocketDoor({
    server,
    yoga,
    admission,
    connections,
    metrics,
    requestIds,
    corsOrigins,
    limits,
    internal,
  });
  metrics.describe(service);

  async function close(): Promise<void> {
    stopping = true;
    if (!server.listening) return webSockets.close(stopTimeoutMs);

    const closed = once(server, 'close');
    server.close();
    answers.breakOffStreams();
    server.closeIdleConnections();
    await Promise.race([
      Promise.all([closed, webSockets.close(stopTimeoutMs)]),
      sleep(stopTimeoutMs, undefined, { ref: false }),
    ]);
    server.closeAllConnections();
    webSockets.tearDown();
    await closed;
  }

  return {
    fetch: yoga.fetch,
    async listen(port, host) {
      server.listen(port, host);
      await once(server, 'listening');
      const { address, family, port: taken } = server.address() as AddressInfo;
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}${GRAPHQL_PATH}`;
    },
    close,
  };
}
