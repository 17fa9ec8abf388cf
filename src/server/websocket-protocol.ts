import type { IncomingMessage } from 'node:http';
import { CloseCode, handleProtocols, makeServer, type ServerOptions } from 'graphql-ws';
import type { WebSocket, WebSocketServer } from 'ws';

/** What is known of the peer of a connection. */
export type Peer = {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** About how many values each of its open operations gives, by the operation's id. */
  readonly values: Map<string, number>;
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
  sockets.options.handleProtocols = handleProtocols;

  sockets.on('connection', (socket: WebSocket, request: IncomingMessage) => {
    // `ws` has closed the socket by then, with the code that says why: 1009 for a message that is too large.
    socket.on('error', () => {});
    const stopAsking = keepAlive(socket, keepAliveMs);

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
      { socket, request, values: new Map() },
    );
    socket.once('close', (code, reason) => {
      stopAsking();
      closed(code, String(reason)).catch(internal);
    });
  });
}

/**
 * Waits until a message has left, so that a slow reader asks for no more; one that has gone needs no answer. From a peer
 * that asks and asks but does not read, nothing more is read meanwhile: its answers would fill the memory.
 */
export function sendWhole(socket: WebSocket, text: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (socket.readyState !== socket.OPEN) return resolve();
    socket.send(text, AS_TEXT, () => {
      if (socket.isPaused && socket.bufferedAmount <= MAX_UNREAD_BYTES) socket.resume();
      resolve();
    });
    if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.pause();
  });
}

const AS_TEXT = { binary: false };

/**
 * graphql-ws takes messages that were parsed already. Of a text, it would hold on to every character for as long as a
 * subscription that the text asked for is open. What is no object is left to it to refuse.
 */
function parse(text: string): string {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' ? (message as unknown as string) : text;
  } catch {
    return text;
  }
}

/** Ends a socket whose peer no longer answers. @returns how to stop */
function keepAlive(socket: WebSocket, intervalMs: number): () => void {
  let isThere = true;
  socket.on('pong', () => {
    isThere = true;
  });
  const timer = setInterval(() => {
    if (!isThere) return socket.terminate();
    isThere = false;
    socket.ping();
  }, intervalMs);
  return () => clearInterval(timer);
}

/** A message that only servers send: graphql-ws throws, the protocol has 4400 for it. */
function isUnexpectedMessage(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Unexpected message of type');
}
