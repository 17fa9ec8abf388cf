import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayProcess } from './gateway-process.ts';

/** Memory and CPU of the gateway process at one moment. */
export type Sample = {
  /** Seconds since the start. */
  readonly seconds: number;
  /** Heap in use after garbage collection, in megabytes. */
  readonly heapMb: number;
  readonly rssMb: number;
  /** Resident memory of V8's heap, including free pages. */
  readonly heapTotalMb: number;
  readonly buffersMb: number;
  /** Event-loop lag since the previous sample, in milliseconds. */
  readonly lagMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Share of one core since the previous sample. */
  readonly cpu: number;
};

/** Takes samples of a process. */
type Sampler = {
  readonly samples: readonly Sample[];
  take(): Promise<void>;
};

const MB = 2 ** 20;

/** Creates a sampler of the gateway process. */
export function createSampler(gateway: GatewayProcess): Sampler {
  const start = performance.now();
  const samples: Sample[] = [];
  let cpuBefore = 0;
  let secondsBefore = 0;

  return {
    samples,
    async take() {
      // The lag is read before the garbage collection, and reset after it: the pause is caused by the soak test.
      const metrics = await gateway.metrics();
      const { heapUsed, heapTotal, external, rss } = await gateway.memory();
      await sleep(100);
      await gateway.metrics();

      const seconds = (performance.now() - start) / 1_000;
      const cpu = metrics.sum('process_cpu_seconds_total');
      const lagOf = (name: string) => metrics.sum(`nodejs_eventloop_lag_${name}_seconds`) * 1_000;
      samples.push({
        seconds,
        heapMb: heapUsed / MB,
        rssMb: rss / MB,
        heapTotalMb: heapTotal / MB,
        buffersMb: external / MB,
        lagMs: { p50: lagOf('p50'), p99: lagOf('p99'), max: lagOf('max') },
        cpu: (cpu - cpuBefore) / (seconds - secondsBefore),
      });
      cpuBefore = cpu;
      secondsBefore = seconds;
    },
  };
}

/** The slope of a line through samples, per hour. The uncertainty is two standard errors. */
type Slope = { readonly perHour: number; readonly uncertainty: number };

/** Fits a line by least squares. `undefined` for fewer than 10 points. */
export function slopeOf(points: readonly { readonly seconds: number; readonly value: number }[]): Slope | undefined {
  if (points.length < 10) return undefined;

  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const meanX = mean(points.map(({ seconds }) => seconds));
  const meanY = mean(points.map(({ value }) => value));
  const variance = points.reduce((sum, { seconds }) => sum + (seconds - meanX) ** 2, 0);
  const slope = points.reduce((sum, { seconds, value }) => sum + (seconds - meanX) * (value - meanY), 0) / variance;
  const errors = points.map(({ seconds, value }) => (value - meanY - slope * (seconds - meanX)) ** 2);
  const deviation = Math.sqrt(errors.reduce((sum, error) => sum + error, 0) / (points.length - 2) / variance);
  return { perHour: slope * 3_600, uncertainty: 2 * deviation * 3_600 };
}

/** Memory at the start and at the end, its slope in the second half, and the verdict. */
export type MemoryVerdict = {
  readonly startMb: number;
  readonly endMb: number;
  readonly slope: Slope | undefined;
  readonly verdict: 'does not grow' | 'LEAKS' | 'not judged: the run is too short';
};

/** Minimum duration of the second half. The first half is for warming up: code is compiled, caches fill. */
const MIN_JUDGED_SECONDS = 240;

/** Maximum growth that may be chance, or has a reason such as a longer chain, in megabytes per hour. */
const ALLOWED_GROWTH = { heapMb: 15, rssMb: 60 } as const;

/** Judges the samples of one kind of memory, by the slope of their second half. */
export function judgeMemory(samples: readonly Sample[], kind: 'heapMb' | 'rssMb'): MemoryVerdict {
  const end = samples.at(-1)?.seconds ?? 0;
  const half = samples.filter(({ seconds }) => seconds >= end / 2);
  const slope = slopeOf(half.map((sample) => ({ seconds: sample.seconds, value: sample[kind] })));
  const facts = { startMb: samples[0]?.[kind] ?? 0, endMb: samples.at(-1)?.[kind] ?? 0, slope };

  if (slope === undefined || end / 2 < MIN_JUDGED_SECONDS) {
    return { ...facts, verdict: 'not judged: the run is too short' };
  }
  return { ...facts, verdict: slope.perHour - slope.uncertainty > ALLOWED_GROWTH[kind] ? 'LEAKS' : 'does not grow' };
}
