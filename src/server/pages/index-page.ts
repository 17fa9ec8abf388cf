import { OPEN_API_PATH } from '../../rest/rest-api.ts';
import { GRAPHQL_PATH, isNavigation, NAVIGATION_HEADERS } from '../requests/http-exchange.ts';
import { BUILD_EXPLORER_COMMAND, type BuiltExplorer } from './explorer-files.ts';
import { createFile, HTML, type Respond } from './file-response.ts';
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
  readonly graphiql: boolean;
  /** How the paths of the REST API begin; `undefined` if it is off. */
  readonly restBase: string | undefined;
  /** Whether /health and /ready are on the same port. */
  readonly hasAdminPages: boolean;
};

/** Creates the handler of `/`: HTML for browsers, and JSON for programs, with the same links. */
export function createIndex(options: IndexOptions): Respond {
  const { version, isSandbox } = options;
  const links = linksOf(options);
  const named = Object.fromEntries(links.map(({ title, path }) => [title.toLowerCase(), path]));
  const index = { name: 'pdex-gateway', version, sandbox: isSandbox, graphql: GRAPHQL_PATH, links: named };
  const page = createFile(HTML, pageOf(options, links), { headers: HEADERS });
  const json = createFile('application/json', `${JSON.stringify(index, null, 2)}\n`, { headers: HEADERS });
  return (request, response) => (isNavigation(request) ? page : json)(request, response);
}

const HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
  vary: NAVIGATION_HEADERS,
};

function linksOf({ explorer, graphiql, restBase, hasAdminPages }: IndexOptions) {
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

/** Links are relative, so that they work behind a proxy that adds a prefix. */
function pageOf({ version, isSandbox, explorer }: IndexOptions, links: ReturnType<typeof linksOf>): string {
  const sentences = [
    'A GraphQL API over a blockchain node and the market data of its exchange.',
    ...(isSandbox ? ['This is the sandbox: all data is simulated.'] : []),
    ...(explorer === 'not built'
      ? [`The explorer is not built. Run ${BUILD_EXPLORER_COMMAND}, and start the gateway again.`]
      : []),
    `Programs send their queries to ${GRAPHQL_PATH}, by POST or GET, as server-sent events or over a websocket.`,
  ];
  const items = links.map(({ path, title, text }) => `<li><a href="${path.slice(1)}">${title}</a>: ${text}</li>`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<style>:root { background: Canvas; font: 1rem/1.5 system-ui }</style>
<title>pdex-gateway</title>
<main>
<h1>pdex-gateway ${version}</h1>
<p>${sentences.join('</p>\n<p>')}</p>
<ul>
${items.join('\n')}
</ul>
</main>
</html>
`;
}
