import type { WebSocket as ProtocolSocket } from 'graphql-ws';
import { WebSocket } from 'ws';

/** The websocket of a client. Its state is in fields and its listeners use `this`, because there can be many thousands. */
export class ClientSocket extends WebSocket {
  /** The same socket as graphql-ws knows it. */
  connection: Connection | undefined = undefined;
  /** The operations that are prepared or executed; `undefined` if there are none. */
  inProgress: Set<unknown> | undefined = undefined;
}

/** A socket as graphql-ws requires it, with the callbacks of graphql-ws. */
export type Connection = ProtocolSocket & {
  readonly socket: ClientSocket;
  onText: ((message: string) => Promise<void>) | undefined;
  onClosed: ((code: number, reason: string) => Promise<void>) | undefined;
};
