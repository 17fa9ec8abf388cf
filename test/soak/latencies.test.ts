import { expect, test } from 'vitest';
import { createLatencies, quantilesOf } from '../../soak/latencies.ts';

test('the quantiles of the numbers 1 to 100', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(quantilesOf(values)).toEqual({ p50: 51, p99: 100, max: 100 });
});

test('responses during faults do not count as fault-free', () => {
  const latencies = createLatencies();
  latencies.record('poller', 5, true);
  latencies.record('poller', 900, false);
  expect(latencies.of('poller').faultFree).toEqual({ p50: 5, p99: 5, max: 5 });
  expect(latencies.of('poller').all.max).toBe(900);
  expect(latencies.of('unknown').all).toEqual({ p50: 0, p99: 0, max: 0 });
});
