/** What a load generator notes of one response. */
export type ResponseInfo = {
  /** The HTTP status. Over a websocket, which has none, it is 200. */
  readonly status: number;
  /** Whether it is a GraphQL response with errors. */
  readonly isError: boolean;
};

/** A persistent connection on which encoded requests are sent, one at a time. */
export type Connection = {
  /** Resolves when requests can be sent. */
  readonly opened: Promise<unknown>;
  /** Sends a request. `onResponse` is called when the complete response has arrived. */
  send(request: Buffer, onResponse: (response: ResponseInfo) => void): void;
  end(): void;
};

/** How operations are sent. */
export type Transport = 'http' | 'websocket';
