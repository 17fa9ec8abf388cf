import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { Transport } from './load/connection.ts';

/** One GraphQL operation, as in the body of a request. */
export type Operation = {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Servers ignore what they do not know. */
  readonly extensions?: Readonly<Record<string, unknown>>;
};

/** Sends one operation by POST, and returns the text of the response. */
export async function requestText(url: string, operation: Operation): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(operation),
    signal: AbortSignal.timeout(60_000),
  });
  return response.text();
}

async function requestTextByWebSocket(url: string, operation: Operation): Promise<string> {
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
  const next = async () => JSON.parse(String((await once(socket, 'message'))[0].data));
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await next();
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: operation }));
  const { payload } = await next();
  socket.close();
  return JSON.stringify(payload);
}

/** Sends one operation over a transport, and returns the text of the response. */
export const REQUEST_TEXT: Readonly<Record<Transport, typeof requestText>> = {
  http: requestText,
  websocket: requestTextByWebSocket,
};

/** Sends one operation by POST, and returns its data. @throws Error if the response has errors */
export async function request<Data>(url: string, operation: Operation): Promise<Data> {
  return dataOf<Data>(await requestText(url, operation));
}

/** Compares the response of a server with the expected one. @throws Error if their data differs, or there is none */
export function expectSameData(name: string, text: string, expected: string): void {
  if (text === expected) return;
  if (!isDeepStrictEqual(dataOf(text), dataOf(expected)))
    throw new Error(`${name} sent another response than the gateway:\n${start(text)}\n${start(expected)}`);
}

function dataOf<Data>(text: string): Data {
  const { data, errors } = JSON.parse(text) as { readonly data?: Data; readonly errors?: unknown };
  if (errors !== undefined || data == null) throw new Error(`a response without data: ${start(text)}`);
  return data;
}

function start(text: string): string {
  return text.slice(0, 500);
}
