import type { IncomingMessage, ServerResponse } from 'node:http';
import { REQUEST_ID_HEADER } from './request-id.ts';

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

/**
 * Answers what a browser asks before it lets a page of another origin ask.
 *
 * @param common headers of every answer, names and values in turn
 * @returns whether the page may; where not, nothing was answered
 */
export function answerPreflight(
  request: IncomingMessage,
  response: ServerResponse,
  origins: readonly string[],
  common: readonly string[],
): boolean {
  const allowed = headersForOrigin(request, origins);
  if (allowed.length === 0) return false;

  // A page that may ask at all may name its headers as it likes: none of them gives it more.
  const wanted = request.headers['access-control-request-headers'] ?? 'accept, content-type';
  const methods = ['access-control-allow-methods', 'GET, POST', 'access-control-allow-headers', wanted];
  const headers = [...common, ...varyFor(undefined, origins), ...allowed, ...methods];
  response.writeHead(204, [...headers, 'access-control-max-age', '86400']).end();
  return true;
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
