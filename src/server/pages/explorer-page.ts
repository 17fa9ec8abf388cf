import type { OutgoingHttpHeaders } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Service } from '../../graphql/context.ts';
import { ASSETS_PREFIX, type ExplorerFiles } from './explorer-files.ts';
import { createFile, type Encoding, type Respond, type ServedFile, sendFile } from './file-response.ts';

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
export const PAGE_PATHS = [
  ...['/', '/market/:tickerId', '/pool/:poolId', '/chain', '/chain/blocks', '/chain/blocks/:height', '/tokens'],
  '/status',
] as const;

/** Matches all but `/`, each with or without a slash at its end. */
const PAGE_PATH = new RegExp(
  `^(?:${PAGE_PATHS.slice(1)
    .map((path) => path.replace(/:\w+/, '[^/]+'))
    .join('|')})/?$`,
);

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
export function createExplorer({ page: built, assets }: ExplorerFiles, service: Service): Explorer {
  const page = withNotices(built, service);
  const fileHeaders = { ...SECURITY_HEADERS, vary: 'accept-encoding' };
  // A program gets something else at some of the paths of the page.
  const pageHeaders = { ...SECURITY_HEADERS, vary: 'accept, accept-encoding, sec-fetch-mode' };
  const respondWith =
    (file: ServedFile, headers: OutgoingHttpHeaders, status = 200): Respond =>
    (request, response) =>
      sendFile(request, response, file, { headers, status });
  const respondWithPage = respondWith(page, pageHeaders);

  return {
    page: respondWithPage,
    at(path) {
      const file = assets.get(path);
      return PAGE_PATH.test(path) ? respondWithPage : file && respondWith(file, fileHeaders);
    },
    notFoundAt: (path) => (path.startsWith(ASSETS_PREFIX) ? undefined : respondWith(page, pageHeaders, 404)),
  };
}

/**
 * The page with what is known of the gateway before any request, as `<html data-notices="sandbox history">`: so the explorer draws
 * its banner with everything else, and nothing moves when the status of the gateway arrives.
 */
function withNotices(page: ServedFile, { isSandbox, configured, sources }: Service): ServedFile {
  const notices = [
    ...(configured.NODE ? [] : ['NODE']),
    ...(configured.MARKET_DATA ? [] : ['MARKET_DATA']),
    ...(sources.history.status().state === 'off' ? ['history'] : []),
    ...(isSandbox ? ['sandbox'] : []),
  ];
  if (notices.length === 0) return page;
  const html = String(page.bodies.get('identity')).replace('<html', `<html data-notices="${notices.join(' ')}"`);
  const encodings = { identity: Buffer.from(html), br: brotliCompressSync(html), gzip: gzipSync(html) };
  return createFile(page.type, new Map(Object.entries(encodings) as [Encoding, Buffer][]));
}
