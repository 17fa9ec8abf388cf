import react from '@vitejs/plugin-react';
import { defineConfig, type ProxyOptions } from 'vite';
import { compressFiles } from './compress-files.ts';
import { graphiqlPage } from './graphiql-page.ts';

/** The gateway that answers the requests of the page during development. */
const gateway = new URL(process.env['GATEWAY_URL'] ?? 'http://127.0.0.1:4000');

/** The paths that the gateway answers itself; all others are pages and files of the explorer. */
const GATEWAY_PATHS = ['/graphql', '/schema.graphql', '/openapi.json', '/api', '/health', '/ready', '/metrics'];

/** Without the gateway's own origin, it would refuse the page of the development server as foreign. */
const proxy: ProxyOptions = {
  target: gateway.origin,
  changeOrigin: true,
  ws: true,
  headers: { origin: gateway.origin },
};

/** Two files for what several pages use. By itself, the build would make one for each set of pages: 15 for the first page. */
const FILES = [
  { name: 'index', tags: ['$initial' as const] },
  { name: 'shared', test: /src[\\/](app|client|format|parts)[\\/]/, minShareCount: 2 },
];

export default defineConfig(({ command }) => {
  // In the environment of a test, for example, the build would contain React as it is for development.
  if (command === 'build') process.env['NODE_ENV'] = 'production';
  return {
    plugins: [react(), compressFiles(), graphiqlPage()],
    server: { proxy: Object.fromEntries(GATEWAY_PATHS.map((path) => [`^${path}(?=$|[/?])`, proxy])) },
    build: {
      outDir: 'dist',
      // The Content-Security-Policy of the gateway allows no data: URLs.
      assetsInlineLimit: 0,
      rolldownOptions: { output: { codeSplitting: { groups: FILES } } },
    },
  };
});
