import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Packages are resolved as Node does it: with Vite's own conditions, graphql would be loaded twice.
  ssr: { resolve: { conditions: ['node', 'module-sync'], externalConditions: ['node', 'module-sync'] } },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    expect: { poll: { timeout: 10_000, interval: 20 } },
  },
});
