import type { WebSocket as ProtocolSocket } from 'graphql-ws';
import { WebSocket } from 'ws';

/** The websocket of a client. Its state is in fields and its listeners use `this`, because there can be many thousands. */
export class ClientSocket extends WebSocket {
  /** The same socket as graphql-ws knows it. */
  connection: Connection | undefined = undefined;
  /** The operations that are prepared or executed; `undefined` if there are none. */
  inProgress: Set<unknown> | undefined = undefined;
  /** The close code that was sent; `undefined` before that, and if the code has no frame. */
  sentCode: number | undefined = undefined;

  /** Starts the closing handshake, or answers that of the client with its code. */
  override close(code?: number, reason?: string | Buffer): void {
    this.sentCode ??= code;
    super.close(code, reason);
  }
}

/** A socket as graphql-ws requires it, with the callbacks of graphql-ws. */
export type Connection = ProtocolSocket & {
  readonly socket: ClientSocket;
  onText: ((message: string) => Promise<void>) | undefined;
  onClosed: ((code: number, reason: string) => Promise<void>) | undefined;
};
