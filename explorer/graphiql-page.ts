import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  css,
  editorWorkerService,
  favicon,
  graphqlWorker,
  js,
  jsonWorker,
} from '@graphql-yoga/render-graphiql/graphiql';
import { rolldown } from 'rolldown';
import type { Plugin } from 'vite';
import { writeCompressed } from './compress-files.ts';

/** The sources of the page. */
const FOLDER = join(import.meta.dirname, 'src/graphiql');

/** For 9 MB, the best quality of Brotli takes 14 s instead of 1 s, and is 8 % smaller. */
const BROTLI_QUALITY = 9;

/**
 * Writes the page of GraphiQL, which the gateway serves at its endpoint. The page contains everything, 9 MB, so that it works
 * without internet access and at any path. It is written compressed only.
 */
export function graphiqlPage(): Plugin {
  return {
    name: 'graphiql-page',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      await writeCompressed(join(dir, 'graphiql.html'), Buffer.from(await renderPage()), BROTLI_QUALITY);
    },
  };
}

async function renderPage(): Promise<string> {
  const workers = { editorWorkerService, json: jsonWorker, graphql: graphqlWorker };

  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>pdex-gateway</title>
    <link rel="icon" href="${favicon}">
    <style>${css}</style>
    <style>${await readFile(join(FOLDER, 'page.css'), 'utf8')}</style>
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
      ${await bundleStart()}
    </script>
  </body>
</html>
`;
}

async function bundleStart(): Promise<string> {
  const bundle = await rolldown({ input: join(FOLDER, 'start.ts') });
  const { output } = await bundle.generate();
  return output[0].code;
}
