import type { Socket } from 'node:net';
import { callbackify } from 'node:util';
import { WebSocket } from 'ws';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { BlockTrades } from '../../domain/trade.ts';
import {
  type ErrorDetails,
  UpstreamBadShapeError,
  UpstreamBadStatusError,
  UpstreamError,
  UpstreamTimeoutError,
  UpstreamUnreachableError,
} from '../../errors.ts';
import { ownHeaders } from '../credentials.ts';
import { connectThrough, type ProxySettings, proxyOf } from '../proxies.ts';
import { tlsHintOf } from '../response-error.ts';
import { readInteger, readObject, readString } from '../wire.ts';
import { readBlockTrades } from './beacon-block.ts';
import { readResult } from './envelope.ts';

/** A block that a node has inserted. It may be of a side branch, or an older one: a frame is only a reason to poll the tip. */
export type PushedBlock = {
  readonly height: BeaconHeight;
  readonly hash: string;
  /** Reads the trades of the block; `undefined` if the node does not send its instructions. */
  readonly trades: (() => Promise<BlockTrades>) | undefined;
};

/** One websocket to a node, from the connection to its end. */
export type PushSession = ReturnType<typeof openPushSession>;

/** How a session connects, and what it reports. */
export type PushSessionOptions = {
  readonly url: URL;
  /** Sent with the upgrade. `authorization` overrides the user and password of the URL. */
  readonly headers: Readonly<Record<string, string>>;
  /** The proxies of websockets; by default, all connect directly. */
  readonly proxies?: ProxySettings | undefined;
  /** For the connection and the upgrade. */
  readonly timeoutMs: number;
  /** How often the gateway pings, so that no proxy closes the socket. A peer that sends no pong within this time is gone. */
  readonly pingMs: number;
  /** The socket is open, and the subscription was sent. */
  onOpen(): void;
  onBlock(block: PushedBlock): void;
};

const SUBSCRIPTION_ID = 1;

/** The node and its documentation spell `subcription` so. The name of the subscription is any text. */
const SUBSCRIPTION = { subcription: 'pdex-gateway' };

/** The node does not acknowledge it. */
const SUBSCRIBE_FRAME = toFrame(SUBSCRIPTION_ID, 0);

/** The frame that ends the subscription. The node's last frame has the id of the frame that subscribed. */
const UNSUBSCRIBE_FRAME = toFrame(SUBSCRIPTION_ID + 1, 1);

/** Removes a byte order mark. */
const UTF_8 = new TextDecoder();

/** A frame has less than a kilobyte, or some more where a node sends the instructions of the block. */
const MAX_FRAME_BYTES = 8 * 2 ** 20;

/** How long the last frame of a subscription is waited for. After that, the socket is closed all the same. */
const UNSUBSCRIBE_MS = 1_000;

/** How long the closing handshake may take. */
const CLOSE_MS = 1_000;

/**
 * A websocket that unsubscribes before it closes, for whatever reason: a node leaks memory for each subscription that is left
 * open. The package `ws` itself closes a socket after an invalid frame.
 */
class SubscribedSocket extends WebSocket {
  #isSubscribed = false;

  subscribe(): void {
    this.#isSubscribed = true;
    this.send(SUBSCRIBE_FRAME);
  }

