import { once } from 'node:events';
import { createServer, type IncomingMessage, maxHeaderSize, type Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createTurnQueue } from '../../turns/turns.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { normalizeTarget } from '../requests/http-exchange.ts';
import { requestError, toHttpText } from '../requests/refusal.ts';
import type { TransportOptions } from '../transport-options.ts';
import { createOpenResponses, type OpenResponses } from './open-responses.ts';
import { type AdminPagesOptions, createRoutes } from './routes.ts';

/** A client that keeps the server waiting is disconnected within two periods of `keepAliveMs`. */
type HttpServerOptions = Pick<TransportOptions, 'connections' | 'metrics' | 'keepAliveMs'> & {
  readonly handle: ReturnType<typeof createRoutes>;
  readonly responses: OpenResponses;
  /** Whether a request, whose target is normalized, emits `upgrade`. By default, none does: each is handled. */
  readonly isUpgrade?: (request: IncomingMessage) => boolean;
};

/** Creates the HTTP server, which does not listen yet. It closes a connection whose request does not arrive completely in time. */
export function createHttpServer({ handle, responses, connections, metrics, ...options }: HttpServerOptions): Server {
  const { keepAliveMs, isUpgrade = () => false } = options;
  // A request has to arrive completely, with its body, within two periods.
  const requestTimeout = Math.ceil(keepAliveMs * 1.5);
  const serverOptions = {
    headersTimeout: requestTimeout,
    requestTimeout,
    connectionsCheckingInterval: Math.ceil(keepAliveMs / 2),
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    highWaterMark: MAX_WAITING_BYTES,
    shouldUpgradeCallback(request: IncomingMessage) {
      normalizeTarget(request);
      return isUpgrade(request);
    },
  };
  const takeTurn = createTurnQueue(PIPELINED_PER_TURN);

  /** Handles a request that a client has sent before the response to an earlier one. While many are in progress, no more are read. */
  async function handlePipelined(request: IncomingMessage, response: PipelinedResponse): Promise<void> {
    const { remoteAddress, remotePort } = request.socket;
    response._onPendingData?.(PIPELINED_REQUEST_BYTES);
    response.once('close', () => response._onPendingData?.(-PIPELINED_REQUEST_BYTES));
    await takeTurn(`${remoteAddress} ${remotePort}`);
    handle(request, response);
  }

  const server = createServer(serverOptions, (request, response) => {
    // Node writes to the socket for one response after the other: a pipelined one has none yet.
    if (response.socket === null) handlePipelined(request, response as PipelinedResponse);
    else handle(request, response);
  });
  responses.onEnd(() => {
    // While the gateway stops, idle connections would keep it running. After a response of `fetch` it may just start to listen.
    if (!server.listening)
      setImmediate(() => {
        if (!server.listening) server.closeIdleConnections();
      });
  });
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket) => handleUnreadable(code, socket, metrics));
  server.on('connection', responses.addConnection);
  if (connections) server.on('connection', connections.connected);
  return server;
}

/** Creates the server of the admin port: health, readiness and metrics, without any limit of client addresses. */
export function createAdminServer(options: AdminPagesOptions & { readonly keepAliveMs: number }): Server {
  const { metrics, accessLog, isStopping, keepAliveMs } = options;
  const responses = createOpenResponses({ metrics, onResponse: accessLog.onResponse, isLast: isStopping });
  const handle = createRoutes({ ...options, hasAdminPages: true, responses });
  const server = createHttpServer({ handle, responses, connections: undefined, metrics, keepAliveMs });
  return server.on('close', responses.abortStalled(keepAliveMs));
}

/** Closes a server and all its connections. */
export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

/**
 * Longer than the 60 s after which usual load balancers close their idle connections. Otherwise a load balancer sometimes sends
 * a request at the moment at which the gateway closes the connection.
 */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** Maximum number of bytes that wait for a client before no further update is written: updates become old while they wait. */
const MAX_WAITING_BYTES = 4_096;

/** How many pipelined requests are handled in each turn of the event loop: a client can send a thousand at once. */
const PIPELINED_PER_TURN = 4;

