/** A response, a connection or a websocket, which emits `close` once. */
export type Closing = {
  readonly closed?: boolean;
  /** The stream of a response over HTTP/2, which does not know itself that it is closed. */
  readonly stream?: { readonly closed: boolean };
  once(event: 'close', listener: () => void): unknown;
};

/** Whether something has emitted `close`. Code that ran before the gateway may have waited until the client was gone. */
export function isClosed({ closed, stream }: Closing): boolean {
  return closed ?? stream?.closed ?? false;
}

/** Calls a listener when something closes, or at once if it is closed: it does not emit `close` again. */
export function whenClosed(closing: Closing, listener: () => void): void {
  if (isClosed(closing)) listener();
  else closing.once('close', listener);
}
