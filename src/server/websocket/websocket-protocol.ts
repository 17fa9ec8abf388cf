import { CloseCode, handleProtocols, makeServer, type ServerOptions } from 'graphql-ws';
import type { WebSocket, WebSocketServer } from 'ws';
import type { Caller } from '../clients/client-address.ts';
import { createKeepAlive } from './keep-alive.ts';

/** What is known of the peer of a connection. */
export type Peer = {
  readonly socket: WebSocket;
  readonly caller: Caller;
  /** About how many values each of its open operations gives, by the operation's id. */
  readonly values: Record<string, number>;
};

/** What the protocol does with connections and operations, as graphql-ws has it, and how it keeps sockets. */
export type ProtocolOptions = ServerOptions<Record<string, unknown> | undefined, Peer> & {
  /** How often a peer is asked whether it is there; one that has not answered by the next time is not. */
  readonly keepAliveMs: number;
  /** Told of errors of ours; what a peer does wrong is none. */
  readonly internal: (error: unknown) => void;
};

/** How much may wait for a peer before nothing more is read from it. */
const MAX_UNREAD_BYTES = 16 * 2 ** 20;

/**
 * Speaks graphql-transport-ws with every socket that connects.
 *
 * graphql-ws keeps the protocol. Its own binding to `ws` does not do: it writes a stack to stderr for each message that is
 * too large or of an unexpected type and for each reader that vanishes, and tells peers the messages of our errors.
 */
export function speakProtocol(sockets: WebSocketServer, options: ProtocolOptions): void {
  const { keepAliveMs, internal } = options;
  const protocol = makeServer(options);
  const keepAlive = createKeepAlive(keepAliveMs);
  sockets.options.handleProtocols = handleProtocols;

  sockets.on('connection', (socket: WebSocket, caller: Caller) => {
    // `ws` has closed the socket by then, with the code that says why: 1009 for a message that is too large.
    socket.on('error', ignore);
    keepAlive.watch(socket);

    function fail(error: unknown): void {
      if (isUnexpectedMessage(error)) {
        socket.close(CloseCode.BadRequest, 'Unexpected message received');
      } else {
        internal(error);
        socket.close(CloseCode.InternalServerError, 'Internal server error');
      }
    }

    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        send: (text) => sendWhole(socket, text),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (read) => socket.on('message', (message) => read(parse(String(message))).catch(fail)),
      },
      { socket, caller, values: {} },
    );
    // `once` would wrap what it calls, for each socket.
    socket.on('close', (code, reason) => {
      closed(code, String(reason)).catch(internal);
    });
  });
}

/**
 * Waits until a message has left, so that a slow reader asks for no more; one that has gone needs no answer. From a peer
 * that asks and asks but does not read, nothing more is read meanwhile: its answers would fill the memory.
 */
function sendWhole(socket: WebSocket, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (socket.readyState !== socket.OPEN) return resolve();
    socket.send(text, () => {
      if (socket.isPaused && socket.bufferedAmount <= MAX_UNREAD_BYTES) socket.resume();
      resolve();
    });
    if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.pause();
  });
}

/**
 * Parses a message, which graphql-ws takes too: of a text it would hold on to each character for as long as the
 * subscription that it asks for is open. What is no object is left to it to refuse.
 */
function parse(text: string): string {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' ? (message as unknown as string) : text;
  } catch {
    return text;
  }
}

/** A message that only servers send: graphql-ws throws, the protocol has 4400 for it. */
function isUnexpectedMessage(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Unexpected message of type');
}

function ignore(): void {}
