import { readFileSync } from 'node:fs';
import type { GraphiQLOptions } from 'graphql-yoga';
import { GRAPHIQL_TABS } from './graphiql-tabs.ts';

/**
 * Renders the page of GraphiQL. It contains everything, 9 MB, so that it works without internet access. The package is loaded
 * at the first call.
 */
export async function renderGraphiqlPage(title: string): Promise<string> {
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
