import { once } from 'node:events';
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { GraphQLError } from 'graphql';
import { type WebSocket, WebSocketServer } from 'ws';
import { WrittenResult, withoutHttp } from '../../graphql/execution/written-result.ts';
import type { Limits } from '../../graphql/limits.ts';
import { type ClientAddresses, type ClientIdentity, FORWARDED_FOR_HEADER } from '../clients/client-address.ts';
import type { ConnectionLimits } from '../clients/connection-limits.ts';
import { isAllowedOrigin, originNotAllowed } from '../clients/origins.ts';
import type { RateLimits } from '../clients/rate-limits.ts';
import { REQUEST_ID_HEADER, type RequestIds } from '../http/request-id.ts';
import { SANDBOX_HEADER } from '../http/sandbox-header.ts';
import { dropTrailingSlash, pathOf } from '../http/server.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { Account } from '../operations/account.ts';
import type { Pipeline } from '../operations/pipeline.ts';
import { toAnswer } from '../operations/refusal.ts';
import { stagger } from '../stagger.ts';
import { GRAPHQL_PATH } from '../yoga/yoga.ts';
import { createGracefulClose } from './graceful-close.ts';
import type { WebSocketLog } from './log.ts';
import { forget, type OperationArgs, prepareOperation } from './operations.ts';
import { speakProtocol } from './protocol.ts';
import { sendResult } from './result.ts';
import { sendUpdates } from './updates.ts';

/** What the websocket door holds open. */
export type WebSocketTransport = {
  /**
   * Closes every socket with 1001, going away, spread over the window: each once its queries are answered, and within about
   * the timeout from its moment on.
   */
  close(windowMs: number, timeoutMs: number): Promise<void>;
  /** Breaks all sockets at once. */
  tearDown(): void;
};

/** What the websocket door is made of. */
export type WebSocketTransportOptions = {
  readonly server: Server;
  readonly pipeline: Pipeline;
  readonly clients: ClientAddresses;
  readonly rates: RateLimits | undefined;
  readonly connections: ConnectionLimits | undefined;
  readonly limits: Limits;
  readonly metrics: Metrics;
  readonly requestIds: RequestIds;
  readonly log: WebSocketLog;
  /** Whether the data is simulated. */
  readonly isSandbox: boolean;
  /** Whose pages may open a websocket, beside those of the gateway itself. */
  readonly corsOrigins: readonly string[];
  /** How often a peer is asked whether it is there. */
  readonly keepAliveMs: number;
  /** Told of errors of ours. */
  readonly internal?: (error: unknown) => void;
};

