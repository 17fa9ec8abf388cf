import type { IncomingMessage } from 'node:http';

/** The request header with which a client requests the cost of its operation: `1` adds `extensions.cost` to the result. */
export const COST_HEADER = 'x-pdex-cost';

/** Whether a request asks for the cost of its operation. An operation on a websocket has no request of its own. */
export function wantsCost({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers[COST_HEADER] === '1';
}
