import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';

/** Header names and values, in the order in which they are sent. */
export type Headers = readonly (readonly [name: string, value: string])[];

/** An answer as it leaves when nothing goes wrong; the body in pieces, so that a large one is never copied. */
export type Answer = { readonly status: number; readonly headers: Headers; readonly body: readonly Buffer[] };

/** One answer under way, seen closely enough to break it anywhere. */
export type Wire = {
  /** Sends the head; `length` is that of the body to come, `undefined` when there is no telling. */
  head(status: number, headers: Headers, length: number | undefined): void;
  /** Resolves once the bytes have left, with `false` when the connection is gone. */
  write(bytes: Buffer): Promise<boolean>;
  /** Ends the answer as a whole one ends. */
  end(): void;
  /** Closes the connection after what was written, whether or not the answer is whole. */
  hangUp(): void;
  reset(): void;
};

/**
 * The wire of a node: bare bytes, because the node writes its answers past its HTTP library, without a length, without
 * chunks and without a date. The body ends where the connection does.
 */
export function nodeWire({ socket, httpVersion }: IncomingMessage): Wire {
  const hangUp = () => socket.destroySoon();
  return {
    head(status, headers) {
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/${httpVersion} ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`);
    },
    write: (bytes) => written((done) => socket.write(bytes, done)),
    end: hangUp,
    hangUp,
    reset: () => socket.resetAndDestroy(),
  };
}

/** The wire of an ordinary web host, with lengths and connections that stay. */
export function webWire({ socket }: IncomingMessage, response: ServerResponse): Wire {
  return {
    head(status, headers, length) {
      for (const [name, value] of headers) response.setHeader(name, value);
      if (length !== undefined) response.setHeader('Content-Length', length);
      response.writeHead(status);
      response.flushHeaders();
    },
    write: (bytes) => written((done) => response.write(bytes, done)),
    end: () => response.end(),
    hangUp: () => socket.destroySoon(),
    reset: () => socket.resetAndDestroy(),
  };
}

function written(write: (done: (error?: Error | null) => void) => void): Promise<boolean> {
  return new Promise((resolve) => write((error) => resolve(!error)));
}
