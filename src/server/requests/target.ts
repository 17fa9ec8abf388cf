import type { IncomingMessage } from 'node:http';

/** The path of the GraphQL endpoint, over HTTP and over websockets. */
export const GRAPHQL_PATH = '/graphql';

/** Whether a request only reads. The response to a HEAD has the headers of that to a GET, and Node sends no body in it. */
export function isRead({ method }: Pick<IncomingMessage, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** A target that stays as it is, like nearly all: one slash first, and nothing percent-encoded in its path. */
const USUAL = /^\/(?!\/)[^%?]*(?:\?|$)/;

/** The scheme and the host of the absolute form. User information is ignored. */
const ABSOLUTE = /^https?:\/\/(?:[^/?#@]*@)?([^/?#]*)/i;

/**
 * Writes the target of a request as clients usually do: as a path that begins with one slash, with a query. The host of the
 * absolute form replaces the header `Host` (RFC 9112, 3.2.2). Characters that need not be percent-encoded are decoded, because
 * both forms mean the same (RFC 9110, 4.2.3). `OPTIONS` of a host without a path has the target `*` (RFC 9112, 3.2.4).
 */
export function normalizeTarget(request: IncomingMessage): void {
  const { url = '/', method, headers } = request;
  if (USUAL.test(url)) return;
  const [origin = '', host] = ABSOLUTE.exec(url) ?? [];
  if (host !== undefined) headers.host = host;
  const target = url.slice(origin.length) || (method === 'OPTIONS' ? '*' : '/');
  const end = target.search(/\?|$/);
  const path = target.slice(0, end).replace(/%[2-7][\da-f]/gi, decodeUnreserved);
  request.url = (path.replace(/^\/+(?=[^/])/, '/') || '/') + target.slice(end);
}

function decodeUnreserved(encoded: string): string {
  const decoded = decodeURIComponent(encoded);
  return /[\w.~-]/.test(decoded) ? decoded : encoded;
}
