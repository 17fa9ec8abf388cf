import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { GraphiQLOptions } from 'graphql-yoga';
import { createFile, type Respond, type ServedFile, sendFile } from '../http/file-response.ts';
import { GRAPHIQL_TABS } from './graphiql-tabs.ts';

/** Quality 5 of 11 compresses nearly as well as 11 in a fraction of its time. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** The page by its title. All gateways of a process share the 11 MB of it. */
const pages = new Map<string, Promise<ServedFile>>();

/**
 * Creates the handler of GraphiQL. The page of 9 MB is rendered at the first request and sent compressed. A browser that has
 * it gets status 304. Pages of other origins cannot show it in a frame, where it would send operations for them.
 */
export function createGraphiqlHandler(title: string): Respond {
  return async (request, response) => {
    const page = pages.get(title) ?? renderPage(title);
    pages.set(title, page);
    sendFile(request, response, await page, { headers: HEADERS });
  };
}

const HEADERS = {
  vary: 'accept, accept-encoding, sec-fetch-mode',
  'content-security-policy': "frame-ancestors 'self'",
};

/** Says why there is no GraphiQL, in its place. */
export function handleNoGraphiql(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(403, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' });
  response.end(ONLY_PERSISTED);
}

const ONLY_PERSISTED = `GraphiQL is off: this gateway executes only persisted documents (PERSISTED_ONLY).
Programs send the id of a document as documentId. The schema is at /schema.graphql.
`;

async function renderPage(title: string): Promise<ServedFile> {
  const html = Buffer.from(await renderGraphiqlPage(title));
  const [br, gz] = await Promise.all([promisify(brotliCompress)(html, BROTLI), promisify(gzip)(html)]);
  const bodies = new Map([['br', br] as const, ['gzip', gz] as const, ['identity', html] as const]);
  return createFile('text/html; charset=utf-8', bodies);
}

/**
 * Renders the page of GraphiQL. It contains everything, 9 MB, so that it works without internet access. The package is loaded
 * at the first call.
 */
async function renderGraphiqlPage(title: string): Promise<string> {
  const options: GraphiQLOptions = {
    title,
    subscriptionsProtocol: 'WS',
    // Each result shows what its operation costs.
    additionalHeaders: { 'x-pdex-cost': '1' },
    defaultTabs: [...GRAPHIQL_TABS],
  };
  const { css, editorWorkerService, favicon, graphqlWorker, js, jsonWorker } = await import(
    '@graphql-yoga/render-graphiql/graphiql'
  );
  const start = readFileSync(new URL('graphiql-start.js', import.meta.url), 'utf8');
  const workers = { editorWorkerService, json: jsonWorker, graphql: graphqlWorker };

  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="icon" href="${favicon}">
    <style>${css}</style>
    <style>${OWN_CSS}</style>
  </head>
  <body class="no-focus-outline">
    <noscript>GraphiQL needs JavaScript.</noscript>
    <div id="root"></div>
    <script>
      const workers = ${JSON.stringify(workers)};
      for (const name in workers)
        workers[name] = URL.createObjectURL(new Blob([workers[name]], { type: 'application/javascript' }));
      self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_module, label) => workers[label] };
      ${js};
    </script>
    <script type="module">
      ${start}
      const options = ${JSON.stringify(options)};
      const startOptions = await toStartOptions(options).catch(() => options);
      YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), startOptions);
    </script>
  </body>
</html>
`;
}

// The styles of GraphiQL move a tab while it is pressed, so that the click can miss it. On a narrow screen, the panels are below
// each other.
const OWN_CSS = `
  html, body { margin: 0; height: 100%; }
  .graphiql-container { height: 100vh; height: 100dvh; }
  .graphiql-tab { transform: none !important; }
  @media (max-width: 720px) {
    .graphiql-container { --sidebar-width: 48px; }
    .graphiql-container .graphiql-sessions { margin: 8px 8px 8px 0; min-height: 0; }
    .graphiql-container .graphiql-plugin:not([style*="-1000px"]) {
      position: absolute; inset: 0 0 0 48px; z-index: 100; background: hsl(var(--color-base));
    }
    .graphiql-container #graphiql-session { flex-direction: column; min-height: 0; }
    .graphiql-container .graphiql-editors, .graphiql-container .graphiql-response { min-height: 0; }
    .graphiql-container .graphiql-logo { font-size: 12px; white-space: nowrap; }
    .graphiql-container .graphiql-logo svg { display: none; }
    .graphiql-container .graphiql-logo [style*="width: 40px"] { display: none !important; }
    .graphiql-horizontal-drag-bar { display: none; }
  }
`;

/**
 * Whether a browser opens this URL in a tab or window. The response is a page then, and no operation is executed, whatever the
 * URL contains. A frame of another page is not a tab: it is handled like any other request of that page.
 *
 * Browsers send `Sec-Fetch-Mode` and `Sec-Fetch-Dest`, but only to HTTPS and to this machine. Without them `Accept` decides:
 * browsers put `text/html` first.
 */
export function isNavigation({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination = 'document' } = headers;
  if (mode === undefined) return HTML_FIRST.test(headers.accept ?? '');
  return mode === 'navigate' && destination === 'document';
}

const HTML_FIRST = /^\s*text\/html\b(?!\s*;\s*q=0)/i;
