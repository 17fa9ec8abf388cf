import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { GraphQLError } from 'graphql';
import type { Metrics } from '../metrics/metrics.ts';
import { whenClosed } from '../requests/closing.ts';
import { tooManyAtOnce } from '../requests/refusal.ts';
import type { ClientAddresses } from './client-address.ts';

/**
 * Limits the open connections of each client, including websockets.
 *
 * A client that connects directly is counted by connection. The clients of a proxy share its connections, and those of another
 * server in this process may be used for other requests. Neither is limited: these clients are counted by their open requests and
 * websockets.
 */
export type ConnectionLimits = ReturnType<typeof createConnectionLimits>;

/** Maximum time of a connection over the limit. */
const OVER_LIMIT_MS = 2_000;

/** Creates the limits. @param max the maximum number of connections of each client */
export function createConnectionLimits(max: number, clients: ClientAddresses, metrics: Metrics) {
  const open = new Map<string, number>();
  const counted = new WeakSet<Duplex>();
  const overLimit = new WeakSet<Duplex>();
  const refusal = tooManyAtOnce(`This client address has too many open connections. The maximum is ${max}.`);

  function acquire(client: string, closing: ServerResponse | Duplex): boolean {
    const before = open.get(client) ?? 0;
    if (before >= max) return false;
    open.set(client, before + 1);
    whenClosed(closing, () => {
      const left = (open.get(client) ?? 1) - 1;
      if (left === 0) open.delete(client);
      else open.set(client, left);
    });
    return true;
  }

  return {
    connected(socket: Socket): void {
      // A connection that is read again after an `Upgrade` that is ignored is counted already.
      if (counted.has(socket) || clients.isProxy(socket.remoteAddress)) return;
      counted.add(socket);
      if (acquire(clients.ofConnection(socket), socket)) return;
      overLimit.add(socket);
      const timer = setTimeout(() => socket.destroy(), OVER_LIMIT_MS);
      socket.once('close', () => clearTimeout(timer));
    },
    /** Whether a connection exceeds the limit: it gets one response and is closed. */
    isOverLimit: (socket: Duplex) => overLimit.has(socket),
    /** The error of a request or websocket over the limit. If its connection is not counted, it counts until `response` is closed. */
    admit(request: IncomingMessage, response: ServerResponse | Duplex): GraphQLError | undefined {
      const { socket } = request;
      if (counted.has(socket) ? !overLimit.has(socket) : acquire(clients.of(request), response)) return undefined;
      metrics.connectionsRefused.inc();
      return refusal;
    },
  };
}
