import { describe, expect, test } from 'vitest';
import { judgeMemory, type Sample, slopeOf } from '../../soak/figures.ts';
import { createRandom } from '../../src/sandbox/chain/random.ts';

/** Samples of some minutes, 5 s apart, of a heap with a growth per hour and random noise. */
function samplesOf(minutes: number, growthMb: number, noiseMb: number): Sample[] {
  const random = createRandom('memory', growthMb);
  return Array.from({ length: minutes * 12 }, (_, index) => {
    const seconds = index * 5;
    const heapMb = 60 + (growthMb * seconds) / 3_600 + random.between(-noiseMb, noiseMb);
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

describe('a leak', () => {
  test('is not reported for noise', () => {
    expect(judgeMemory(samplesOf(30, 0, 3), 'heapMb').verdict).toBe('does not grow');
  });

  test('is reported for noise with a growth of 40 MB per hour', () => {
    expect(judgeMemory(samplesOf(30, 40, 3), 'heapMb').verdict).toBe('LEAKS');
  });

  test('is not judged after five minutes', () => {
    expect(judgeMemory(samplesOf(5, 400, 3), 'heapMb').verdict).toBe('not judged: the run is too short');
  });
});

test('the slope of a line is exact, and has no uncertainty', () => {
  const points = Array.from({ length: 12 }, (_, index) => ({ seconds: index * 300, value: 5 + index }));
  const slope = slopeOf(points);
  expect(slope?.perHour).toBeCloseTo(12, 9);
  expect(slope?.uncertainty).toBeCloseTo(0, 6);
});
