/** One answer, as far as it is looked at. */
export type Answered = {
  /** The status of HTTP; 200 over a websocket, which has none. */
  readonly status: number;
  readonly bytes: number;
  /** It begins as a GraphQL answer with errors does. */
  readonly isError: boolean;
};

/** A kept connection over which finished requests are sent, one at a time. */
export type Connection = {
  /** Resolves when requests can be sent. */
  readonly opened: Promise<unknown>;
  /** Sends a request. `answered` is called when its answer has arrived completely. */
  send(request: Buffer, answered: (answer: Answered) => void): void;
  end(): void;
};

/** How operations are sent. */
export type Transport = 'http' | 'websocket';
