import { once } from 'node:events';
import { connect as connectTcp, type Socket as TcpSocket } from 'node:net';
import { WebSocket } from 'ws';
import { addressHeader } from './client-address.ts';
import type { SoakContext } from './context.ts';
import { minimumOf } from './http-client.ts';
import type { GraphqlResponse, Operation } from './judge.ts';
import { failWithout, withinLimit } from './response-limit.ts';
import { MINIMUM } from './routes.ts';
import type { CheckedSubscription } from './subscriptions/subscription.ts';

/** How a client disconnects: with a close frame, by a reset, by closing only its side, or by not reading any more. */
export type Departure = 'closed' | 'aborted' | 'half-closed' | 'vanished';

/** A client of the graphql-transport-ws protocol, written by hand so that it can violate it. */
type WebSocketClient = {
  /** Starts a subscription, whose updates are judged. @returns a function that completes it */
  subscribe(subscription: CheckedSubscription): () => void;
  /** Executes an operation and judges the response. Resolves with it, or when the connection is closed. */
  execute(operation: Operation): Promise<void>;
  isOpen(): boolean;
  /** Stops reading until {@link resume}. */
  pause(): void;
  resume(): void;
  leave(departure: Departure): void;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<unknown>;
};

type OpenSubscription = {
  readonly subscription: CheckedSubscription;
  readonly since: number;
  /** Whether its newest update was an error without data: one at its start can end it. */
  mayEnd: boolean;
};

type Message = { readonly type: string; readonly id?: string; readonly payload?: unknown };

/** A websocket with its TCP socket; `closed` resolves with the close code. */
type RawWebSocket = { readonly socket: WebSocket; readonly tcp: TcpSocket; readonly closed: Promise<number> };

