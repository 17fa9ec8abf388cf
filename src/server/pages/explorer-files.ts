import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Log } from '../../logging/log.ts';
import { createFile, type Encoding, type ServedFile } from './file-response.ts';

/** The built explorer. */
export type ExplorerFiles = {
  /** The page, which is the same for all paths of the explorer. */
  readonly page: ServedFile;
  /** All other files, by the paths of their URLs. */
  readonly assets: ReadonlyMap<string, ServedFile>;
};

/** What browsers get at `/`: the explorer, or the index if it is not built or off. */
export type BuiltExplorer = ExplorerFiles | 'not built' | 'off';

/** Where the build of the package, or else that of a checkout, has written the explorer and GraphiQL. */
export const EXPLORER_FOLDERS = [
  new URL('explorer/', import.meta.url),
  new URL('../../../explorer/dist/', import.meta.url),
];

/** How the paths of the files begin whose names contain a hash of their content. */
export const ASSETS_PREFIX = '/assets/';

/** Builds the explorer in a checkout. The package contains it. */
export const BUILD_EXPLORER_COMMAND = '“npm ci && npm run build -w explorer”';

const PAGE_PATH = '/index.html';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

const UNKNOWN_TYPE = 'application/octet-stream';

/** What the build adds to the name of a compressed file. */
const ENDINGS = { br: '.br', gzip: '.gz' } as const;

/**
 * Reads the built explorer from its folder. With the URL at which it is public, the paths in the metadata of the page become URLs:
 * programs that show previews of links load no picture from a path. The `Host` of a request could be that of an attacker, in a cache.
 *
 * @returns `undefined` if there is none
 */
export async function readExplorerFiles(folder: URL, publicUrl?: URL): Promise<ExplorerFiles | undefined> {
  const contents = await readFolder(fileURLToPath(folder));
  if (publicUrl && contents.has(PAGE_PATH)) {
    const html = String(contents.get(PAGE_PATH)).replaceAll(' content="/', ` content="${publicUrl.origin}/`);
    contents.set(PAGE_PATH, Buffer.from(html));
    contents.set(PAGE_PATH + ENDINGS.br, brotliCompressSync(html)).set(PAGE_PATH + ENDINGS.gzip, gzipSync(html));
  }
  const paths = [...contents.keys()].filter((path) => !isCompressed(path, contents));
  const files = new Map(paths.map((path) => [path, toFile(path, contents)]));
  const page = files.get(PAGE_PATH);
  files.delete(PAGE_PATH);
  return page && { page, assets: files };
}

/** Whether browsers get the explorer. */
type ExplorerOptions = {
  readonly explorer: boolean;
  readonly persistedOnly: boolean;
  readonly publicUrl: URL | undefined;
};

/**
 * Reads the built explorer if it is on. It sends operations as texts, so it is off if only persisted documents are executed. The
 * gateway also starts without a build.
 */
export async function readExplorer(options: ExplorerOptions, log: Log): Promise<BuiltExplorer> {
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
async function readFolder(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('graphiql.html'))
    .map(({ parentPath, name }) => join(parentPath, name));
  const toUrlPath = (path: string) => `/${relative(folder, path).split(sep).join('/')}`;
  return new Map(await Promise.all(paths.map(async (path) => [toUrlPath(path), await readFile(path)] as const)));
}

function isCompressed(path: string, contents: ReadonlyMap<string, Buffer>): boolean {
  return Object.values(ENDINGS).some((ending) => path.endsWith(ending) && contents.has(path.slice(0, -ending.length)));
}

function toFile(path: string, contents: ReadonlyMap<string, Buffer>): ServedFile {
  const type = TYPES[extname(path)] ?? UNKNOWN_TYPE;
  const named = {
    identity: contents.get(path),
    br: contents.get(path + ENDINGS.br),
    gzip: contents.get(path + ENDINGS.gzip),
  };
  const bodies = new Map<Encoding, Buffer>();
  for (const [encoding, body] of Object.entries(named)) if (body) bodies.set(encoding as Encoding, body);
  return path.startsWith(ASSETS_PREFIX) ? { type, bodies, etags: undefined } : createFile(type, bodies);
}
