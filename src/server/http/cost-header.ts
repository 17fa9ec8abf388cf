import type { IncomingHttpHeaders } from 'node:http';

/** The request header with which a client requests the cost of its operation: `1` adds `extensions.cost` to the result. */
export const COST_HEADER = 'x-pdex-cost';

/** Whether the request of an operation wants to know its cost. An operation on a websocket has no request of its own. */
export function wantsCost(context: object): boolean {
  const { req } = context as { readonly req?: { readonly headers: IncomingHttpHeaders } };
  return req?.headers[COST_HEADER] === '1';
}
