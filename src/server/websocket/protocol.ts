import { GraphQLError } from 'graphql';
import {
  CloseCode,
  type Context,
  handleProtocols,
  makeServer,
  type ServerOptions,
  type SubscribePayload,
} from 'graphql-ws';
import type { Server } from 'ws';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import { orError } from '../../errors.ts';
import type { ClientIdentity } from '../clients/client-address.ts';
import type { OperationLabel } from '../operations/log-details.ts';
import { keyOf, type QueryRequest } from '../operations/query-responses.ts';
import {
  decodeBody,
  deleteOthers,
  isRecord,
  namesDocument,
  OPERATION_NAMES,
  readOperation,
  toJson,
} from '../requests/parameters.ts';
import type { ClientSocket } from './client-socket.ts';

/** What graphql-ws passes on with each operation of a connection. */
type ConnectionExtra = {
  readonly socket: ClientSocket;
  readonly identity: ClientIdentity;
  /** The height that operations wait for; `undefined` if the client has named none, or once it is reached. */
  minHeight: BeaconHeight | undefined;
  /** The operations that are open, or that the client has completed and that are not over yet. */
  open: readonly OpenOperation[];
};

/** An operation, which its payload identifies: a client can complete it and use its id again while it is still executed. */
export type OpenOperation = {
  readonly id: string;
  readonly payload: SubscribePayload;
  /** About how many values its payload or its result has, whichever has more. */
  values: number;
  /** Whether it is a subscription that has started, for which nothing is executed any more once it is completed. */
  hasStarted: boolean;
  /** What the access log says when it ends, if it has started and is logged. */
  logged: { readonly requestId: string; readonly label: OperationLabel; readonly receivedAt: number } | undefined;
};

/** An operation that is being prepared or executed. */
export type SocketOperation = QueryRequest & {
  readonly connection: ProtocolContext;
  readonly opened: OpenOperation;
  readonly requestId: string;
  /** In `performance.now()`. */
  readonly receivedAt: number;
};

/** A websocket in the callbacks of graphql-ws. */
export type ProtocolContext = Context<Record<string, unknown> | undefined, ConnectionExtra>;

/** The callbacks of graphql-ws, and options of the transport. */
export type ProtocolOptions = ServerOptions<Record<string, unknown> | undefined, ConnectionExtra> & {
  /** How often each client is pinged. It is disconnected if its pong has not arrived a period after that. */
  readonly keepAliveMs: number;
  /** Called with internal errors, but not with violations of the protocol. */
  readonly internal: (error: unknown) => void;
};

type IdentifiedOperation = Pick<OpenOperation, 'id' | 'payload'>;

/** The operation that graphql-ws knows by its payload. */
export function openOperationOf({ extra }: ProtocolContext, payload: SubscribePayload): OpenOperation | undefined {
  return extra.open.find((each) => each.payload === payload);
}

/** Whether an operation is not completed. */
export function isOpen({ extra, subscriptions }: ProtocolContext, { id, payload }: IdentifiedOperation): boolean {
  return id in subscriptions && extra.open.findLast((each) => each.id === id)?.payload === payload;
}

/**
 * Removes an operation that is over. If its id is in use again, this never resolves: graphql-ws, which awaits it, knows operations
 * by their ids only, and would complete the newer one.
 */
export async function closeOperation(connection: ProtocolContext, operation: IdentifiedOperation): Promise<void> {
  const { extra, subscriptions } = connection;
  const isReused = operation.id in subscriptions && !isOpen(connection, operation);
  extra.open = extra.open.filter(({ payload }) => payload !== operation.payload);
  if (isReused) await new Promise(() => {});
}

const PONG = '{"type":"pong"}';

/**
 * Runs the protocol graphql-transport-ws on every websocket of a server, by graphql-ws. Its own adapter for `ws` is not used: it
 * writes a stack trace to stderr for each message that is too large or unexpected and for each client that disappears, and sends
 * the messages of internal errors to clients.
 */