/** Opens a websocket without a `connection_init`. It is closed if the gateway refuses it. */
export async function openRawWebSocket({ url }: Pick<SoakContext, 'url'>, name: string): Promise<RawWebSocket> {
  const tcp = connectTcp(Number(url.port), url.hostname);
  const socket = new WebSocket(`ws://${url.host}${url.pathname}`, 'graphql-transport-ws', {
    createConnection: () => tcp,
    headers: addressHeader(name),
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  await untilEvent(socket, 'open', closed);
  return { socket, tcp, closed };
}

/** Sends `connection_init` and waits for the acknowledgement. */
export async function initConnection({ socket, closed }: RawWebSocket, payload?: object): Promise<void> {
  if (socket.readyState !== WebSocket.OPEN) return;
  socket.send(JSON.stringify({ type: 'connection_init', payload }));
  await untilEvent(socket, 'message', closed);
}

function untilEvent(socket: WebSocket, event: string, closed: Promise<unknown>): Promise<unknown> {
  return Promise.race([once(socket, event), closed]).catch(() => closed);
}

/** Connects a client of this name; `undefined` if the gateway refuses it. */
export async function openWebSocket(context: SoakContext, name: string): Promise<WebSocketClient | undefined> {
  const { judge, signal, routes, served } = context;
  const since = performance.now();
  const url = routes.next();
  const names = routes.namesMinimum(name);
  const minimum = names ? served.highest() : 0;
  const bare = await openRawWebSocket({ url }, name);
  const { socket, tcp, closed } = bare;
  const pending = new Map<string, (answer: GraphqlResponse) => void>();
  const subscriptions = new Map<string, OpenSubscription>();
  /** The subscriptions whose first update has a minimum: those that do not resume. */
  const first = new Set<CheckedSubscription>();
  const isLost = () => routes.explainsLoss(url, since);
  let isLeaving = false;
  let lastId = 0;

  socket.once('close', (code, reason) => {
    if (isLost()) judge.count('websockets lost with a gateway');
    else if (!isLeaving && !signal.aborted) judge.fail(`a websocket was closed: of ${name}: ${code} ${reason}`);
  });
  await initConnection(bare, names ? { [MINIMUM]: minimum } : undefined);
  if (socket.readyState !== WebSocket.OPEN) return undefined;
  socket.on('message', (text) => receive(JSON.parse(String(text)) as Message));

  function receive({ type, id = '', payload }: Message): void {
    const respond = pending.get(id);
    if (respond) {
      if (type === 'next') respond(payload as GraphqlResponse);
      if (type === 'error') respond({ errors: payload as [] });
      return;
    }
    const known = subscriptions.get(id);
    if (!known) return;
    const { subscription, since } = known;
    if (type === 'next') {
      // An operation that fails at its start gets one response without data. If an upstream has failed, it stays open after that.
      known.mayEnd =
        (payload as GraphqlResponse).data == null && !isErrorUpdate(subscription, payload as GraphqlResponse);
      checkUpdate(context, name, subscription, payload as GraphqlResponse);
      checkMinimum(context, name, subscription, first.delete(subscription) ? minimum : 0);
    } else {
      subscriptions.delete(id);
      if (type === 'error' && Array.isArray(payload) && payload.length > 0)
        judge.judgeErrors(name, subscription.kind, payload as [], since);
      else if (!known.mayEnd) judge.fail(`a subscription ended: ${subscription.kind} of ${name}`, { type, payload });
    }
  }

  return {
    closed,
    subscribe(subscription) {
      lastId += 1;
      const id = String(lastId);
      subscriptions.set(id, { subscription, since: performance.now(), mayEnd: false });
      if (subscription.after === undefined) first.add(subscription);
      const { query, after } = subscription;
      const variables =
        after === undefined ? subscription.variables : { ...subscription.variables, afterHeight: after };
      socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query, variables } }));
      return () => {
        subscriptions.delete(id);
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'complete', id }));
      };
    },
    async execute(operation) {
      const { query, variables } = operation;
      const minHeight = minimumOf(context, name);
      const extensions = names ? { minHeight } : undefined;
      const sentAt = performance.now();
      lastId += 1;
      const id = String(lastId);
      const answer = new Promise<GraphqlResponse>((resolve) => pending.set(id, resolve));
      socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query, variables, extensions } }));
      const got = await withinLimit(Promise.race([answer, closed.then(() => undefined)])).catch((error) => {
        failWithout(context, `${operation.kind} of ${name}`, error);
        return 'failed' as const;
      });
      pending.delete(id);
      if (got === 'failed') return;
      if (got !== undefined)
        judge.judgeResponse(name, operation, got, { sentAt, answeredAt: performance.now(), minHeight });
      else if (isLost()) judge.count('requests lost with a gateway');
      else if (!isLeaving && !signal.aborted)
        judge.fail(`no response: ${operation.kind} of ${name}: the websocket is closed`);
    },
    isOpen: () => socket.readyState === WebSocket.OPEN,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    leave(departure) {
      isLeaving = true;
      if (departure === 'closed') socket.close(1000);
      else if (departure === 'aborted') socket.terminate();
      else if (departure === 'half-closed') tcp.end();
      else socket.pause();
    },
  };
}

/** Judges the height of the first update of a client that has named a minimum. */
export function checkMinimum(
  { judge }: SoakContext,
  name: string,
  subscription: CheckedSubscription,
  minimum: number,
): void {
  const height = subscription.height() ?? minimum;
  if (height < minimum)
    judge.fail(`a first update below the minimum: ${subscription.kind} of ${name}: ${height} instead of ${minimum}`);
}

/** Whether a response without data is an update of a stream that goes on: then a field of the update has failed, and not the stream. */
export function isErrorUpdate({ failed }: CheckedSubscription, { data, errors = [] }: GraphqlResponse): boolean {
  return failed !== undefined && data == null && errors.length > 0 && errors.every(({ path = [] }) => path.length > 1);
}

/**
 * Judges an update of a websocket or of an event stream.
 *
 * @param since the time from which a fault explains its errors, by `performance.now()`
 */
export function checkUpdate(
  { judge }: SoakContext,
  name: string,
  subscription: CheckedSubscription,
  { data, errors = [] }: GraphqlResponse,
  since = performance.now(),
): void {
  if (data == null && errors.length === 0) judge.fail(`neither data nor errors: ${subscription.kind} of ${name}`);
  if (errors.length > 0) judge.judgeErrors(name, subscription.kind, errors, since);
  if (isErrorUpdate(subscription, { data: data ?? null, errors })) subscription.failed?.();
  if (data == null) return;
  const skippedBefore = subscription.skipped();
  judge.judgeUpdate(name, subscription.kind, { data }, subscription.check(data));
  const skipped = subscription.skipped() - skippedBefore;
  if (skipped > 0) judge.count(`heights skipped for ${name.replace(/ \d+$/, '')}`, skipped);
}
