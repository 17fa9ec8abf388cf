import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { GraphQLError } from 'graphql';
import type { Metrics } from '../metrics/metrics.ts';
import { toAnswer, tooManyAtOnce } from '../operations/refusal.ts';
import type { ClientAddresses } from './client-address.ts';

/**
 * Bounds what each client has open at once, websockets among it.
 *
 * Who connects directly is counted by connection. Connections of a proxy are shared by its clients, and are not bounded:
 * they are counted by what is under way on them, which is a request or a websocket.
 */
export type ConnectionLimits = {
  /** Counts a connection, as soon as it is there. */
  opened(socket: Socket): void;
  /** Whether a connection is over the bound: it gets one answer, and is closed. */
  isBeyond(socket: Duplex): boolean;
  /** Whether a request of the endpoint may be answered. What answers it is counted until it closes. */
  admits(request: IncomingMessage, answer: ServerResponse | Duplex): boolean;
  /** Why a request or a websocket is refused. */
  readonly refusal: GraphQLError;
  /** Answers a request that may not be. */
  refuse(request: IncomingMessage, response: ServerResponse): void;
};

/** How long a connection over the bound may take for its one answer. */
const BEYOND_MS = 2_000;

/** Makes the bound. */
export function createConnectionLimits(max: number, clients: ClientAddresses, metrics: Metrics): ConnectionLimits {
  const open = new Map<string, number>();
  const beyond = new WeakSet<Duplex>();
  const refusal = tooManyAtOnce(`This client address has too many open connections. The maximum is ${max}.`);

  function enter(client: string, counted: ServerResponse | Duplex): boolean {
    const before = open.get(client) ?? 0;
    if (before >= max) return false;
    open.set(client, before + 1);
    counted.once('close', () => {
      const left = (open.get(client) ?? 1) - 1;
      if (left === 0) open.delete(client);
      else open.set(client, left);
    });
    return true;
  }

  return {
    opened(socket) {
      if (clients.isProxy(socket.remoteAddress) || enter(clients.ofConnection(socket), socket)) return;
      beyond.add(socket);
      const timer = setTimeout(() => socket.destroy(), BEYOND_MS);
      socket.once('close', () => clearTimeout(timer));
    },
    isBeyond: (socket) => beyond.has(socket),
    admits(request, answer) {
      const { socket } = request;
      const isFree = clients.isProxy(socket.remoteAddress) ? enter(clients.of(request), answer) : !beyond.has(socket);
      if (!isFree) metrics.refusedConnection();
      return isFree;
    },
    refusal,
    refuse(request, response) {
      const { status, headers, body } = toAnswer(refusal, request.headers.accept);
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
    },
  };
}
