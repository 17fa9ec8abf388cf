import type { IncomingMessage } from 'node:http';
import { REQUEST_ID_HEADER } from './http-exchange.ts';

/** The request header for the cost of the operation: `1` adds `extensions.cost` to the result. */
export const COST_HEADER = 'x-pdex-cost';

/** Whether the response to a request contains the cost of its operation. */
export function wantsCost({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers[COST_HEADER] === '1';
}

/** The request header with which a browser that has lost an event stream sends the id of the last event that it received. */
export const LAST_EVENT_ID_HEADER = 'last-event-id';

/** The header of responses of a gateway that serves simulated data. Its value is `true`. */
export const SANDBOX_HEADER = 'x-pdex-sandbox';

/**
 * The headers of all responses to requests that could be read over a port, each with its value.
 *
 * @param isLast whether the response is the last on its connection
 */
export function commonHeaders(requestId: string, isSandbox: boolean, isLast = false): [string, string][] {
  const headers: [string, string][] = [[REQUEST_ID_HEADER, requestId]];
  if (isSandbox) headers.push([SANDBOX_HEADER, 'true']);
  if (isLast) headers.push(['connection', 'close']);
  return headers;
}

/** The request header, and the member of a websocket's `connection_init`, with the newest height that the client has seen. */
export const MIN_HEIGHT_HEADER = 'x-pdex-min-height';

/** The response header with the beacon height that the response describes; in the REST API, that of the pool prices. */
export const HEIGHT_HEADER = 'x-pdex-height';

/** Maximum number of characters of `Accept` and `Accept-Encoding` that are read. Browsers send 150, and very long ones are slow to read. */
export const MAX_ACCEPT_LENGTH = 1_000;

/** The methods of the GraphQL endpoint, as the header `Allow` lists them. */
export const METHODS = 'GET, HEAD, POST, OPTIONS';

/** The methods of a page or of the REST API. */
export const READ_METHODS = 'GET, HEAD, OPTIONS';

/** The `cache-control` of what never changes. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Whether the client already has the response with that entity tag. Caches may list several tags, and may make them weak. */
export function hasEtag({ headers }: IncomingMessage, etag: string): boolean {
  const tags = headers['if-none-match']?.split(',') ?? [];
  return tags.some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));
}
