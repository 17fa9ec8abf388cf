import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';

/** Names and values of headers, in the order in which they are sent. */
export type Headers = readonly (readonly [name: string, value: string])[];

/** A response without faults. The body is in pieces, so that a large one is never copied. */
export type HostResponse = { readonly status: number; readonly headers: Headers; readonly body: readonly Buffer[] };

/** A response with a value as JSON. */
export function json(status: number, value: unknown): HostResponse {
  return { status, headers: [['Content-Type', 'application/json']], body: [Buffer.from(JSON.stringify(value))] };
}

/** Writes one response, which can be interrupted anywhere. */
export type ResponseWriter = {
  /** Sends the head; `length` is that of the body, `undefined` if it is not known. */
  head(status: number, headers: Headers, length: number | undefined): void;
  /** Resolves when the bytes have left, with `false` if the connection is closed. */
  write(bytes: Buffer): Promise<boolean>;
  /** Ends a complete response. */
  end(): void;
  /** Closes the connection after the written bytes, even if the response is not complete. */
  close(): void;
  reset(): void;
};

/**
 * Creates the writer of a node. It writes bare bytes, because the real node bypasses its HTTP library: without a length, without
 * chunks and without a date. The body ends with the connection.
 */
export function createNodeWriter({ socket, httpVersion }: IncomingMessage): ResponseWriter {
  const close = () => socket.destroySoon();
  return {
    head(status, headers) {
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/${httpVersion} ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`);
    },
    write: (bytes) => written((done) => socket.write(bytes, done)),
    end: close,
    close,
    reset: () => socket.resetAndDestroy(),
  };
}

/** Creates the writer of an ordinary web host, with content lengths and persistent connections. */
export function createWebWriter({ socket }: IncomingMessage, response: ServerResponse): ResponseWriter {
  return {
    head(status, headers, length) {
      for (const [name, value] of headers) response.setHeader(name, value);
      if (length !== undefined) response.setHeader('Content-Length', length);
      response.writeHead(status);
      response.flushHeaders();
    },
    write: (bytes) => written((done) => response.write(bytes, done)),
    end: () => response.end(),
    close: () => socket.destroySoon(),
    reset: () => socket.resetAndDestroy(),
  };
}

function written(write: (done: (error?: Error | null) => void) => void): Promise<boolean> {
  return new Promise((resolve) => write((error) => resolve(!error)));
}
