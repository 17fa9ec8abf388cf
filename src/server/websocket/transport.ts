import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { GraphQLError } from 'graphql';
import { CloseCode } from 'graphql-ws';
import { WebSocketServer } from 'ws';
import { TRACE_CONTEXT_HEADERS } from '../../tracing/tracing.ts';
import { type ClientIdentity, FORWARDED_FOR_HEADER } from '../clients/client-address.ts';
import { refuseOrigin } from '../clients/origins.ts';
import { Account } from '../clients/rate-limits.ts';
import { readMinimumHeight } from '../operations/minimum-heights.ts';
import { stagger } from '../requests/closing.ts';
import { commonHeaders, MIN_HEIGHT_HEADER } from '../requests/headers.ts';
import { REQUEST_ID_HEADER } from '../requests/http-exchange.ts';
import { toHttpText } from '../requests/refusal.ts';
import { ClientSocket } from './client-socket.ts';
import { createSocketOperations, requestIdOf, type SocketOperationsOptions } from './operations.ts';
import { closeOperation, openOperationOf, type ProtocolContext, runProtocol } from './protocol.ts';
import { sendErrors } from './sending.ts';

/** The open websockets. */
export type WebSocketTransport = ReturnType<typeof createWebSocketTransport>;

/** Accepts websockets. graphql-ws implements the protocol. Every operation takes the same steps as over HTTP. */
export function createWebSocketTransport(options: SocketOperationsOptions) {
  const { rates, connections, limits, metrics, requestIds, corsOrigins, keepAliveMs } = options;
  const { isSandbox, log, internal } = options;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: limits.maxBodyBytes, WebSocket: ClientSocket });
  sockets.on('headers', (lines, request) => {
    for (const header of commonHeaders(requestIds.of(request), isSandbox)) lines.push(header.join(': '));
  });

  /** Opens a websocket, or refuses it with an HTTP response. */
  function handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const requestId = requestIds.of(request);
    request.headers[REQUEST_ID_HEADER] = requestId;
    const identity = toIdentity(request, requestId);
    const refused = refusalOf(request, socket, identity);
    if (refused !== undefined) {
      refuse(socket, identity, requestId, refused);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      metrics.webSockets.inc();
      log.opened(identity, requestId);
      sockets.emit('connection', webSocket, identity);
    });
  }

  /** Refuses an upgrade with an HTTP response. */
  function refuse(socket: Duplex, identity: ClientIdentity, requestId: string, error: GraphQLError): void {
    log.refused(identity, requestId, error);
    metrics.recordErrors([error]);
    // Without a listener, a reset connection would end the process. A client that goes on writing would stay connected.
    socket.on('error', () => socket.destroy());
    socket.once('finish', () => socket.destroy());
    socket.end(toHttpText(error, Object.fromEntries(commonHeaders(requestId, isSandbox))));
  }

  function refusalOf(request: IncomingMessage, socket: Duplex, identity: ClientIdentity): GraphQLError | undefined {
    const refused = refuseOrigin(request, corsOrigins) ?? connections?.admit(request, socket);
    if (refused !== undefined) return refused;
    const minimum = readMinimumHeight(request.headers[MIN_HEIGHT_HEADER], MIN_HEIGHT_HEADER);
    if (minimum instanceof GraphQLError) return minimum;
    return new Account(rates, identity, 'websocket').chargeUpTo(1);
  }

  runProtocol(sockets, {
    onConnect: noteMinimumHeight,
    onSubscribe: createSocketOperations(options),
    subscribe: ({ rootValue }) => rootValue as AsyncIterableIterator<never>,
    keepAliveMs,
    internal,
    onComplete(connection, id, payload) {
      log.completed(connection.extra.identity, openOperationOf(connection, payload));
      return closeOperation(connection, { id, payload });
    },
    async onError(connection, id, payload, errors) {
      const { identity, socket } = connection.extra;
      const opened = openOperationOf(connection, payload);
      if (opened !== undefined) log.failed(identity, requestIdOf(id, requestIds.of(identity)), opened, errors);
      log.completed(identity, opened);
      metrics.recordErrors(errors);
      sendErrors({ socket, wire: identity.socket, id }, errors);
      await socket.untilWritten(identity.socket);
      await closeOperation(connection, { id, payload });
      delete connection.subscriptions[id];
      // graphql-ws would send the errors again, and remove a newer operation that has the id once they are written.
      return new Promise(() => {});
    },
    onClose({ extra: { identity, socket } }, receivedCode = 1006) {
      // The code that ended the connection: after a frame that cannot be read, `ws` reads no reply to its own.
      const code = socket.sentCode ?? receivedCode;
      metrics.webSockets.dec();
      metrics.recordWebSocketClose(code);
      log.closed(identity, requestIds.of(identity), socket, code);
    },
  });

  return {
    /** Whether no websocket is open. */
    isUnused: () => sockets.clients.size === 0,
    handleUpgrade,
    /** Closes all websockets with 1001, one by one within the window, each when its queries have ended or after the timeout. */
    async close(windowMs: number, timeoutMs: number): Promise<void> {
      const closed = once(sockets, 'close');
      const end = performance.now() + windowMs;
      const closeAll = (some: Iterable<ClientSocket>, withinMs: number) =>
        stagger(some, withinMs, (socket) => socket.closeGracefully(timeoutMs));

      // New websockets are still accepted, and closed too: clients reconnect after 1001, but not after a refused upgrade.
      sockets.on('connection', (socket: ClientSocket) => closeAll([socket], Math.max(0, end - performance.now())));
      await Promise.all([closeAll(sockets.clients, windowMs), sleep(windowMs)]);
      sockets.close();
      await closed;
    },
    /** Terminates all websockets at once. */
    terminate(): void {
      for (const webSocket of sockets.clients) webSocket.terminate();
    },
  };
}

/**
 * Notes the height that the operations of a websocket wait for: that in the header of its upgrade or in the payload of
 * `connection_init`, whichever is higher. A browser cannot set headers of an upgrade.
 *
 * @returns `false` if it is malformed, and the websocket is closed with a code after which clients do not reconnect
 */
function noteMinimumHeight(connection: ProtocolContext): boolean {
  const { extra, connectionParams } = connection;
  const sent = readMinimumHeight(connectionParams?.[MIN_HEIGHT_HEADER], MIN_HEIGHT_HEADER);
  if (sent instanceof GraphQLError) {
    extra.socket.close(CloseCode.BadRequest, sent.message);
    return false;
  }
  const upgraded = readMinimumHeight(extra.identity.headers[MIN_HEIGHT_HEADER], MIN_HEIGHT_HEADER);
  extra.minHeight = Math.max(sent ?? 0, Number(upgraded ?? 0)) || undefined;
  // graphql-ws references the payload for as long as the websocket is open.
  Object.assign(connection, { connectionParams: undefined });
  return true;
}

const KEPT_HEADERS = [FORWARDED_FOR_HEADER, MIN_HEIGHT_HEADER, ...TRACE_CONTEXT_HEADERS];

/** The parts of an upgrade request that are needed later. The request itself would take more memory for each open websocket. */
function toIdentity({ headers, socket }: IncomingMessage, requestId: string): ClientIdentity {
  const kept: IncomingHttpHeaders = { [REQUEST_ID_HEADER]: requestId };
  for (const name of KEPT_HEADERS) if (headers[name] !== undefined) kept[name] = headers[name];
  return { headers: kept, socket };
}
