import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionArgs } from 'graphql';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Limits } from '../../graphql/limits.ts';
import type { Admission } from '../clients/admission.ts';
import { type Caller, FORWARDED_FOR_HEADER } from '../clients/client-address.ts';
import type { ConnectionBound } from '../clients/connection-bound.ts';
import { mayOpenWebSocket } from '../clients/origins.ts';
import { pathOf } from '../http.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { withoutHttp } from '../refusal.ts';
import { REQUEST_ID_HEADER, type RequestIds } from '../request-id.ts';
import { spreadOver } from '../spread.ts';
import type { UpdateGroups } from '../updates/update-groups.ts';
import { GRAPHQL_PATH, type Yoga } from '../yoga.ts';
import { createGoingAway } from './going-away.ts';
import { forget, type OperationArgs, prepare } from './websocket-operations.ts';
import { speakProtocol } from './websocket-protocol.ts';
import { sendUpdates } from './websocket-updates.ts';

/** What the websocket door holds open. */
export type WebSocketDoor = {
  /**
   * Closes every socket with 1001, going away, spread over the window: each once its queries are answered, and within about
   * the timeout from its moment on.
   */
  close(windowMs: number, timeoutMs: number): Promise<void>;
  /** Breaks all sockets at once. */
  tearDown(): void;
};

/** What the websocket door is made of. */
export type WebSocketDoorOptions = {
  readonly server: Server;
  readonly yoga: Yoga;
  readonly admission: Admission;
  readonly groups: UpdateGroups;
  readonly connections: ConnectionBound | undefined;
  readonly limits: Limits;
  readonly metrics: Metrics;
  readonly requestIds: RequestIds;
  /** Whose pages may open a websocket, beside those of the gateway itself. */
  readonly corsOrigins: readonly string[];
  /** How often a peer is asked whether it is there. */
  readonly keepAliveMs: number;
  /** Told of errors of ours. */
  readonly internal?: (error: unknown) => void;
};

/** Opens the websocket door: graphql-ws keeps the protocol, every operation goes through Yoga's pipeline. */
export function openWebSocketDoor(options: WebSocketDoorOptions): WebSocketDoor {
  const { server, admission, groups, connections, limits, metrics, requestIds, corsOrigins, keepAliveMs } = options;
  const { internal = () => {} } = options;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: limits.maxBodyBytes });

  server.on('upgrade', (request, socket, head) => {
    if (pathOf(request) !== GRAPHQL_PATH) return refuseUpgrade(socket, '404 Not Found');
    if (!mayOpenWebSocket(request, corsOrigins)) return refuseUpgrade(socket, '403 Forbidden');
    if (connections?.admits(request, socket) === false) return refuseUpgrade(socket, '429 Too Many Requests');
    const caller = toCaller(request);
    if (admission.chargeRequest(caller, 'websocket')) return refuseUpgrade(socket, '429 Too Many Requests');
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      metrics.countWebSockets(1);
      sockets.emit('connection', webSocket, caller);
    });
  });

  function within<T>(args: ExecutionArgs, work: (pipeline: OperationArgs['rootValue']) => T): T {
    const { requestId, rootValue } = args as OperationArgs;
    return requestIds.run(requestId, () => work(rootValue));
  }

  const { track, goAway } = createGoingAway();

  speakProtocol(sockets, {
    execute: (args) =>
      track(
        (args as OperationArgs).socket,
        within(args, ({ execute }) => execute(args)),
      ),
    async subscribe(args) {
      const { contextValue, socket, wire, id } = args as OperationArgs;
      const result = await within(args, ({ subscribe }) => subscribe(args));
      const updates = groups.takeUpdates(contextValue);
      if (updates === undefined) return result;
      forget(args as OperationArgs);
      return sendUpdates(updates, { socket, wire, id });
    },
    keepAliveMs,
    internal,
    onSubscribe: (connection, id, payload) => {
      const requestId = `${requestIds.of(connection.extra.caller)}/${id}`;
      return track(
        connection.extra.socket,
        requestIds.run(requestId, () => prepare(options, { connection, requestId, id, payload })),
      );
    },
    // Errors first, as the specification recommends, and over every other door.
    onNext: (_connection, _id, _payload, _args, { errors, data }) => ({
      ...(errors && { errors: errors.map(withoutHttp) }),
      ...(data === undefined ? {} : { data }),
    }),
    onError: (_connection, _id, _payload, errors) => errors.map(withoutHttp),
    onClose: () => metrics.countWebSockets(-1),
  });

  function tearDown(): void {
    for (const webSocket of sockets.clients) webSocket.terminate();
  }

  return {
    async close(windowMs, timeoutMs) {
      const closed = once(sockets, 'close');
      const end = performance.now() + windowMs;
      const letGo = (some: Iterable<WebSocket>, withinMs: number) =>
        spreadOver(some, withinMs, (socket) => goAway(socket, timeoutMs));

      // Those who still come are let in and let go likewise: clients try again after 1001, but take a refusal for good.
      sockets.on('connection', (socket: WebSocket) => letGo([socket], Math.max(0, end - performance.now())));
      await Promise.all([letGo(sockets.clients, windowMs), sleep(windowMs)]);
      sockets.close();
      await closed;
    },
    tearDown,
  };
}

function refuseUpgrade(socket: Duplex, status: string): void {
  // A peer that resets the connection would otherwise end the process, and one that goes on writing would stay.
  socket.on('error', () => socket.destroy());
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
}

/** What is kept of the request that opened a websocket, which has much more, for as long as the websocket is open. */
function toCaller({ headers, socket }: IncomingMessage): Caller {
  const kept = [REQUEST_ID_HEADER, FORWARDED_FOR_HEADER].filter((name) => headers[name] !== undefined);
  return { headers: Object.fromEntries(kept.map((name) => [name, headers[name]])), socket };
}
