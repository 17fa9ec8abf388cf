import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError } from 'graphql';
import type { ErrorCode } from '../../errors.ts';
import { REQUEST_ID_HEADER } from '../http/request-id.ts';
import { SANDBOX_HEADER } from '../http/sandbox-header.ts';

/** What pages of other origins may read of an answer, beside its body. */
const EXPOSED = `${REQUEST_ID_HEADER}, ${SANDBOX_HEADER[0]}, ratelimit, ratelimit-policy, retry-after`;

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
 * Whether a request may execute an operation, by the page that a browser sends it for. The page's origin has to be that of
 * the gateway, or be listed.
 *
 * Browsers send `Origin` with every POST, CORS request, event stream and websocket. What they send without it, such as an
 * image, a script, a form's GET or a link, has `Sec-Fetch-Site`. Clients that are no browsers send neither.
 */
export function isAllowedOrigin({ headers }: Pick<IncomingMessage, 'headers'>, origins: readonly string[]): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (origin === undefined && site === undefined) return true;
  // No page can set it. It also holds behind a proxy that changes the host.
  if (site === 'same-origin' || site === 'none') return true;
  if (origin === undefined) return origins.includes('*');
  return isListed(origin, origins) || (host !== undefined && URL.parse(origin)?.host === host);
}

/** The error of a request that a page of another origin sends. */
export function originNotAllowed({ headers: { origin } }: Pick<IncomingMessage, 'headers'>): GraphQLError {
  const page = origin === undefined || origin === 'null' ? 'Pages from another origin' : `Pages from ${quote(origin)}`;
  const code: ErrorCode = 'ORIGIN_NOT_ALLOWED';
  return new GraphQLError(
    `${page} are not allowed to send operations to this gateway. To allow them, add the origin to CORS_ORIGINS. A proxy in front of the gateway must forward the Host header.`,
    { extensions: { code, http: { status: 403 } } },
  );
}

function isListed(origin: string, origins: readonly string[]): boolean {
  return origins.includes('*') || origins.includes(origin.toLowerCase());
}

/** The longest host name has 253 characters. */
const MAX_QUOTED = 300;

function quote(origin: string): string {
  return JSON.stringify(origin.slice(0, MAX_QUOTED));
}
