import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Service } from '../../graphql/context.ts';
import type { Log } from '../../logging/log.ts';
import { NAVIGATION_HEADERS } from '../requests/http-exchange.ts';
import { createFile, HTML, type Respond } from './file-response.ts';

/** The built explorer. */
export type ExplorerFiles = {
  /** The HTML of the page, which is the same for all paths of the explorer. */
  readonly page: string;
  /** What responds with all other files, by the paths of their URLs. */
  readonly assets: ReadonlyMap<string, Respond>;
};

/** What browsers get at `/`: the explorer, or the index if it is not built or off. */
export type BuiltExplorer = ExplorerFiles | 'not built' | 'off';

/** Where the build of the package, or else that of a checkout, has written the explorer and GraphiQL. */
export const EXPLORER_FOLDERS = [
  new URL('explorer/', import.meta.url),
  new URL('../../../explorer/dist/', import.meta.url),
];

/** Builds the explorer in a checkout. The package contains it. */
export const BUILD_EXPLORER_COMMAND = '“npm ci && npm run build -w explorer”';

/** How the paths of the files begin whose names contain a hash of their content. */
const ASSETS_PREFIX = '/assets/';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/**
 * Reads the built explorer from its folder. With the URL at which it is public, the paths in the metadata of the page become URLs:
 * programs that show previews of links load no picture from a path. The `Host` of a request could be that of an attacker, in a cache.
 *
 * @returns `undefined` if there is none
 */
export async function readExplorerFiles(folder: URL, publicUrl?: URL): Promise<ExplorerFiles | undefined> {
  const contents = await readFolder(fileURLToPath(folder));
  const page = contents.get('/index.html')?.toString();
  if (page === undefined) return undefined;
  const assets = [...contents].flatMap(([path, identity]) => {
    if (/^\/index\.html|\.(?:br|gz)$/.test(path)) return [];
    const bodies = { identity, br: contents.get(`${path}.br`), gzip: contents.get(`${path}.gz`) };
    const options = { headers: FILE_HEADERS, isImmutable: path.startsWith(ASSETS_PREFIX) };
    return [[path, createFile(TYPES[extname(path)] ?? 'application/octet-stream', bodies, options)] as const];
  });
  const html = publicUrl ? page.replaceAll(' content="/', ` content="${publicUrl.origin}/`) : page;
  return { page: html, assets: new Map(assets) };
}

/**
 * Reads the built explorer if it is on. It sends operations as texts, so it is off if only persisted documents are executed. The
 * gateway also starts without a build.
 */
export async function readExplorer(
  options: { readonly explorer: boolean; readonly persistedOnly: boolean; readonly publicUrl: URL | undefined },
  log: Log,
): Promise<BuiltExplorer> {
  if (!options.explorer || options.persistedOnly) return 'off';
  for (const folder of EXPLORER_FOLDERS) {
    const files = await readExplorerFiles(folder, options.publicUrl);
    if (files !== undefined) return files;
  }
  log.warn(`the explorer is not built: run ${BUILD_EXPLORER_COMMAND}, then start the gateway again`);
  return 'not built';
}

/**
 * The content of each file of a folder and its subfolders, by its path in URLs; nothing if there is no such folder. GraphiQL's
 * page is left out: `graphiql.ts` reads it when it is requested.
 */
async function readFolder(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('graphiql.html'))
    .map(({ parentPath, name }) => join(parentPath, name));
  const toUrlPath = (path: string) => `/${relative(folder, path).split(sep).join('/')}`;
  return new Map(await Promise.all(paths.map(async (path) => [toUrlPath(path), await readFile(path)] as const)));
}

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
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

const FILE_HEADERS = { ...SECURITY_HEADERS, vary: 'accept-encoding' };

/** A program gets something else at some of the paths of the page. */
const PAGE_HEADERS = { ...SECURITY_HEADERS, vary: `accept-encoding, ${NAVIGATION_HEADERS}` };

/**
 * Creates the explorer: a page for browsers at several paths, and the files that it loads. Every path is compared with known ones,
 * so that no path leads out of the folder of its files.
 */
export function createExplorer({ page: html, assets }: ExplorerFiles, service: Service) {
  const bodies = bodiesOf(html, service);
  const page = createFile(HTML, bodies, { headers: PAGE_HEADERS });
  const notFound = createFile(HTML, bodies, { headers: PAGE_HEADERS, status: 404 });

  return {
    page,
    /** What responds at a path other than `/`: the page or a file; `undefined` elsewhere. */
    at: (path: string) => (PAGE_PATH.test(path) ? page : assets.get(path)),
    /**
     * What responds to a browser that opens any other path: the page with status 404, which says that there is nothing. `undefined`
     * for a file: a page that was open during an update may request one of the previous version.
     */
    notFoundAt: (path: string) => (path.startsWith(ASSETS_PREFIX) ? undefined : notFound),
  };
}

/**
 * The page with what is known of the gateway before any request, as `<html data-notices="sandbox history">`: so the explorer draws
 * its banner with everything else, and nothing moves when the status of the gateway arrives.
 */
function bodiesOf(html: string, { isSandbox, configured, sources }: Service) {
  const notices = [
    ...(configured.NODE ? [] : ['NODE']),
    ...(configured.MARKET_DATA ? [] : ['MARKET_DATA']),
    ...(sources.history.status().state === 'off' ? ['history'] : []),
    ...(isSandbox ? ['sandbox'] : []),
  ];
  const page = notices.length === 0 ? html : html.replace('<html', `<html data-notices="${notices.join(' ')}"`);
  return { identity: Buffer.from(page), br: brotliCompressSync(page), gzip: gzipSync(page) };
}
