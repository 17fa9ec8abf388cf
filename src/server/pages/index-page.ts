import type { IncomingMessage } from 'node:http';
import { OPEN_API_PATH } from '../../rest/paths.ts';
import { GRAPHQL_PATH } from '../requests/http-exchange.ts';
import { BUILD_EXPLORER_COMMAND, type BuiltExplorer } from './explorer-files.ts';
import type { Respond } from './file-response.ts';
import { isNavigation } from './graphiql.ts';
import { HEALTH_PATH, READY_PATH } from './health.ts';

/** The path of the index, which links to all other pages. */
export const INDEX_PATH = '/';

/** The path of the schema in GraphQL's schema definition language. */
export const SCHEMA_PATH = '/schema.graphql';

type IndexOptions = {
  readonly version: string;
  readonly isSandbox: boolean;
  /** Browsers get the explorer in place of the index if it is there. */
  readonly explorer: BuiltExplorer;
  /** Whether browsers get GraphiQL. */
  readonly graphiql: boolean;
  /** How the paths of the REST API begin; `undefined` if it is off. */
  readonly restBase: string | undefined;
  /** Whether /health and /ready are on the same port. */
  readonly hasAdminPages: boolean;
};

type Link = { readonly path: string; readonly title: string; readonly text: string };

/** Creates the handler of `/`: HTML for browsers, plain text for clients that prefer it, otherwise JSON, with the same links. */
export function createIndex(options: IndexOptions): Respond {
  const links = linksOf(options);
  const page = { type: 'text/html; charset=utf-8', text: pageOf(options, links) };
  const plain = { type: 'text/plain; charset=utf-8', text: plainOf(options, links) };
  const json = { type: 'application/json', text: jsonOf(options, links) };

  function bodyFor(request: IncomingMessage) {
    if (isNavigation(request)) return page;
    return /^\s*text\/plain\b/i.test(request.headers.accept ?? '') ? plain : json;
  }

  return (request, response) => {
    const { type, text } = bodyFor(request);
    response.writeHead(200, {
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
      'cache-control': 'no-cache',
      vary: 'accept, sec-fetch-mode',
    });
    response.end(text);
  };
}

function linksOf({ explorer, graphiql, restBase, hasAdminPages }: IndexOptions): readonly Link[] {
  const hasExplorer = typeof explorer !== 'string';
  const restText = `Pairs, tickers, order books and trades below ${restBase}, for listing sites, described by OpenAPI.`;
  const page = (path: string, title: string, text: string, isThere = true) => (isThere ? [{ path, title, text }] : []);
  return [
    page(INDEX_PATH, 'Explorer', 'Markets, the chain and this gateway, live, in a browser.', hasExplorer),
    page(GRAPHQL_PATH, 'GraphiQL', 'Write queries and run them, with examples and live prices.', graphiql),
    page(`${GRAPHQL_PATH}#docs`, 'Documentation', 'Every type and field, in GraphiQL’s docs panel.', graphiql),
    page(SCHEMA_PATH, 'Schema', 'All types and fields as a file, for code generators.'),
    page(OPEN_API_PATH, 'REST', restText, restBase !== undefined),
    page(HEALTH_PATH, 'Health', 'Whether the process runs.', hasAdminPages),
    page(READY_PATH, 'Readiness', 'Whether the data is fresh, and if not, why.', hasAdminPages),
  ].flat();
}

const SENTENCE = 'A GraphQL API over a blockchain node and the market data of its exchange.';
const SANDBOX_SENTENCE = 'This is the sandbox: all data is simulated.';

function jsonOf({ version, isSandbox }: IndexOptions, links: readonly Link[]): string {
  const named = Object.fromEntries(links.map(({ title, path }) => [title.toLowerCase(), path]));
  const index = { name: 'pdex-gateway', version, sandbox: isSandbox, graphql: GRAPHQL_PATH, links: named };
  return `${JSON.stringify(index, null, 2)}\n`;
}

/** Why a browser gets the index in place of the explorer, and what to do. */
const MISSING_SENTENCE = `The explorer is not built. Run ${BUILD_EXPLORER_COMMAND}, and start the gateway again.`;

/** What a reader should know first. */
function notesOf({ isSandbox, explorer }: IndexOptions): readonly string[] {
  return [...(isSandbox ? [SANDBOX_SENTENCE] : []), ...(explorer === 'not built' ? [MISSING_SENTENCE] : [])];
}

function plainOf(options: IndexOptions, links: readonly Link[]): string {
  return [
    `pdex-gateway ${options.version}`,
    SENTENCE,
    ...notesOf(options),
    '',
    `${GRAPHQL_PATH}  GraphQL over HTTP (POST, GET), server-sent events and websockets.`,
    ...links.map(({ path, title, text }) => `${path}  ${title}. ${text}`),
    '',
  ].join('\n');
}

/** Links are relative, so that they work behind a proxy that adds a prefix. */
function pageOf(options: IndexOptions, links: readonly Link[]): string {
  const notes = notesOf(options).map((note) => `    <p class="note">${note}</p>\n`);
  const items = links.map(
    ({ path, title, text }) => `      <li><a href="${path.slice(1)}">${title}</a><br>${text}</li>\n`,
  );
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>pdex-gateway</title>
    <link rel="icon" href="data:,">
    <style>${CSS}</style>
  </head>
  <body>
    <main>
    <h1>pdex-gateway</h1>
    <p>${SENTENCE}</p>
${notes.join('')}    <nav aria-label="Pages">
    <ul>
${items.join('')}    </ul>
    </nav>
    <p>Programs send their queries to <code>${GRAPHQL_PATH}</code>, by POST or GET, as server-sent events or over a websocket.</p>
    <footer>Version ${options.version}</footer>
    </main>
  </body>
</html>
`;
}

const CSS = `
  :root { --text: #1b2430; --back: #fff; --link: #0b57d0; --quiet: #56606d; --note: #fff4d6; }
  @media (prefers-color-scheme: dark) {
    :root { --text: #e6e9ee; --back: #14181f; --link: #8ab4f8; --quiet: #a3adba; --note: #3d3417; }
  }
  body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
  main { max-width: 36rem; margin: 0 auto; padding: 3rem 1.25rem; }
  h1 { font-size: 1.75rem; margin: 0; }
  ul { list-style: none; padding: 0; }
  li { margin: 0 0 1rem; color: var(--quiet); }
  a { color: var(--link); font-weight: 600; }
  a:focus-visible { outline: 2px solid; outline-offset: 3px; }
  .note { background: var(--note); padding: .5rem .75rem; border-radius: .25rem; }
  footer { color: var(--quiet); margin-top: 2rem; }
`;
