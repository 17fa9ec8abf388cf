import type { IncomingMessage, ServerResponse } from 'node:http';
import { REQUEST_ID_HEADER } from './request-id.ts';

/** What pages of other origins may read of an answer, beside its body. */
const EXPOSED = `${REQUEST_ID_HEADER}, ratelimit, ratelimit-policy, retry-after`;

/**
 * Tells browsers whether pages of the request's origin may read the answer; without a word they may not. Credentials are
 * never taken.
 *
 * @returns whether that was all that the request asked
 */
export function answerForOrigin(
  request: IncomingMessage,
  response: ServerResponse,
  origins: readonly string[],
): boolean {
  const { origin } = request.headers;
  if (origins.length > 0) response.appendHeader('vary', 'origin');
  if (origin === undefined || !isListed(origin, origins)) return false;

  response.setHeader('access-control-allow-origin', origins.includes('*') ? '*' : origin);
  response.setHeader('access-control-expose-headers', EXPOSED);
  if (request.method !== 'OPTIONS') return false;

  response.setHeader('access-control-allow-methods', 'GET, POST');
  // A page that may ask at all may name its headers as it likes: none of them gives it more.
  const wanted = request.headers['access-control-request-headers'] ?? 'accept, content-type';
  response.setHeader('access-control-allow-headers', wanted);
  response.setHeader('access-control-max-age', '86400');
  response.writeHead(204).end();
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
