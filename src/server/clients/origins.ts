import type { IncomingMessage, ServerResponse } from 'node:http';
import { REQUEST_ID_HEADER } from '../request-id.ts';

/** What pages of other origins may read of an answer, beside its body. */
const EXPOSED = `${REQUEST_ID_HEADER}, ratelimit, ratelimit-policy, retry-after`;

/**
 * Tells browsers whether pages of the request's origin may read the answer; without a word they may not. Credentials are
 * never taken.
 *
 * @returns names and values of headers in turn
 */
export function headersForOrigin({ headers: { origin } }: IncomingMessage, origins: readonly string[]): string[] {
  if (origin === undefined || !isListed(origin, origins)) return [];
  const allowed = origins.includes('*') ? '*' : origin;
  return ['access-control-allow-origin', allowed, 'access-control-expose-headers', EXPOSED];
}

/** The header that names what an answer depends on: that, where it is given, and the origin where some are listed. */
export function varyFor(header: string | undefined, origins: readonly string[]): readonly string[] {
  const names = [...(header === undefined ? [] : [header]), ...(origins.length > 0 ? ['origin'] : [])];
  return names.length === 0 ? [] : ['vary', names.join(', ')];
}

/** Whether a browser asks on behalf of a page that may ask, before it lets it. */
export function isPreflight(request: IncomingMessage, origins: readonly string[]): boolean {
  return request.method === 'OPTIONS' && headersForOrigin(request, origins).length > 0;
}

/** Answers what a browser asks before it lets a page of another origin ask. */
export function answerPreflight({ headers }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('access-control-allow-methods', 'GET, POST');
  // A page that may ask at all may name its headers as it likes: none of them gives it more.
  const wanted = headers['access-control-request-headers'] ?? 'accept, content-type';
  response.setHeader('access-control-allow-headers', wanted);
  response.setHeader('access-control-max-age', '86400');
  response.writeHead(204).end();
}

/**
 * Whether a websocket may be opened from where it comes: browsers do not ask before they open one to another origin, so the
 * list holds here or nowhere. What is no browser sends no origin.
 */
export function mayOpenWebSocket({ headers }: IncomingMessage, origins: readonly string[]): boolean {
  const { origin, host } = headers;
  return origin === undefined || isListed(origin, origins) || URL.parse(origin)?.host === host;
}

function isListed(origin: string, origins: readonly string[]): boolean {
  return origins.includes('*') || origins.includes(origin.toLowerCase());
}
