import { expect, test } from 'vitest';
import { createLatencies, quantilesOf } from '../../soak/latencies.ts';

test('of the numbers 1 to 100 half lie below 51, and 99 below 100', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(quantilesOf(values)).toEqual({ p50: 51, p99: 100, max: 100 });
});

test('answers among trouble do not count where all was well', () => {
  const latencies = createLatencies();
  latencies.note('poller', 5, true);
  latencies.note('poller', 900, false);
  expect(latencies.of('poller').well).toEqual({ p50: 5, p99: 5, max: 5 });
  expect(latencies.of('poller').all.max).toBe(900);
  expect(latencies.of('nobody').all).toEqual({ p50: 0, p99: 0, max: 0 });
});
