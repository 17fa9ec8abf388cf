import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { isRead } from '../requests/http-exchange.ts';
import { BUILD_EXPLORER_COMMAND, EXPLORER_FOLDERS } from './explorer-files.ts';
import { createFile, HTML, type Respond, TEXT } from './file-response.ts';

/** The page, which all gateways of a process share. */
let page: Respond | undefined;

/**
 * Responds with GraphiQL. Its page is built with the explorer (`explorer/graphiql-page.ts`), and read at the first request. Pages
 * of other origins cannot show it in a frame, where it would send operations for them.
 */
export async function handleGraphiql(request: IncomingMessage, response: ServerResponse): Promise<void> {
  page ??= await readPage();
  (page ?? respondNotBuilt)(request, response);
}

const HEADERS = {
  vary: 'accept, accept-encoding, sec-fetch-mode',
  'content-security-policy': "frame-ancestors 'self'",
};

const NOT_BUILT = `GraphiQL is not built. Run ${BUILD_EXPLORER_COMMAND}, and load this page again.\n`;
const respondNotBuilt = createFile(TEXT, NOT_BUILT, { headers: HEADERS, status: 503 });

async function readPage(): Promise<Respond | undefined> {
  for (const folder of EXPLORER_FOLDERS) {
    const read = (name: string) => readFile(new URL(name, folder)).catch(() => undefined);
    const [br, gz] = await Promise.all([read('graphiql.html.br'), read('graphiql.html.gz')]);
    if (br === undefined || gz === undefined) continue;
    const bodies = { identity: await promisify(gunzip)(gz), br, gzip: gz };
    return createFile(HTML, bodies, { headers: HEADERS });
  }
  return undefined;
}

/**
 * Whether a browser opens this URL in a tab or window. The response is a page then, and no operation is executed, whatever the
 * URL contains. A frame of another page is not a tab: it is handled like any other request of that page.
 *
 * Browsers send `Sec-Fetch-Mode` and `Sec-Fetch-Dest`, but only to HTTPS and to this machine. Without them `Accept` decides:
 * browsers put `text/html` first. So does `HttpURLConnection` of Java, for which `image/gif` is the second.
 */
export function isNavigation(request: IncomingMessage): boolean {
  if (!isRead(request)) return false;
  const { accept = '', 'sec-fetch-mode': mode, 'sec-fetch-dest': destination = 'document' } = request.headers;
  if (mode === undefined) return HTML_FIRST.test(accept);
  return mode === 'navigate' && destination === 'document';
}

const HTML_FIRST = /^\s*text\/html\b(?!\s*;\s*q=0|\s*,\s*image\/gif)/i;
