import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Tests of the explorer in a browser: one file at a time. */
export const BROWSERS = ['test/explorer/**/*.test.ts', 'test/server/pages/explorer.test.ts'];

/**
 * Tests that start other processes, and those of other pages in a browser: one file at a time. `test/architecture.test.ts` finds any
 * that is missing.
 */
export const PROCESSES = [
  'test/{deploy,examples}/**/*.test.ts',
  'test/clients/{codegen,docs,java,persisted-documents,relay}.test.ts',
  'test/failure/{proxies,push-over-tls}.test.ts',
  'test/library/docs.test.ts',
  'test/tracing/start.test.ts',
  'test/package.test.ts',
  'test/sandbox/main.test.ts',
  'test/server/clients/foreign-pages.test.ts',
  'test/server/http/{behind-a-cache,event-source}.test.ts',
  'test/server/metrics/metrics.test.ts',
  'test/server/operations/persisted-documents.test.ts',
  'test/server/pages/{graphiql,index-page}.test.ts',
  'test/server/requests/stalled.test.ts',
  'test/server/{process,process-secrets,remote-subscribers}.test.ts',
  'test/soak/figures.test.ts',
  'test/start-flags.test.ts',
];

/** Tests with Redis, PostgreSQL or a large file of SQLite: one file at a time. */
export const DATABASES = [
  'test/fleet/**/*.test.ts',
  'test/history/{default-file,killed,postgres-store,sqlite-store,store-killed,stores,upgrade}.test.ts',
];

/** Tests that wait until a failing upstream reaches a timeout, or have a thousand clients. They run beside the others. */
const SLOW = ['test/{clients,failure}/**/*.test.ts', 'test/server/thousand-subscribers.test.ts'];

// Processes that tests start load what an earlier one has compiled. `src/start.js` uses the same folder.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

export default defineConfig({
  // Packages are resolved as Node does it: with Vite's own conditions, graphql would be loaded twice.
  ssr: { resolve: { conditions: ['node', 'module-sync'], externalConditions: ['node', 'module-sync'] } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts', 'explorer/test/**/*.test.ts'],
          exclude: [...SLOW, ...PROCESSES, ...DATABASES, ...BROWSERS],
        },
      },
      { extends: true, test: { name: 'slow', include: SLOW, exclude: PROCESSES } },
      // `groupOrder` is only for `npm run test:all`: `test/run-system.ts` starts each project alone.
      { extends: true, test: { name: 'processes', include: PROCESSES, maxWorkers: 1, sequence: { groupOrder: 1 } } },
      { extends: true, test: { name: 'databases', include: DATABASES, maxWorkers: 1, sequence: { groupOrder: 1 } } },
      { extends: true, test: { name: 'browsers', include: BROWSERS, maxWorkers: 1, sequence: { groupOrder: 2 } } },
    ],
    // A worker loads the gateway once, not once for each file: that takes a second.
    isolate: false,
    // More than CI has cores: half of the tests wait for a timeout or for another process.
    maxWorkers: Math.max(4, availableParallelism()),
    // Only for what hangs: on a busy machine, everything takes ten times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
  },
});
