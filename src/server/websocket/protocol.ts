import { isUtf8 } from 'node:buffer';
import {
  CloseCode,
  handleProtocols,
  makeServer,
  type WebSocket as ProtocolSocket,
  type ServerOptions,
} from 'graphql-ws';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import type { ClientIdentity } from '../clients/client-address.ts';
import { createKeepAlive } from './keep-alive.ts';

/** What is known of the peer of a connection. */
export type Peer = {
  readonly socket: WebSocket;
  readonly caller: ClientIdentity;
  /** About how many values each of its open operations gives. */
  open: readonly { readonly id: string; readonly values: number }[];
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
  const connections = new WeakMap<WebSocket, Connection>();
  sockets.options.handleProtocols = handleProtocols;

  sockets.on('connection', (socket: WebSocket, caller: ClientIdentity) => {
    const { protocol: spoken } = socket;
    const connection: Connection = {
      socket,
      protocol: spoken,
      read: undefined,
      left: undefined,
      send,
      close,
      onMessage,
    };
    connections.set(socket, connection);
    // `ws` has closed the socket by then, with the code that says why: 1009 for a message that is too large.
    socket.on('error', ignore).on('message', hear).on('close', leave);
    keepAlive.watch(socket);
    connection.left = protocol.opened(connection, { socket, caller, open: [] });
  });

  // One function for all sockets, and no `once`, which would wrap what it calls: they are told apart by what it is called on.
  function hear(this: WebSocket, message: RawData, isBinary: boolean): void {
    // `ws` has looked at texts, and closes with 1007 by itself.
    if (isBinary && !isUtf8(message as Buffer)) {
      this.close(CloseCode.BadRequest, 'Invalid message received');
      return;
    }
    const reading = connections.get(this)?.read?.(parse(String(message)));
    reading?.catch((error) => fail(this, error));
  }

  // The only one for `close`: room for a third is room for twenty.
  function leave(this: WebSocket, code: number, reason: Buffer): void {
    keepAlive.leave(this);
    const leaving = connections.get(this)?.left?.(code, String(reason));
    leaving?.catch(internal);
  }

  function fail(socket: WebSocket, error: unknown): void {
    if (isUnexpectedMessage(error)) {
      socket.close(CloseCode.BadRequest, 'Unexpected message received');
    } else {
      internal(error);
      socket.close(CloseCode.InternalServerError, 'Internal server error');
    }
  }
}

/** A socket as graphql-ws wants it, and what graphql-ws wants to be told. */
type Connection = ProtocolSocket & {
  readonly socket: WebSocket;
  read: ((message: string) => Promise<void>) | undefined;
  left: ((code: number, reason: string) => Promise<void>) | undefined;
};

function send(this: Connection, text: string): Promise<void> {
  return sendText(this.socket, text);
}

function close(this: Connection, code: number, reason: string): void {
  this.socket.close(code, reason);
}

function onMessage(this: Connection, read: Connection['read']): void {
  this.read = read;
}

/**
 * Waits until a message has left, so that a slow reader asks for no more; one that has gone needs no answer. From a peer
 * that asks and asks but does not read, nothing more is read meanwhile: its answers would fill the memory.
 */
export function sendText(socket: WebSocket, text: string): Promise<void> {
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
