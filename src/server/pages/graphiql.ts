import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { NAVIGATION_HEADERS } from '../requests/http-exchange.ts';
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
  vary: `accept-encoding, ${NAVIGATION_HEADERS}`,
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