/**
 * As how many bytes of output a pipelined request counts until its response is closed. Node reads nothing from a connection while its
 * output has more than `MAX_WAITING_BYTES`: that is, while more than ten of its requests are in progress.
 */
const PIPELINED_REQUEST_BYTES = 400;

/** A response whose output waits for that of others, and how Node counts it. */
type PipelinedResponse = ServerResponse & { _onPendingData?(bytes: number): void };

/** A connection, with the response that Node writes to it. */
type Connection = Duplex & { readonly bytesRead?: number; readonly _httpMessage?: ServerResponse | null };

/** How long a client that still sends may read the error: a connection that is closed while bytes arrive loses it. */
const LINGER_MS = 1_000;

/** Responds to what Node cannot read with the status that Node would send, and with an error that says why. */
function handleUnreadable(code: string, socket: Connection, metrics: Pick<Metrics, 'recordErrors'>): void {
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
}

const NOT_HTTP = requestError(400, 'The request is not valid HTTP.');

const TOO_LONG = `The URL and the headers of a request have more than ${maxHeaderSize} bytes. Send a long query as the body of a POST.`;

const ERRORS: ReadonlyMap<string, typeof NOT_HTTP> = new Map([
  ['HPE_HEADER_OVERFLOW', requestError(431, TOO_LONG)],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', requestError(413, 'The chunk extensions of the body are too long.')],
  ['ERR_HTTP_REQUEST_TIMEOUT', requestError(408, 'The request was not complete in time.')],
]);

/**
 * New connections that can wait until the gateway accepts them: thousands of clients may reconnect at once. Linux drops or resets those
 * beyond it. Node's default is 511.
 */
export const MAX_PENDING = 4_096;

/** Starts to listen. @returns the origin of the server @throws Error of the system, which names the address and the problem */
export async function listenOn(server: Server, port: number, host: string): Promise<string> {
  server.listen(port, host, MAX_PENDING);
  await once(server, 'listening');
  return originOf(server);
}

/** The origin of a server that listens. */
export function originOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/**
 * Whether a request opens a websocket, as RFC 6455, 4.1 requires it. Any other `Upgrade` is ignored, and that of HTTP/1.0 too:
 * RFC 9110, 7.8.
 */
export function isWebSocketUpgrade({ method, httpVersion, headers }: IncomingMessage): boolean {
  return method === 'GET' && httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket';
}

type AcceptedSocket = Socket & { readonly server: Server };

/** Hands a request of the event `upgrade` back to its server, as if it had no `Upgrade`. */
export function handleWithoutUpgrade(request: IncomingMessage, upgraded: Duplex, head: Buffer): void {
  const socket = request.socket as AcceptedSocket;
  // Newer versions of Node read the body of such a request. Node 24 leaves it in the connection.
  if (upgraded === socket && request.readableLength === 0) readAgain(request, socket, head);
  else respond(request, socket, upgraded);
}

/** Makes the server read the request again, without `Upgrade`, and then all others of the connection. */
function readAgain(request: IncomingMessage, socket: AcceptedSocket, rest: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = rawHeaders.flatMap((name, n) =>
    n % 2 === 1 || name.toLowerCase() === 'upgrade' ? [] : `${name}: ${rawHeaders[n + 1]}\r\n`,
  );
  const head = `${method} ${url} HTTP/${httpVersion}\r\n${lines.join('')}\r\n`;
  socket.unshift(Buffer.concat([Buffer.from(head, 'latin1'), rest]));
  socket.server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
}

/** Makes the server respond. Node reads no further request then, so that the connection is closed. */
function respond(request: IncomingMessage, socket: AcceptedSocket, upgraded: Duplex): void {
  // `express.json()` does not read the body of a request with this flag.
  Object.assign(request, { upgrade: false });
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  // Node does these for other requests. Without the first, a reset connection would end the process.
  upgraded.on('error', () => socket.destroy());
  socket.on('drain', () => response.emit('drain'));
  response.on('finish', () => socket.destroySoon());
  socket.server.emit('request', request, response);
}