  unsubscribe(): void {
    if (this.#isSubscribed && this.readyState === WebSocket.OPEN) this.send(UNSUBSCRIBE_FRAME);
    this.#isSubscribed = false;
  }

  override close(code?: number, reason?: string | Buffer): void {
    this.unsubscribe();
    super.close(code, reason);
  }
}

/** Connects to a node and subscribes to its new blocks. */
export function openPushSession(options: PushSessionOptions) {
  const { url, headers, timeoutMs, pingMs, onOpen, onBlock, proxies } = options;
  const proxy = proxyOf(url, proxies);
  const details: ErrorDetails = { host: url.host, ...(proxy && { proxy: proxy.url.host }) };
  const ended = Promise.withResolvers<UpstreamError | undefined>();
  let reason: UpstreamError | undefined;
  let isLeaving = false;
  let isAlive = true;
  let pings: NodeJS.Timeout | undefined;
  let deadline: NodeJS.Timeout | undefined;

  // Without a subprotocol and without compression: the node refuses a client that offers one.
  const socket = new SubscribedSocket(toAddress(url), [], {
    headers: { ...ownHeaders(url), ...headers },
    handshakeTimeout: timeoutMs,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    skipUTF8Validation: true,
    createConnection:
      proxy &&
      ((_: unknown, opened: (error: Error | null, socket: Socket) => void) =>
        void callbackify(connectThrough)(proxy, url, timeoutMs, opened)),
  });

  function leave(because?: UpstreamError): void {
    if (isLeaving) return;
    isLeaving = true;
    reason = because;
    clearInterval(pings);
    if (socket.readyState === WebSocket.OPEN) {
      socket.unsubscribe();
      deadline = setTimeout(close, UNSUBSCRIBE_MS);
    } else {
      socket.terminate();
    }
  }

  function close(): void {
    clearTimeout(deadline);
    socket.close();
    deadline = setTimeout(() => socket.terminate(), CLOSE_MS);
  }

  function ping(): void {
    if (isAlive) {
      isAlive = false;
      socket.ping();
    } else {
      leave(new UpstreamTimeoutError('NODE', pingMs, details));
    }
  }

  function receive(text: string): void {
    try {
      const frame = readPushFrame(text, details);
      if (frame === 'unsubscribed') close();
      else if (!isLeaving) onBlock(frame);
    } catch (error) {
      // While it leaves, the last frame can also be an error: the node has no such subscription.
      if (isLeaving) close();
      else leave(toUpstreamError(error, details));
    }
  }

  socket.on('open', () => {
    socket.subscribe();
    pings = setInterval(ping, pingMs);
    onOpen();
  });
  socket.on('pong', () => {
    isAlive = true;
  });
  socket.on('message', (data) => receive(UTF_8.decode(data as Buffer)));
  socket.on('unexpected-response', (request, response) => {
    leave(new UpstreamBadStatusError('NODE', response.statusCode ?? 0, '', details));
    request.destroy();
  });
  socket.on('error', (error) => {
    const hint = tlsHintOf(error, url);
    reason ??= isLeaving ? undefined : new UpstreamUnreachableError('NODE', { ...details, ...hint }, error);
  });
  socket.once('close', (code) => {
    clearInterval(pings);
    clearTimeout(deadline);
    const closed = new Error(`the node closed the websocket with code ${code}`);
    ended.resolve(reason ?? (isLeaving ? undefined : new UpstreamUnreachableError('NODE', details, closed)));
  });
  return {
    /** Unsubscribes, waits for the last frame at most a second, and closes. It does the same before it ends by an error. */
    leave: () => leave(),
    /** Resolves when the socket is closed, with the reason: an error, unless `leave` was called. It never rejects. */
    ended: ended.promise,
  };
}

/** The user and password are sent as a header, decoded. A websocket has no fragment. */
function toAddress(url: URL): URL {
  const address = new URL(url);
  address.hash = '';
  address.username = '';
  address.password = '';
  return address;
}

function toUpstreamError(error: unknown, details: ErrorDetails): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const problem = error instanceof SyntaxError ? 'it is not JSON' : (error as Error).message;
  return new UpstreamBadShapeError('NODE', problem, details);
}

function toFrame(id: number, type: 0 | 1): string {
  const request = { jsonrpc: '1.0', method: 'subcribenewbeaconblock', params: [], id };
  return JSON.stringify({ request, ...SUBSCRIPTION, type });
}

/**
 * Reads a frame of the node. Most of it are instructions, which are JSON in strings: they are not parsed, and the exact numbers of
 * `parseJson` would take several times longer.
 *
 * @throws SyntaxError, ShapeError; UpstreamRpcError if it is an error of the node
 */
function readPushFrame(text: string, details: ErrorDetails): PushedBlock | 'unsubscribed' {
  const result = readObject(readResult(JSON.parse(text), SUBSCRIPTION_ID, details)['Result'], '$.Result.Result');
  if (result['Message'] !== undefined) return 'unsubscribed';
  const { Instructions: instructions } = result;
  return {
    height: readInteger(result['Height'], '$.Result.Result.Height'),
    hash: readString(result['Hash'], '$.Result.Result.Hash'),
    trades: Array.isArray(instructions) ? () => readBlockTrades(instructions) : undefined,
  };
}
