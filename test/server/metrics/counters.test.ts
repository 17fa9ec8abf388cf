import fc from 'fast-check';
import { Counter, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createCounters, createHistograms } from '../../../src/server/metrics/counters.ts';

const BUCKETS = [0.001, 0.01, 0.1, 1];
const REQUESTS = { name: 'requests_total', help: 'Requests.', labelNames: ['endpoint', 'status'] };
const SECONDS = { name: 'request_seconds', help: 'Seconds.', labelNames: ['endpoint'], buckets: BUCKETS };

const seconds = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom(0, ...BUCKETS, 2),
  fc.double({ min: 0, max: 2, noNaN: true }),
);
const answered = fc.record({ endpoint: fc.constantFrom('a', 'b'), status: fc.constantFrom(200, 304, 500), seconds });

test('fast counters have the same output as those of prom-client', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(answered), async (all) => {
      const ours = new Registry();
      const counts = createCounters(REQUESTS, ours);
      const times = createHistograms(SECONDS, ours);
      const theirs = new Registry();
      const registers = [theirs];
      const counter = new Counter({ ...REQUESTS, registers });
      const histogram = new Histogram({ ...SECONDS, registers });
      for (const { endpoint, status, seconds: took } of all) {
        counts(endpoint, status).inc();
        counter.inc({ endpoint, status });
        if (took === undefined) continue;
        times(endpoint).observe(took);
        histogram.observe({ endpoint }, took);
      }
      const lines = async (registry: Registry) => (await registry.metrics()).split('\n').sort();
      expect(await lines(ours)).toEqual(await lines(theirs));
    }),
  );
});
