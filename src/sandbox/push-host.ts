import { createServer, type IncomingHttpHeaders, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Block } from './chain/block.ts';
import type { Chain } from './chain/chain.ts';
import { createRandom } from './chain/random.ts';
import { createFaults, type Faults, isCombined, type PushCall, type PushFault } from './faults.ts';
import { type Address, type Listener, startListener } from './http/listen.ts';
import { ServerSocket } from './http/websocket.ts';
import {
  methodNotFound,
  notSubscribed,
  type PushedBlock,
  paramsNotEmpty,
  parseSubscriptionRequest,
  printBlockFrame,
  printSubscriptionError,
  printUnsubscribed,
  SUBSCRIBE_METHOD,
  type SubscriptionRequest,
} from './node/subscriptions.ts';
import { instructionsOf, withDamagedTrade } from './v3/instructions.ts';

/** What tests see of the websocket of a node. The URL begins with `ws:`. */
export type PushControl = Listener & {
  readonly faults: Faults<PushFault, PushCall>;
  openSockets(): number;
  /** The sockets with a subscription. */
  subscribers(): number;
  /** The sockets that their client closed with a subscription. Each leaks memory in a real node until that restarts. */
  leaked(): number;
  /** How often something happened since the start. */
  calls(name: PushCall): number;
  /** The last {@link MAX_UPGRADES} upgrades, also those that were refused, the oldest first. */
  readonly upgrades: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** Sends the frame of a block to all subscribers, with the faults. */
  push(block: PushedBlock): void;
  /** Resets all connections. */
  disconnect(): void;
};

/** One websocket, with its subscriptions by the names that the client chose. */
type Connection = {
  readonly socket: ServerSocket;
  readonly subscriptions: Map<string, { readonly request: SubscriptionRequest; readonly isBinary: boolean }>;
  isReset: boolean;
};

const CALL_OF_FAULT: Readonly<Record<PushFault['kind'], readonly PushCall[]>> = {
  refused: ['upgrade'],
  'rpc-error': ['subscribe'],
  ignored: ['subscribe', 'unsubscribe', 'ping'],
  dropped: ['subscribe', 'block'],
  duplicates: ['block'],
  'out-of-order': ['block'],
  'side-branches': ['block'],
  burst: ['block'],
  lost: ['block'],
  'garbage-frame': ['block'],
  'damaged-trade': ['block'],
  'without-instructions': ['block'],
  'large-frame': ['block'],
};

const MAX_UPGRADES = 1_000;
const TOO_BUSY = '503 Too busy.  Try again later.\n';

/** In each group of five, the second block comes last: 11, 13, 14, 15, 12. */
const GROUP = 5;
const LATE_PLACE = 1;

/**
 * Starts the websocket of a node, which pushes each block that is inserted into the chain. It has a port of its own and accepts
 * any path, no subprotocol and no compression. It never pings. A frame is binary if the request was.
 */