export function runProtocol(server: Server<typeof ClientSocket>, options: ProtocolOptions): void {
  const { keepAliveMs, internal } = options;
  const protocol = makeServer(options);
  server.options.handleProtocols = handleProtocols;

  server.on('connection', (socket: ClientSocket, identity: ClientIdentity) => {
    let onText: ((text: string) => Promise<void>) | undefined;
    // Resolves when the message was written, so that a slow client requests no more.
    function send(text: string): MaybePromise<void> {
      if (socket.readyState === socket.OPEN) socket.send(text);
      return socket.untilWritten(identity.socket);
    }
    const connection = {
      protocol: socket.protocol,
      send,
      onPing: (payload: unknown) => send(toJson({ type: 'pong', payload: payload ?? undefined }) ?? PONG),
      close: (code: number, reason: string) => socket.close(code, reason),
      onMessage(listener: typeof onText) {
        onText = listener;
      },
    };
    const onClosed = protocol.opened(connection, { socket, identity, minHeight: undefined, open: [] });
    // After an error, `ws` closes the websocket itself, with the right code: 1009 for a message that is too large.
    socket.on('error', () => {});
    socket.readInTurns((message) => {
      const parsed = parseMessage(message);
      if (hasLongId(parsed)) socket.close(CloseCode.BadRequest, ID_TOO_LONG);
      else onText?.(parsed).catch((error) => fail(socket, error));
    });
    socket.on('close', (code, reason) => onClosed(code, String(reason)).catch(internal));
    socket.keepAlive(keepAliveMs, identity.socket);
  });

  function fail(socket: ClientSocket, error: unknown): void {
    // A message that only servers send. graphql-ws throws for it. In the protocol it is 4400.
    if (error instanceof Error && error.message.startsWith('Unexpected message of type')) {
      socket.close(CloseCode.BadRequest, 'Unexpected message received');
    } else {
      internal(error);
      socket.close(CloseCode.InternalServerError, 'Internal server error');
    }
  }
}

/** The key of a payload that could be the body of a plain HTTP request, if it has one: its JSON, with a character for each byte. */
export function keyOfPayload(payload: SubscribePayload): string | undefined {
  if (orError(GraphQLError, () => readOperation(payload)) instanceof GraphQLError) return undefined;
  const { query, ...others } = payload;
  const json = toJson(query === '' ? others : payload);
  return json === undefined ? undefined : keyOf(Buffer.from(json).toString('latin1'));
}

/**
 * Parses a message, because graphql-ws also accepts parsed ones. From a text, it would keep the whole text in memory for as long as the
 * subscription is open. Members that nothing reads are deleted for the same reason. graphql-ws rejects a message that is no object,
 * also a binary one that is not UTF-8. (`ws` itself closes with 1007 for a text that is not.)
 */
export function parseMessage(bytes: Buffer): string {
  let text = '';
  try {
    text = decodeBody(bytes);
    const message: unknown = JSON.parse(text);
    return (isRecord(message) ? withQuery(message) : text) as string;
  } catch {
    return text;
  }
}

/** Maximum length of the id of an operation. It is kept while the operation is open, and sent with each update. */
const MAX_ID_LENGTH = 256;

const ID_TOO_LONG = `The id of an operation has more than ${MAX_ID_LENGTH} characters.`;

function hasLongId(message: unknown): boolean {
  return isRecord(message) && typeof message['id'] === 'string' && message['id'].length > MAX_ID_LENGTH;
}

const SUBSCRIBE_NAMES = { id: undefined, type: undefined, payload: OPERATION_NAMES };

/** graphql-ws requires a query, also of an operation that names its document by an id. */
function withQuery(message: Record<string, unknown>): object {
  const { type, payload } = message;
  if (type === 'subscribe') deleteOthers(message, SUBSCRIBE_NAMES);
  if (type !== 'subscribe' || !isRecord(payload) || payload['query'] != null || !namesDocument(payload)) return message;
  return { ...message, payload: { ...payload, query: '' } };
}