/** Opens the websocket door: graphql-ws keeps the protocol, every operation goes through Yoga's pipeline. */
export function createWebSocketTransport(options: WebSocketTransportOptions): WebSocketTransport {
  const { server, pipeline, rates, connections, limits, metrics, requestIds, corsOrigins, keepAliveMs } = options;
  const { isSandbox, log, internal = () => {} } = options;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: limits.maxBodyBytes });
  if (isSandbox) sockets.on('headers', (headers) => headers.push(SANDBOX_HEADER.join(': ')));

  server.on('upgrade', (request, socket, head) => {
    dropTrailingSlash(request);
    const requestId = requestIds.of(request);
    const caller = toCaller(request, requestId);
    const refused = refusalOf(request, socket, caller);
    if (refused !== undefined) {
      log.refused(caller, requestId, refused);
      refuseUpgrade(socket, refused);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      metrics.addWebSockets(1);
      log.opened(caller, requestId);
      sockets.emit('connection', webSocket, caller);
    });
  });

  function refusalOf(request: IncomingMessage, socket: Duplex, caller: ClientIdentity): GraphQLError | undefined {
    if (pathOf(request) !== GRAPHQL_PATH) return NOTHING_HERE;
    if (!isAllowedOrigin(request, corsOrigins)) return originNotAllowed(request);
    if (connections?.admit(request, socket) === false) return connections.refusal;
    return new Account(rates, caller, 'websocket').charge(1);
  }

  /** The request id of an operation: that of its websocket, and its own. */
  function idOf(caller: ClientIdentity, operationId: string): string {
    return `${requestIds.of(caller)}/${operationId.slice(0, MAX_LOGGED_ID)}`;
  }

  const { track, goAway } = createGracefulClose();

  async function sendQuery(args: OperationArgs) {
    const { admitted, refusal, requestId, socket, id } = args;
    const executed = admitted && requestIds.run(requestId, () => pipeline.execute(admitted));
    const result = (await executed)?.result ?? toResult(refusal);
    log.executed(args, result);
    return sendResult(result, { socket, id });
  }

  async function sendSubscription(args: OperationArgs) {
    const { admitted, refusal, requestId, socket, caller, id } = args;
    const subscribing = admitted && requestIds.run(requestId, () => pipeline.subscribe(admitted));
    const updates = (await subscribing) ?? toResult(refusal);
    if (updates instanceof WrittenResult) {
      log.executed(args, updates);
      return sendResult(updates, { socket, id });
    }
    log.started(args);
    forget(args);
    return sendUpdates(updates, { socket, wire: caller.socket, id });
  }

  speakProtocol(sockets, {
    execute: (args) => track((args as OperationArgs).socket, sendQuery(args as OperationArgs)),
    subscribe: (args) => sendSubscription(args as OperationArgs),
    keepAliveMs,
    internal,
    onSubscribe(connection, id, payload) {
      const { caller, socket } = connection.extra;
      const requestId = idOf(caller, id);
      const operation = { caller, requestId, id, payload };
      log.begun(operation);
      const preparing = requestIds.run(requestId, () =>
        prepareOperation(options, { connection, requestId, id, payload }),
      );
      const prepared = preparing.then((args) => {
        if (Array.isArray(args)) log.dropped(operation);
        return args;
      });
      return track(socket, prepared);
    },
    onComplete: (connection, id) => log.completed(connection.extra.caller, id),
    onError({ extra: { caller }, subscriptions }, id, payload, errors) {
      log.failed({ caller, requestId: idOf(caller, id), id, payload }, errors, subscriptions[id] !== null);
      return errors.map(withoutHttp);
    },
    onClose(connection, code) {
      metrics.addWebSockets(-1);
      log.closed(connection.extra.caller, code);
    },
  });

  function tearDown(): void {
    for (const webSocket of sockets.clients) webSocket.terminate();
  }

  return {
    async close(windowMs, timeoutMs) {
      const closed = once(sockets, 'close');
      const end = performance.now() + windowMs;
      const letGo = (some: Iterable<WebSocket>, withinMs: number) =>
        stagger(some, withinMs, (socket) => goAway(socket, timeoutMs));

      // Those who still come are let in and let go likewise: clients try again after 1001, but take a refusal for good.
      sockets.on('connection', (socket: WebSocket) => letGo([socket], Math.max(0, end - performance.now())));
      await Promise.all([letGo(sockets.clients, windowMs), sleep(windowMs)]);
      sockets.close();
      await closed;
    },
    tearDown,
  };
}

/** The result of an operation that is refused. */
function toResult(refusal: GraphQLError | undefined): WrittenResult {
  return new WrittenResult(undefined, refusal && [refusal]);
}

/** Clients choose the ids of their operations. */
const MAX_LOGGED_ID = 64;

/** The error of a websocket on another path. */
const NOTHING_HERE = new GraphQLError(`The websocket endpoint is ${GRAPHQL_PATH}.`, {
  extensions: { code: 'BAD_USER_INPUT', http: { status: 404 } },
});

/** Answers a request for a websocket over HTTP. */
function refuseUpgrade(socket: Duplex, error: GraphQLError): void {
  // A peer that resets the connection would otherwise end the process, and one that goes on writing would stay.
  socket.on('error', () => socket.destroy());
  socket.once('finish', () => socket.destroy());
  const { status, headers, body } = toAnswer(error, undefined);
  const all = { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}

/** What is kept of the request that opened a websocket, which has much more, for as long as the websocket is open. */
function toCaller({ headers, socket }: IncomingMessage, requestId: string): ClientIdentity {
  const forwardedFor = headers[FORWARDED_FOR_HEADER];
  const kept = { [REQUEST_ID_HEADER]: requestId };
  return { headers: forwardedFor === undefined ? kept : { ...kept, [FORWARDED_FOR_HEADER]: forwardedFor }, socket };
}