export async function createPushHost(
  chain: Pick<Chain, 'seed' | 'block' | 'onBlock'>,
  address: Address,
  maxClients: number,
): Promise<PushControl> {
  const faults = createFaults<PushFault, PushCall>();
  const connections = new Set<Connection>();
  const counts = new Map<PushCall, number>();
  const upgrades: { path: string; headers: IncomingHttpHeaders }[] = [];
  let leaked = 0;
  let place = 0;
  let late: PushedBlock | undefined;

  function take(name: PushCall): readonly PushFault[] {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    return faults.take(name, ({ kind }) => CALL_OF_FAULT[kind].includes(name));
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    upgrades.push({ path: request.url ?? '', headers: request.headers });
    if (upgrades.length > MAX_UPGRADES) upgrades.shift();
    socket.on('error', () => socket.destroy());
    const refused = take('upgrade').find((fault) => fault.kind === 'refused');
    if (refused !== undefined) refuse(socket, refused.status, refused.body ?? '');
    else if (connections.size >= maxClients) refuse(socket, 503, TOO_BUSY);
    else connect(new ServerSocket(request, socket, head));
  }

  function connect(socket: ServerSocket): void {
    const connection: Connection = { socket, subscriptions: new Map(), isReset: false };
    connections.add(connection);
    socket.on('message', (text, isBinary) => receive(connection, text, isBinary));
    socket.on('ping', (data) => {
      if (take('ping').length === 0) socket.pong(data);
    });
    socket.once('close', () => {
      connections.delete(connection);
      if (connection.subscriptions.size > 0 && !connection.isReset) leaked += 1;
    });
  }

  function receive(connection: Connection, text: string, isBinary: boolean): void {
    const request = parseSubscriptionRequest(text);
    if (request === undefined) return;
    const [fault] = take(request.isUnsubscribe ? 'unsubscribe' : 'subscribe');
    if (fault?.kind === 'ignored') return;
    const frame = request.isUnsubscribe
      ? unsubscribe(connection, request)
      : subscribe(connection, request, isBinary, fault);
    if (frame !== undefined) connection.socket.send(frame, { binary: isBinary });
    if (fault?.kind === 'dropped') reset(connection);
  }

  /** @returns the frame of an error; a request that succeeds has no response of its own */
  function subscribe(
    { subscriptions }: Connection,
    request: SubscriptionRequest,
    isBinary: boolean,
    fault: PushFault | undefined,
  ): string | undefined {
    const { method, params } = request;
    if (fault?.kind === 'rpc-error') return printSubscriptionError(request, ERRORS[fault.code](method));
    if (method !== SUBSCRIBE_METHOD) return printSubscriptionError(request, methodNotFound(method));
    if (!isEmptyList(params)) return printSubscriptionError(request, paramsNotEmpty());
    subscriptions.set(request.subscription, { request, isBinary });
    return undefined;
  }

  function push(block: PushedBlock): void {
    const taken = take('block');
    const is = (kind: PushFault['kind']) => taken.some((fault) => fault.kind === kind);
    const main = taken.find((fault) => !isCombined(fault));
    if (main?.kind === 'dropped') disconnect();
    if (main?.kind === 'lost') return;
    if (main?.kind === 'burst') for (const earlier of below(block, main.blocks)) send(earlier, taken);
    if (is('side-branches'))
      send({ ...block, hash: createRandom(chain.seed, 'side branch', block.hash).hex(64) }, taken);

    const isLate = is('out-of-order') && place % GROUP === LATE_PLACE;
    if (is('out-of-order')) place += 1;
    if (isLate) late = block;
    else send(block, taken);
    if (late !== undefined && late !== block && (place % GROUP === 0 || !is('out-of-order'))) {
      send(late, taken);
      late = undefined;
    }
  }

  function below({ height }: PushedBlock, count: number): readonly PushedBlock[] {
    const heights = Array.from({ length: count }, (_, n) => height - count + n);
    return heights.flatMap((each) => {
      const block = chain.block(each);
      return block === undefined ? [] : [withInstructions(block)];
    });
  }

  /** A block with its instructions, which the node pushes with it. */
  function withInstructions(block: Block): PushedBlock {
    const { height, hash, time, v3 } = block;
    const pushed = { height, hash, time };
    return v3 === undefined ? pushed : { ...pushed, instructions: instructionsOf(chain.seed, block, v3) };
  }

  function send(block: PushedBlock, taken: readonly PushFault[]): void {
    const times = taken.some(({ kind }) => kind === 'duplicates') ? 2 : 1;
    for (const { socket, subscriptions } of connections)
      for (const { request, isBinary } of subscriptions.values())
        for (let n = 0; n < times; n++) socket.send(frameOf(request, block, taken), { binary: isBinary });
  }

  function disconnect(): void {
    for (const connection of connections) reset(connection);
  }

  const server = createServer((_request, response) => {
    response.writeHead(400, { 'Content-Type': 'text/plain; charset=utf-8' });
    response.end('Bad Request\n');
  });
  server.on('upgrade', upgrade);
  chain.onBlock((block) => push(withInstructions(block)));

  const listener = await startListener(server, address, () => {
    server.closeAllConnections();
    disconnect();
  });

  return {
    ...listener,
    url: listener.url.replace('http:', 'ws:'),
    faults,
    openSockets: () => connections.size,
    subscribers: () => [...connections].filter(({ subscriptions }) => subscriptions.size > 0).length,
    leaked: () => leaked,
    calls: (name) => counts.get(name) ?? 0,
    upgrades,
    push,
    disconnect,
  };
}

const ERRORS = { '-1002': methodNotFound, '-1003': paramsNotEmpty, '-5001': notSubscribed } as const;

function frameOf(request: SubscriptionRequest, block: PushedBlock, taken: readonly PushFault[]): string {
  const frame = printBlockFrame(request, withFaultyInstructions(block, taken));
  const fault = taken.find(({ kind }) => kind === 'garbage-frame' || kind === 'large-frame');
  if (fault?.kind === 'garbage-frame') return frame.slice(0, frame.length / 2);
  return fault?.kind === 'large-frame' ? frame + ' '.repeat(fault.bytes) : frame;
}

function withFaultyInstructions(block: PushedBlock, taken: readonly PushFault[]): PushedBlock {
  const { instructions, ...others } = block;
  if (instructions === undefined || taken.some(({ kind }) => kind === 'without-instructions')) return others;
  const isDamaged = taken.some(({ kind }) => kind === 'damaged-trade');
  return isDamaged ? { ...others, instructions: withDamagedTrade(instructions) } : block;
}

/** Ends a subscription. @returns its last frame, or that of the error if there is none */
function unsubscribe({ subscriptions }: Connection, request: SubscriptionRequest): string {
  const ended = subscriptions.get(request.subscription);
  subscriptions.delete(request.subscription);
  return ended ? printUnsubscribed(ended.request) : printSubscriptionError(request, notSubscribed());
}

function reset(connection: Connection): void {
  connection.isReset = true;
  connection.socket.terminate();
}

function refuse(socket: Duplex, status: number, body: string): void {
  const headers = ['Content-Type: text/plain; charset=utf-8', `Content-Length: ${body.length}`, 'Connection: close'];
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
}

function isEmptyList(params: unknown): boolean {
  return params === null || (Array.isArray(params) && params.length === 0);
}
