import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError } from 'graphql';
import type { ErrorCode } from '../../errors.ts';
import { HEIGHT_HEADER, SANDBOX_HEADER } from '../http/headers.ts';
import { REQUEST_ID_HEADER } from '../http/request-id.ts';

/** The response headers that pages of other origins may read. */
const EXPOSED = `${REQUEST_ID_HEADER}, ${HEIGHT_HEADER}, ${SANDBOX_HEADER[0]}, ratelimit, ratelimit-policy, retry-after`;

/**
 * The CORS headers of a response; none if pages of the request's origin may not read it. Credentials are never allowed.
 *
 * @returns names and values of headers, alternating
 */
export function corsHeaders({ headers: { origin } }: IncomingMessage, origins: readonly string[]): string[] {
  if (origin === undefined || !isListed(origin, origins)) return [];
  const allowed = origins.includes('*') ? '*' : origin;
  return ['access-control-allow-origin', allowed, 'access-control-expose-headers', EXPOSED];
}

/** The `vary` header: the given names, and `origin` if the responses depend on it. */
export function varyHeader(header: string | undefined, origins: readonly string[]): readonly string[] {
  const names = [...(header === undefined ? [] : [header]), ...(origins.length > 0 ? ['origin'] : [])];
  return names.length === 0 ? [] : ['vary', names.join(', ')];
}

/** Whether a request is the CORS preflight of a page that may send operations. */
export function isPreflight(request: IncomingMessage, origins: readonly string[]): boolean {
  return request.method === 'OPTIONS' && corsHeaders(request, origins).length > 0;
}

/** Responds to a CORS preflight. */
export function handlePreflight({ headers }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('access-control-allow-methods', 'GET, POST');
  // A page whose origin is allowed may send any header: none of them gives it more rights.
  const requested = headers['access-control-request-headers'] ?? 'accept, content-type';
  response.setHeader('access-control-allow-headers', requested);
  response.setHeader('access-control-max-age', '86400');
  response.writeHead(204).end();
}

/**
 * Whether a request may execute an operation. If a browser sends it for a page, the origin of the page must be that of the
 * gateway, or be listed.
 *
 * Browsers send `Origin` with every POST, CORS request, event stream and websocket. Without it they send `Sec-Fetch-Site`:
 * for images, scripts, links and forms with GET. Clients that are not browsers send neither.
 */
export function isAllowedOrigin({ headers }: Pick<IncomingMessage, 'headers'>, origins: readonly string[]): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (origin === undefined && site === undefined) return true;
  // A page cannot set this header. It is also right behind a proxy that changes the Host header.
  if (site === 'same-origin' || site === 'none') return true;
  if (origin === undefined) return origins.includes('*');
  return isListed(origin, origins) || (host !== undefined && URL.parse(origin)?.host === host);
}

/** The error of a request from a page whose origin is not allowed. */
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
