import { describe, expect, test } from 'vitest';
import { judgeMemory, type Sample, slopeOf } from '../../soak/figures.ts';
import { createRandom } from '../../src/sandbox/chain/random.ts';

/** Samples of so many minutes, 5 s apart, of a heap that grows so much an hour and wavers by so much. */
function samplesOf(minutes: number, growthMb: number, waveringMb: number): Sample[] {
  const random = createRandom('memory', growthMb);
  return Array.from({ length: minutes * 12 }, (_, index) => {
    const seconds = index * 5;
    const heapMb = 60 + (growthMb * seconds) / 3_600 + random.between(-waveringMb, waveringMb);
    return {
      seconds,
      heapMb,
      rssMb: 300,
      heapTotalMb: 100,
      buffersMb: 5,
      lagMs: { p50: 10, p99: 20, max: 30 },
      cpu: 0.5,
    };
  });
}

describe('is there a leak', () => {
  test('not where memory only wavers', () => {
    expect(judgeMemory(samplesOf(30, 0, 3), 'heapMb').verdict).toBe('does not grow');
  });

  test('yes where it wavers and grows by 40 MB an hour', () => {
    expect(judgeMemory(samplesOf(30, 40, 3), 'heapMb').verdict).toBe('LEAKS');
  });

  test('nobody can tell after five minutes', () => {
    expect(judgeMemory(samplesOf(5, 400, 3), 'heapMb').verdict).toBe('not judged: the run is too short');
  });
});

test('a line is told exactly, and without uncertainty', () => {
  const points = Array.from({ length: 12 }, (_, index) => ({ seconds: index * 300, value: 5 + index }));
  const slope = slopeOf(points);
  expect(slope?.perHour).toBeCloseTo(12, 9);
  expect(slope?.uncertainty).toBeCloseTo(0, 6);
});
