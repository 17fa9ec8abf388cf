import { isDeepStrictEqual } from 'node:util';
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
