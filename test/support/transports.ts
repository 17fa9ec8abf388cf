import { once } from 'node:events';
import { type ClientOptions, WebSocket } from 'ws';
import { readEvents } from './events.ts';
import type { Answer, AnswerError } from './gateway.ts';

/** An operation as a client sends it. */
export type Operation = {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
};

/** The same, by the id of a persisted document or by a hash, with or without the text. */
export type NamedOperation = Partial<Operation> & {
  readonly documentId?: unknown;
  readonly extensions?: Readonly<Record<string, unknown>>;
};

/** Sends an operation to the endpoint at that address, and returns its first answer. */
export type SendOperation = (url: string, operation: NamedOperation) => Promise<Answer>;

/** Every transport. */
export const TRANSPORTS: Readonly<Record<string, SendOperation>> = {
  'HTTP POST': async (url, operation) => (await post(url, operation, 'application/json')).json(),
  'HTTP GET': async (url, operation) => (await fetch(urlOf(url, operation))).json(),
  'server-sent events by POST': async (url, operation) => firstEvent(await post(url, operation, 'text/event-stream')),
  'server-sent events by GET': async (url, operation) =>
    firstEvent(await fetch(urlOf(url, operation), { headers: { accept: 'text/event-stream' } })),
  'a websocket': askByWebSocket,
};

/** Whether an operation fits into a URL: the headers of a request have 16 KiB. */
export function fitsUrl(operation: Operation): boolean {
  return urlOf('http://127.0.0.1:65535/graphql', operation).length < 15_000;
}

function post(url: string, operation: NamedOperation, accept: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(operation) });
}

function urlOf(url: string, operation: NamedOperation): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(operation))
    search.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  return `${url}?${search}`;
}

/** The response to an operation as JSON, or the first event of a stream. */
export async function firstEvent(response: Response): Promise<Answer> {
  if (response.headers.get('content-type')?.startsWith('application/json')) return response.json();
  for await (const answer of readEvents(response)) return answer;
  throw new Error('the stream ended without an event');
}

async function askByWebSocket(url: string, operation: NamedOperation): Promise<Answer> {
  const socket = await openSocket(url);
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: operation }));
  const { type, payload } = JSON.parse(await nextMessage(socket));
  socket.close();
  return type === 'error' ? { errors: payload as AnswerError[] } : payload;
}

/** Opens a websocket on which operations can be sent. @param init the payload of `connection_init` */
export async function openSocket(url: string, options: ClientOptions = {}, init?: object): Promise<WebSocket> {
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', options);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: init }));
  await nextMessage(socket);
  return socket;
}

/** The next message of the server. */
export async function nextMessage(socket: WebSocket): Promise<string> {
  const [message] = await once(socket, 'message');
  return String(message);
}
