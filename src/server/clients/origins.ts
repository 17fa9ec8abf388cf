import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLError } from 'graphql';
import { HEIGHT_HEADER, SANDBOX_HEADER } from '../requests/headers.ts';
import { REQUEST_ID_HEADER } from '../requests/http-exchange.ts';
import { errorOf } from '../requests/refusal.ts';

/** The origins of pages on this computer, on any port. With simulated data, they are allowed too. */
export const LOOPBACK_ORIGINS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'].flatMap((host) =>
  ['http', 'https'].flatMap((scheme) => [`${scheme}://${host}`, `${scheme}://${host}:*`]),
);

/** The response headers that pages of other origins may read. */
export const EXPOSED = `${REQUEST_ID_HEADER}, ${HEIGHT_HEADER}, ${SANDBOX_HEADER}, ratelimit, ratelimit-policy, retry-after`;

/**
 * The CORS headers of a response, names and values alternating; none if pages of the request's origin may not read it.
 * Credentials are never allowed.
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
 * The error of a request that may not execute an operation. If a browser sends it for a page, the origin of the page must be that
 * of the gateway, or be listed.
 *
 * Browsers send `Origin` with every POST, CORS request, event stream and websocket. Without it they send `Sec-Fetch-Site`:
 * for images, scripts, links and forms with GET. Clients that are not browsers send neither.
 */
export function refuseOrigin({ headers }: IncomingMessage, origins: readonly string[]): GraphQLError | undefined {
  if (isAllowed(headers, origins)) return undefined;
  const page = headers.origin === undefined ? 'Pages from another origin' : `Pages from ${quote(headers.origin)}`;
  return errorOf(
    'ORIGIN_NOT_ALLOWED',
    `${page} are not allowed to send operations to this gateway. To allow them, add the origin to CORS_ORIGINS. A proxy in front of the gateway must forward the Host header.`,
    { status: 403 },
  );
}

function isAllowed(headers: IncomingMessage['headers'], origins: readonly string[]): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin === undefined && site === undefined) return true;
  // A page cannot set this header. It is also right behind a proxy that changes the Host header.
  if (site === 'same-origin' || site === 'none') return true;
  if (origin === undefined) return origins.includes('*');
  // HTTP/2 has `:authority` in place of `Host` (RFC 9113, section 8.3.1).
  return isListed(origin, origins) || isOwn(origin, headers[':authority']?.toString() ?? headers.host ?? '');
}

/** Whether an origin is that of the gateway at this host. TLS may end at a proxy, so the scheme is that of the origin. */
function isOwn(origin: string, host: string): boolean {
  const [, scheme] = /^((?:http|ws)s?:\/\/)/i.exec(origin) ?? [];
  const page = parseOrigin(origin);
  return scheme !== undefined && page !== undefined && page === parseOrigin(scheme + host);
}

/**
 * Parses an origin, of a page or of an app: a scheme and a host, with a port unless it is that of the scheme, or `null`.
 *
 * @returns the same text for the same origin (RFC 6454, sections 4 and 6); `undefined` if the text is not an origin
 */
export function parseOrigin(text: string): string | undefined {
  if (text === 'null') return text;
  const url = /^[a-z][a-z\d+.-]*:\/\/[^\s/\\?#@]*$/i.test(text) ? URL.parse(text) : null;
  return url === null ? undefined : `${url.protocol}//${url.host.replace(/\.(?=:\d+$|$)/, '')}`.toLowerCase();
}

/** A `*` in a listed origin stands for labels of a host name, or alone for all origins; in {@link LOOPBACK_ORIGINS} for a port. */
function isListed(sent: string, origins: readonly string[]): boolean {
  if (origins.length === 0 || origins.includes('*')) return origins.length > 0;
  const origin = parseOrigin(sent);
  return origins.some((listed) => {
    const [begin = '', end] = listed.split('*');
    if (end === undefined || origin === undefined) return listed === origin;
    return origin.startsWith(begin) && origin.endsWith(end) && origin.length > begin.length + end.length;
  });
}

/** The longest host name has 253 characters. */
const MAX_QUOTED = 300;

function quote(origin: string): string {
  return JSON.stringify(origin.slice(0, MAX_QUOTED));
}
