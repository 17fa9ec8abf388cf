import { maxHeaderSize, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Metrics } from '../metrics/metrics.ts';
import { badRequest, toHttpText } from '../requests/refusal.ts';

/** A connection, with the response that Node writes to it. */
type Connection = Duplex & { readonly bytesRead?: number; readonly _httpMessage?: ServerResponse | null };

/** How long a client that still sends may read the error: a connection that is closed while bytes arrive loses it. */
const LINGER_MS = 1_000;

/**
 * Creates the listener of `clientError`: it responds to what Node cannot read with the status that Node would send, and with an
 * error that says why.
 */
export function createUnreadableHandler(metrics: Pick<Metrics, 'recordErrors'>) {
  return ({ code = '' }: NodeJS.ErrnoException, connection: Duplex): void => {
    const socket = connection as Connection;
    // The rest of a request that was refused.
    if (socket.writableEnded) return;
    if (!socket.writable || socket._httpMessage?.headersSent) {
      socket.destroy();
      return;
    }
    const error = ERRORS.get(code) ?? NOT_HTTP;
    // Browsers open connections in advance, and may never use them.
    if (socket.bytesRead !== 0) metrics.recordErrors([error]);
    socket.end(toHttpText(error));
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  };
}

const NOT_HTTP = badRequest(400, 'The request is not valid HTTP.');

/** By the codes of Node. */
const ERRORS: ReadonlyMap<string, typeof NOT_HTTP> = new Map([
  [
    'HPE_HEADER_OVERFLOW',
    badRequest(
      431,
      `The URL and the headers of a request have more than ${maxHeaderSize} bytes. Send a long query as the body of a POST.`,
    ),
  ],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', badRequest(413, 'The chunk extensions of the body are too long.')],
  ['ERR_HTTP_REQUEST_TIMEOUT', badRequest(408, 'The request was not complete in time.')],
]);
