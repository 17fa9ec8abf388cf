import {
  type AnyUpstream,
  type ErrorDetails,
  UpstreamBadStatusError,
  type UpstreamError,
  UpstreamFilteredError,
} from '../errors.ts';

/** What is known of a response, of which it is to be decided whether it is an error. */
export type ResponseBeginning = {
  readonly upstream: AnyUpstream;
  /** The URL of the request. */
  readonly url: URL;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The first characters of its body. */
  readonly beginning: string;
};

/** How some servers say that they expect HTTPS: nginx, Apache, Go. */
const EXPECTS_HTTPS =
  /plain HTTP request was sent to HTTPS port|speaking plain HTTP to an SSL-enabled server|sent an HTTP request to an HTTPS server/i;

/**
 * The error of a response that has no data of the upstream: a redirect, an HTML page, a status other than 200.
 *
 * @param details only for the log
 * @returns `undefined` for a response with data
 */
export function toResponseError(response: ResponseBeginning, details: ErrorDetails): UpstreamError | undefined {
  const { upstream, url, status, headers, beginning } = response;
  const retryAfterMs = readRetryAfter(headers['retry-after']);
  const badStatus = (meaning: string, more: ErrorDetails) =>
    new UpstreamBadStatusError(upstream, status, beginning, { ...details, ...more }, { retryAfterMs, meaning });

  if (status >= 300 && status < 400) {
    const redirectsTo = targetOf(headers['location'], url);
    if (redirectsTo !== undefined) return badStatus(', a redirect, which the gateway does not follow', { redirectsTo });
  }
  if (status === 400 && EXPECTS_HTTPS.test(beginning))
    return badStatus(' because it expects HTTPS', { hint: 'the configured URL should begin with https://' });
  // Not only filters send pages: nginx does when it wants a password, has no such path, or cannot reach the node.
  const isOfServer = status === 401 || status === 404 || status >= 500;
  if (!isOfServer && isPage(beginning.trimStart(), headers['content-type']))
    return new UpstreamFilteredError(
      upstream,
      status,
      { ...details, hint: 'or the URL is that of a website' },
      retryAfterMs,
    );

  const hint = status === 404 && { hint: 'the path of the configured URL may be wrong' };
  return status === 200 ? undefined : badStatus('', { ...hint });
}

/** A hint for the log if a connection has failed because a server with a URL of https or wss does not use TLS. */
export function tlsHintOf(error: unknown, { protocol }: URL): ErrorDetails {
  return /^(https|wss):$/.test(protocol) && error instanceof Error && error.message.includes('wrong version number')
    ? { hint: `the configured URL should perhaps begin with ${protocol.replace('s:', ':')}//` }
    : {};
}

/** Whether a body is an HTML page. Some hosts send JSON with the type of a page, and others a page with the type of JSON. */
function isPage(text: string, contentType: string | string[] | undefined): boolean {
  return text.startsWith('<') || (String(contentType).startsWith('text/html') && !/^[[{]/.test(text));
}

/** The target of a redirect without user, password, path and query: they may have secrets of the request. */
function targetOf(location: string | string[] | undefined, base: URL): string | undefined {
  const target = location === undefined ? null : URL.parse(String(location), base.origin);
  return target === null ? undefined : `${target.protocol}//${target.host}`;
}

/** `Retry-After`, in milliseconds: the header has whole seconds, or a date. */
function readRetryAfter(header: string | string[] | undefined): number | undefined {
  const text = String(header ?? '').trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return ms > 0 ? ms : undefined;
}
