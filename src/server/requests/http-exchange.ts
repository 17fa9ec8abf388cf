import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** An HTTP request with its response. */
export type HttpExchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request id. */
  readonly id: string;
  /** When the gateway began to handle the request, in `performance.now()`. */
  readonly startedAt: number;
  /** The name of the endpoint in the metrics. */
  readonly endpoint: string;
  /** The bytes that its connection had sent before, for the access log. */
  readonly sentBefore: number | undefined;
};

/** Handles the requests to one path. */
export type Route = {
  /** The name of the endpoint in the metrics. */
  readonly endpoint: string;
  /** Whether another server that uses the handler gets the requests, for routes of its own. */
  readonly isPassedOn?: boolean;
  handle(exchange: HttpExchange): void;
};

/** How the metrics name all paths without a route. */
export const NOWHERE = 'nowhere';

/** Whether a response is an event stream, which ends only when its client disconnects. */
export function isEventStream(response: ServerResponse): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
}

/** The path of the GraphQL endpoint, over HTTP and over websockets. */
export const GRAPHQL_PATH = '/graphql';

/** Whether a request only reads. The response to a HEAD has the headers of that to a GET, and Node sends no body in it. */
export function isRead({ method }: Pick<IncomingMessage, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * Whether a browser opens this URL in a tab or window. The response is a page then, and no operation is executed, whatever the
 * URL contains. A frame of another page is not a tab: it is handled like any other request of that page.
 *
 * Browsers send `Sec-Fetch-Mode` and `Sec-Fetch-Dest`, but only to HTTPS and to this machine. Without them `Accept` decides:
 * browsers put `text/html` first. So does `HttpURLConnection` of Java, for which `image/gif` is the second.
 */
export function isNavigation(request: IncomingMessage): boolean {
  if (!isRead(request)) return false;
  const { accept = '', 'sec-fetch-mode': mode, 'sec-fetch-dest': destination = 'document' } = request.headers;
  if (mode === undefined) return HTML_FIRST.test(accept);
  return mode === 'navigate' && destination === 'document';
}

/** The headers that {@link isNavigation} reads, for `Vary`. */
export const NAVIGATION_HEADERS = 'accept, sec-fetch-mode, sec-fetch-dest';

const HTML_FIRST = /^\s*text\/html\b(?!\s*;\s*q=0|\s*,\s*image\/gif)/i;

/** The scheme and the host of the absolute form. User information is ignored. */
const ABSOLUTE = /^https?:\/\/(?:[^/?#@]*@)?([^/?#]*)/i;

/**
 * Writes the target of a request as clients usually do: as a path that begins with one slash, with a query. The host of the
 * absolute form replaces the header `Host` (RFC 9112, 3.2.2). Characters that need not be percent-encoded are decoded, because
 * both forms mean the same (RFC 9110, 4.2.3). `OPTIONS` of a host without a path has the target `*` (RFC 9112, 3.2.4).
 * `/graphql/` becomes `/graphql`.
 */
export function normalizeTarget(request: IncomingMessage): void {
  const { url = '/', method, headers } = request;
  if (url === GRAPHQL_PATH) return;
  const [origin = '', host] = ABSOLUTE.exec(url) ?? [];
  if (host !== undefined) headers.host = host;
  const target = url.slice(origin.length) || (method === 'OPTIONS' ? '*' : '/');
  const end = target.search(/\?|$/);
  const path = target.slice(0, end).replace(/%[2-7][\da-f]/gi, decodeUnreserved);
  const usual = path.replace(/^\/+(?=[^/])/, '/').replace(/^\/graphql\/$/, GRAPHQL_PATH) || '/';
  request.url = usual + target.slice(end);
}

function decodeUnreserved(encoded: string): string {
  const decoded = decodeURIComponent(encoded);
  return /[\w.~-]/.test(decoded) ? decoded : encoded;
}

/** The exact path of a request, without its query. */
export function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '/';
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

/** The header with the request id, in requests and responses. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** The ids of requests. Each line of the log has the id of the request that caused it. */
export type RequestIds = ReturnType<typeof createRequestIds>;

/** Creates the request ids, with an `AsyncLocalStorage`. */
export function createRequestIds() {
  const storage = new AsyncLocalStorage<string>();
  // `storage.run` leaves an empty async context behind, which promises that are created later would reference.
  const outside = AsyncLocalStorage.snapshot();

  return {
    /** The id in the header of a request, so that it can be followed through several servers, or a new one. */
    of({ headers }: Pick<IncomingMessage, 'headers'>): string {
      const sent = headers[REQUEST_ID_HEADER];
      return typeof sent === 'string' && /^[\w.:/-]{1,128}$/.test(sent) ? sent : randomUUID();
    },
    /** Runs code on behalf of a request. */
    run: <T>(id: string, work: () => T): T => outside(() => storage.run(id, work)),
    /** The id of the request on whose behalf code runs. */
    current: () => storage.getStore(),
  };
}
