import {
  type ErrorDetails,
  type Upstream,
  UpstreamBadStatusError,
  type UpstreamError,
  UpstreamFilteredError,
} from '../errors.ts';

/** What the gateway knows of a response that may be no answer. */
export type ResponseBeginning = {
  readonly upstream: Upstream;
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
 * The error of a response that is no answer of the upstream: a redirect, a page, a status other than 200.
 *
 * @param details what the log is told beside it
 * @returns `undefined` for an answer
 */
export function toRefusal(response: ResponseBeginning, details: ErrorDetails): UpstreamError | undefined {
  const { upstream, url, status, headers, beginning } = response;
  const retryAfterMs = readRetryAfter(headers['retry-after']);
  const badStatus = (meaning: string, more: ErrorDetails) =>
    new UpstreamBadStatusError(upstream, status, beginning, { ...details, ...more }, { retryAfterMs, meaning });

  if (status >= 300 && status < 400) {
    const redirectsTo = originOf(headers['location'], url);
    if (redirectsTo !== undefined) return badStatus(', a redirect, which the gateway does not follow', { redirectsTo });
  }
  if (status === 400 && EXPECTS_HTTPS.test(beginning))
    return badStatus(' because it expects HTTPS', { hint: 'the configured URL should begin with https://' });
  if (isPageType(headers['content-type']) || isPage(beginning))
    return new UpstreamFilteredError(upstream, status, details, retryAfterMs);

  return status === 200 ? undefined : badStatus('', {});
}

/** Whether a content type is that of a page meant for a person. */
export function isPageType(contentType: string | string[] | undefined): boolean {
  return String(contentType ?? '').startsWith('text/html');
}

function isPage(text: string): boolean {
  return text.trimStart().startsWith('<');
}

/** Where a redirect leads, without name, password, path and query: they may hold what the request held. */
function originOf(location: string | string[] | undefined, base: URL): string | undefined {
  const target = location === undefined ? null : URL.parse(String(location), base.origin);
  return target === null ? undefined : `${target.protocol}//${target.host}`;
}

/** How long an upstream asks not to be called: in whole seconds, or until a date. */
function readRetryAfter(header: string | string[] | undefined): number | undefined {
  const text = String(header ?? '').trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return ms > 0 ? ms : undefined;
}
