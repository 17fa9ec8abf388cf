import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { Transport } from './load/connection.ts';
import type { Operation } from './operations.ts';

/** Asks one server one thing, and gives the answer as it came. */
export async function askText(url: string, operation: Operation): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(operation),
    signal: AbortSignal.timeout(60_000),
  });
  return response.text();
}

/** Asks one server one thing over a websocket, and gives the text of the answer. */
async function askTextByWebSocket(url: string, operation: Operation): Promise<string> {
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

/** Asks one server one thing over a transport, and gives the text of the answer. */
export const ASK_TEXT: Readonly<Record<Transport, typeof askText>> = { http: askText, websocket: askTextByWebSocket };

/** Asks one server one thing. @throws Error where there is an error in the answer */
export async function ask<Data>(url: string, operation: Operation): Promise<Data> {
  return dataOf<Data>(await askText(url, operation));
}

/** Holds what a server says against what the gateway says. @throws Error where they differ in more than layout */
export function expectSame(name: string, text: string, gatewayText: string): void {
  if (text === gatewayText) return;
  if (!isDeepStrictEqual(dataOf(text), dataOf(gatewayText)))
    throw new Error(`${name} answers otherwise than the gateway:\n${start(text)}\n${start(gatewayText)}`);
}

function dataOf<Data>(text: string): Data {
  const { data, errors } = JSON.parse(text) as { readonly data?: Data; readonly errors?: unknown };
  if (errors !== undefined || data == null) throw new Error(`an answer without data: ${start(text)}`);
  return data;
}

function start(text: string): string {
  return text.slice(0, 500);
}
