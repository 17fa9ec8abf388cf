import type { IncomingMessage, ServerResponse } from 'node:http';
import { acceptedEncoding, type Encoding } from '../http/accepted-encoding.ts';
import { hasEtag } from '../http/http-caching.ts';
import { ASSETS_PREFIX, type ExplorerFile, type ExplorerFiles } from './explorer-files.ts';

/** Responds with a file of the explorer. */
type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** The explorer: a page for browsers at several paths, and the files that it loads. */
export type Explorer = {
  /** Responds with the page. */
  readonly page: Respond;
  /** What responds at a path other than `/`: the page or a file; `undefined` elsewhere. */
  at(path: string): Respond | undefined;
  /**
   * What responds to a browser that opens any other path: the page with status 404, which says that there is nothing. `undefined`
   * for a file: a page that was open during an update may request one of the previous version.
   */
  notFoundAt(path: string): Respond | undefined;
};

/** The paths of the page, as the router of the explorer has them. */
export const PAGE_PATHS = ['/', '/market/:tickerId', '/pool/:poolId', '/chain', '/tokens', '/status'] as const;

/** Matches all but `/`, each with or without a slash at its end. */
const PAGE_PATH = new RegExp(
  `^(?:${PAGE_PATHS.slice(1)
    .map((path) => path.replace(/:\w+/, '[^/]+'))
    .join('|')})/?$`,
);

const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Only the gateway's own files are loaded, and only its own API is requested. No other page can show the explorer in a frame. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join('; ');

const SECURITY_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

/** Creates the explorer of its files. Every path is compared with known ones, so that no path leads out of its folder. */
export function createExplorer({ page, assets }: ExplorerFiles): Explorer {
  const responds = new Map([...assets].map(([path, file]) => [path, respondWith(file)]));
  // A program gets something else at some of these paths.
  const vary = 'accept, accept-encoding, sec-fetch-mode';
  const sendPage = respondWith(page, { vary });
  const sendNotFound = respondWith(page, { vary, status: 404 });

  return {
    page: sendPage,
    at: (path) => (PAGE_PATH.test(path) ? sendPage : responds.get(path)),
    notFoundAt: (path) => (path.startsWith(ASSETS_PREFIX) ? undefined : sendNotFound),
  };
}

type Options = { readonly status?: number; readonly vary?: string };

/** Sends a file in the best encoding that it has and the client accepts, or 304 if the client already has it. */
function respondWith(
  { type, bodies, etags }: ExplorerFile,
  { status = 200, vary = 'accept-encoding' }: Options = {},
): Respond {
  return (request, response) => {
    const encoding = encodingOf(request, bodies);
    const body = bodies.get(encoding) ?? Buffer.alloc(0);
    const etag = etags?.get(encoding);
    const caching = { vary, 'cache-control': etag === undefined ? IMMUTABLE : 'no-cache', ...(etag && { etag }) };
    if (etag !== undefined && status === 200 && hasEtag(request, etag)) {
      response.writeHead(304, { ...SECURITY_HEADERS, ...caching }).end();
      return;
    }
    response.writeHead(status, {
      ...SECURITY_HEADERS,
      ...caching,
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
      'content-type': type,
      'content-length': body.length,
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
}

function encodingOf(request: IncomingMessage, bodies: ExplorerFile['bodies']): Encoding {
  const accepted = acceptedEncoding(request);
  return bodies.has(accepted) ? accepted : 'identity';
}
