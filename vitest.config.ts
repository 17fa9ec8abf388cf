import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The system tests: they start browsers, servers of other programs or the gateway as a process, or wait until
 * failing upstreams reach a timeout. They take three times as long as the quick tests, which are all others.
 */
const SYSTEM_TESTS = [
  'test/{clients,deploy,examples,explorer,failure,fleet}/**/*.test.ts',
  'test/history/killed.test.ts',
  'test/library/docs.test.ts',
  'test/opentelemetry/start.test.ts',
  'test/package.test.ts',
  'test/sandbox/main.test.ts',
  'test/server/http/behind-a-cache.test.ts',
  'test/server/pages/graphiql.test.ts',
  'test/server/process-secrets.test.ts',
  'test/server/process.test.ts',
  'test/server/remote-subscribers.test.ts',
  'test/server/thousand-subscribers.test.ts',
  'test/start-flags.test.ts',
];

/**
 * The files that take longest start first: a long file that starts last keeps one worker busy alone. Those that mostly wait
 * stand between those that mostly work. The files with a thousand clients are the first and the last, to run apart.
 */
const LONGEST = [
  'remote-subscribers',
  'dockerfile',
  'history/killed',
  'package',
  'server/process',
  'library/docs',
  'no-response',
  'pages/graphiql',
  'clients/docs',
  'explorer/market',
  'explorer/markets',
  'explorer/leaks',
  'explorer/stale',
  'explorer/banner',
  'backfill',
  'history/branch',
  'history/stores',
  'behind-a-cache',
  'stalled-connections',
  'several-nodes',
  'slow-response',
  'status',
  'examples/swap',
  'request-rate',
  'opentelemetry/start',
  'one-url',
  'store-killed',
  'honest',
  'restart',
  'server/stopping',
  'foreign-pages',
  'recorder',
  'graphql/history',
  'start-flags',
  'execution/execute',
  'outages',
  'clients/codegen',
  'trade-direction',
  'sizes',
  'connection',
  'abusive',
  'slow-subscribers',
  'process-secrets',
  'state-reader',
  'sandbox/main',
  'thousand-subscribers',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return place < 0 ? LONGEST.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  // Packages are resolved as Node does it: with Vite's own conditions, graphql would be loaded twice.
  ssr: { resolve: { conditions: ['node', 'module-sync'], externalConditions: ['node', 'module-sync'] } },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'quick', include: ['test/**/*.test.ts', 'explorer/test/**/*.test.ts'], exclude: SYSTEM_TESTS },
      },
      { extends: true, test: { name: 'system', include: SYSTEM_TESTS } },
    ],
    // A worker loads the gateway once, not once for each file: that takes a second.
    isolate: false,
    // More than CI has cores: half of the tests wait for a timeout or for another process.
    maxWorkers: Math.max(4, availableParallelism()),
    sequence: { sequencer: LongestFirst },
    // Only for what hangs: on a busy machine, everything takes ten times as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
  },
});
